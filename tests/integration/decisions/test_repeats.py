"""A forgotten fact goes with all that says it, whole arrivals go as one, and no merge or undo brings it back."""

from __future__ import annotations

import pytest

from argus_memory.db import Database
from argus_memory.errors import Conflict, NotFound, UsageError
from argus_memory.settings import Settings
from argus_memory.stages.dedup import dedup_pending
from argus_memory.stages.distill import distill_pending
from argus_memory.upkeep.arrivals import Arrival, count_arrival, forget_arrival, list_arrivals, restore_arrival
from argus_memory.upkeep.decisions import forget
from argus_memory.upkeep.review import undo
from tests.distill_rows import add_episode
from tests.integration.decisions.test_decide import NOW, note
from tests.memory_rows import add_note, add_turn, at


def withheld(db: Database) -> set[int]:
    return {row["raw_id"] for row in db.fetch_all("select distinct raw_id from withheld_turns")}


def test_live_notes_that_say_the_same_go_too(db: Database) -> None:
    """The same text under another category and a reworded one of the project go, each on record; others stay."""
    one = add_note(db, "The router password is on the fridge.")
    same = add_note(db, "The router password is on the fridge.", category="context", project="harbour")
    reworded = add_note(db, "The password of the router hangs on the fridge.", role="assistant")
    other = add_note(db, "The router manual is on the fridge.")
    receipt = forget(db, one, "kim", now=NOW)
    assert "2 other notes" in (receipt.detail or "")
    assert [note(db, id_)["deleted_reason"] for id_ in (one, same, reworded, other)] == ["forgotten"] * 3 + [None]
    assert db.fetch_one("select count(*)::int as n from note_decisions") == {"n": 3}


def test_turns_that_say_it_are_withheld(db: Database) -> None:
    """A turn that says the fact in one of its sentences is withheld, though no note was made of it."""
    turn = add_turn(db, "Good morning. The password of the router hangs on the fridge.", at(5), session="chat")
    other = add_turn(db, "The router manual is on the fridge.", at(6), session="chat")
    forget(db, add_note(db, "The router password is on the fridge."), "kim", now=NOW)
    assert turn in withheld(db)
    assert other not in withheld(db)


def test_dedup_takes_a_repeat_away(db: Database, settings: Settings) -> None:
    """A note that came by another path and says again what was forgotten is forgotten when dedup looks at it."""
    forget(db, add_note(db, "The router password is on the fridge."), "kim", now=NOW)
    again = add_note(db, "The password of the router hangs on the fridge.")
    report = dedup_pending(db, settings, now=NOW)
    assert (report.decided, report.notes) == (1, 0)
    assert note(db, again)["deleted_reason"] == "forgotten"
    assert note(db, again)["raw_id"] in withheld(db)


def test_an_undone_merge_does_not_bring_it_back(db: Database, settings: Settings) -> None:
    """A duplicate that was merged into a forgotten note stays away; the sentence names the decision."""
    uid = "shared"
    kept = add_note(db, "The router password is on the fridge.", uid=uid)
    add_note(db, "The router password is on the fridge.", uid=uid, said_at=at(5))
    dedup_pending(db, settings, now=NOW)
    logged = db.fetch_one("select id from dedup_log where verdict = 'duplicate'")
    assert logged
    forget(db, kept, "kim", now=NOW)
    with pytest.raises(Conflict, match="the same fact was forgotten"):
        undo(db, logged["id"], "kim", now=NOW)


def test_an_arrival_goes_and_comes_back_whole(db: Database, settings: Settings) -> None:
    """Counted first; its notes forgotten one by one, its turns withheld; restored as one; nothing else is touched."""
    mine = [add_note(db, f"Fact {n} of the import.", raw_id=add_turn(db, f"turn {n}", at(n), session="bad")) for n in (1, 2)]
    silent = add_turn(db, "nothing was made of this", at(3), session="bad")
    other = add_note(db, "Something else altogether.")
    wanted = Arrival(session="bad")
    counted = count_arrival(db, wanted)
    assert (counted.raw_items, counted.notes) == (3, 2)
    done = forget_arrival(db, wanted, "kim", now=NOW)
    assert (done.raw_items, done.notes) == (3, 2)
    assert [note(db, id_)["deleted_reason"] for id_ in (*mine, other)] == ["forgotten", "forgotten", None]
    assert silent in withheld(db)
    with pytest.raises(NotFound, match="forgotten before"):
        forget_arrival(db, wanted, "kim", now=NOW)
    assert done.id
    back = restore_arrival(db, done.id, "robin", now=NOW)
    assert (back.raw_items, back.notes, back.left) == (3, 2, 0)
    assert [note(db, id_)["deleted_at"] for id_ in (*mine, other)] == [None] * 3
    assert withheld(db) == set()
    assert list_arrivals(db)[0]["restored_by"] == "robin"
    with pytest.raises(Conflict, match="restored before by robin"):
        restore_arrival(db, done.id, "kim", now=NOW)


def test_a_forgotten_arrival_gives_no_notes_later(db: Database, settings: Settings) -> None:
    """What was forgotten before it was distilled is not distilled into notes."""
    add_episode(db, [("user", "Remember: the door code is heron-300."), ("assistant", "Noted.")], session="bad")
    forget_arrival(db, Arrival(session="bad"), "kim", now=NOW)
    distill_pending(db, settings, now=NOW)
    assert db.fetch_all("select id from distilled_notes") == []


def test_an_arrival_must_be_named(db: Database) -> None:
    """Without a filter nothing is forgotten."""
    with pytest.raises(UsageError, match="--source"):
        forget_arrival(db, Arrival(), "kim", now=NOW)
