"""What was decided holds when the same thing is distilled again, said again or imported again."""

from __future__ import annotations

from argus_memory.db import Database
from argus_memory.settings import Settings
from argus_memory.stages.distill import distill_pending
from argus_memory.upkeep.decisions import exclude, forget, pin, restore
from tests.distill_rows import add_episode, requeue
from tests.memory_rows import at

NOW = at(1000)
FACT = "The router password is taped to the fridge."
OTHER = "The spare key is under the flower pot."


def distill(db: Database, settings: Settings) -> None:
    distill_pending(db, settings, now=NOW)


def made_of(db: Database, *said: str, settings: Settings, start: float = 0) -> tuple[int, list[int]]:
    """An episode of these prompts, distilled: (its id, raw ids)."""
    turns = [turn for text in said for turn in (("user", f"Remember: {text}"), ("assistant", "Noted."))]
    made = add_episode(db, turns, start=start)
    distill(db, settings)
    return made


def live(db: Database) -> dict[str, int]:
    rows = db.fetch_all("select id, content from distilled_notes where deleted_at is null and excluded_at is null")
    return {row["content"].removeprefix("User: Remember: "): row["id"] for row in rows}


def withheld(db: Database) -> set[int]:
    return {row["raw_id"] for row in db.fetch_all("select distinct raw_id from withheld_turns")}


def the(notes: dict[str, int], word: str) -> int:
    (found,) = [id_ for content, id_ in notes.items() if word in content]
    return found


def test_a_forgotten_fact_is_not_learned_again(db: Database, settings: Settings) -> None:
    """Redistilled, said again and reworded: no note, each refusal on record, each turn withheld; others unhurt."""
    episode, raw = made_of(db, FACT, OTHER, settings=settings)
    forget(db, the(live(db), "router"), "kim", now=NOW)
    assert withheld(db) == {raw[0]}
    requeue(db, "episode", episode)
    distill(db, settings)
    assert list(live(db)) == [OTHER]
    _, again = made_of(db, FACT, settings=settings, start=100)
    _, reworded = made_of(db, "The password of the router is taped to the fridge.", settings=settings, start=200)
    assert list(live(db)) == [OTHER]
    assert withheld(db) == {raw[0], again[0], reworded[0]}
    refused = db.fetch_all("select reason, detail from gate_rejections order by id desc")
    assert refused[0]["reason"] == "decided"
    assert "forgotten" in refused[0]["detail"]


def test_a_restored_fact_may_come_back(db: Database, settings: Settings) -> None:
    """After a restore the fact is learned as any other, and nothing is withheld."""
    made_of(db, FACT, settings=settings)
    note = the(live(db), "router")
    forget(db, note, "kim", now=NOW)
    made_of(db, FACT, settings=settings, start=100)
    restore(db, note, "kim", now=NOW)
    assert withheld(db) == set()
    made_of(db, FACT, settings=settings, start=200)
    rows = db.fetch_all("select id from distilled_notes where deleted_at is null")
    assert len(rows) == 2


def test_another_fact_is_learned_after_a_forget(db: Database, settings: Settings) -> None:
    """A fact that differs in a word or a number from a forgotten one becomes a note."""
    made_of(db, "The router password is heron-300.", settings=settings)
    forget(db, the(live(db), "300"), "kim", now=NOW)
    made_of(db, "The router password is heron-350.", settings=settings, start=100)
    assert list(live(db)) == ["The router password is heron-350."]


def test_an_excluded_fact_is_made_but_not_recalled(db: Database, settings: Settings) -> None:
    """Said again, it is excluded from the start, and its turn withheld."""
    _, raw = made_of(db, FACT, settings=settings)
    exclude(db, the(live(db), "router"), "kim", now=NOW)
    _, again = made_of(db, FACT, settings=settings, start=100)
    assert live(db) == {}
    assert withheld(db) == {raw[0], again[0]}


def test_what_a_person_vouched_for_is_not_redistilled_away(db: Database, settings: Settings) -> None:
    """A pinned note stays when its source no longer gives it."""
    episode, _ = made_of(db, FACT, settings=settings)
    note = the(live(db), "router")
    with db.transaction() as conn:  # a fact that this distiller does not make
        conn.execute("update distilled_notes set uid = 'another', content = 'Something the model once saw.'")
    pin(db, note, "kim", now=NOW)
    requeue(db, "episode", episode)
    distill(db, settings)
    assert note in live(db).values()
