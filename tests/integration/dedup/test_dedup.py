"""Close notes are merged, held or kept apart, in a real database."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import Any

import pytest

from argus_memory.db import Database
from argus_memory.errors import BudgetExceeded, ContentFailure, InfraFailure, ModelFailure
from argus_memory.models.llm_judge import Judged
from argus_memory.records import Verdict
from argus_memory.rules.dedup_judgement import Judgement, NoteView
from argus_memory.settings import Settings
from argus_memory.stages.dedup import DedupReport, dedup_pending
from tests.memory_rows import add_note, add_space, add_vector, at
from tests.stubs.llm_server import LlmServer

NOW = at(60 * 24 * 30)
NEAR = {"dedup_floor": 0.8, "dedup_same": 0.95}


def saying(verdict: Verdict, model: str = "test-judge") -> Callable[[NoteView, Sequence[NoteView]], Judged]:
    """A judge that gives this verdict on the nearest neighbour."""
    return lambda _note, _near: Judged({0: Judgement(verdict, "because")}, model)


def failing(failure: ModelFailure) -> Callable[[NoteView, Sequence[NoteView]], Judged]:
    def judge(_note: NoteView, _near: Sequence[NoteView]) -> Judged:
        raise failure

    return judge


def near_notes(db: Database, *contents: str, **more: Any) -> list[int]:
    """Notes a minute apart with vectors that are nearly one, in a space of their own."""
    space = add_space(db, **NEAR)
    ids = []
    for number, content in enumerate(contents):
        ids.append(add_note(db, content, said_at=at(number), **more))
        add_vector(db, space, "note", ids[-1], [1, 0.01 * number])
    return ids


def live(db: Database) -> list[int]:
    rows = db.fetch_all("select id from distilled_notes where deleted_at is null order by id")
    return [row["id"] for row in rows]


def verdicts(db: Database) -> list[tuple[Any, ...]]:
    rows = db.fetch_all("select note_id, other_id, verdict, model, status from dedup_log order by id")
    return [tuple(row.values()) for row in rows]


def row(db: Database, note_id: int) -> dict[str, Any]:
    found = db.fetch_one("select * from distilled_notes where id = %(id)s", {"id": note_id})
    assert found
    return found


# --- without a judge -----------------------------------------------------------------------------------------


def test_an_exact_repeat_is_merged_without_vectors(db: Database, settings: Settings) -> None:
    """Two live notes of one uid: the later goes, the earlier is corroborated, the log says the rules decided."""
    first = add_note(db, "The tank holds 200 l.", uid="same")
    second = add_note(db, "The tank holds 200 l.", uid="same", said_at=at(5))
    report = dedup_pending(db, settings, now=NOW)
    assert (report.notes, report.exact, report.alone, report.left) == (2, 1, 1, 0)
    assert live(db) == [first]
    assert verdicts(db) == [(second, first, "duplicate", "rules-v1", "applied")]
    assert row(db, first)["confidence"] == pytest.approx(0.6)
    gone = row(db, second)
    assert (gone["deleted_reason"], gone["superseded_by"]) == ("duplicate", first)


@pytest.mark.parametrize("change", [{"role": "assistant"}, {"project": "shed"}, {"category": "decision"}])
def test_an_exact_repeat_must_agree(db: Database, settings: Settings, change: dict[str, Any]) -> None:
    """Another speaker, project or category is another note, whatever its words."""
    notes = [add_note(db, "The same.", uid="same"), add_note(db, "The same.", uid="same", said_at=at(5), **change)]
    dedup_pending(db, settings, now=NOW)
    assert live(db) == notes


def test_a_near_exact_repeat_is_merged_by_the_rules(db: Database, settings: Settings) -> None:
    """Close vectors and the same words, numbers and negations are one note."""
    first, second = near_notes(db, "The tank holds 200 l.", "The tank holds 200l!")
    report = dedup_pending(db, settings, now=NOW)
    assert (report.verdicts, report.exact) == ({"duplicate": 1}, 0)
    assert verdicts(db) == [(second, first, "duplicate", "rules-v1", "applied")]


def test_notes_that_differ_in_a_number_stay_apart(db: Database, settings: Settings) -> None:
    """However close their vectors, 200 and 300 are two facts, and the log says why."""
    notes = near_notes(db, "The tank holds 200 l.", "The tank holds 300 l.")
    dedup_pending(db, settings, now=NOW)
    assert live(db) == notes
    logged = db.fetch_one("select verdict, similarity, same_fact, reasoning from dedup_log")
    assert logged
    assert (logged["verdict"], logged["same_fact"]) == ("distinct", False)
    assert logged["similarity"] == pytest.approx(1, abs=0.01)
    assert "numbers" in logged["reasoning"]


def test_a_note_waits_for_its_vector(db: Database, settings: Settings) -> None:
    """A note without a vector is left, unless it is parked in the queue and can have none."""
    add_space(db, **NEAR)
    add_note(db, "The tank holds 200 l.")
    assert (dedup_pending(db, settings, now=NOW).notes, dedup_pending(db, settings, now=NOW).left) == (0, 1)
    with db.transaction() as conn:
        conn.execute("update embed_queue set attempts = 5")
    assert dedup_pending(db, settings, now=NOW).notes == 1


def test_every_pass_leaves_its_counts(db: Database, settings: Settings) -> None:
    """A pass that found nothing is a row with zeros; a verdict names its pass."""
    dedup_pending(db, settings, now=NOW)
    passed = db.fetch_one("select outcome, counts from stage_passes")
    assert passed == {"outcome": "ok", "counts": asdict(DedupReport())}
    near_notes(db, "One fact.", "Another fact.")
    dedup_pending(db, settings, now=NOW)
    assert db.fetch_one("select p.stage from dedup_log l join stage_passes p on p.id = l.pass_id") == {
        "stage": "dedup"
    }


# --- with a judge ---------------------------------------------------------------------------------------------


def test_refine_keeps_the_newer_and_bumps_it(db: Database, settings: Settings) -> None:
    """The older is tombstoned in favour of the newer, whose confidence grows."""
    first, second = near_notes(db, "The tank is big.", "The tank holds 200 l.")
    dedup_pending(db, settings, now=NOW, judge=saying("refine"))
    assert live(db) == [second]
    assert row(db, second)["confidence"] == pytest.approx(0.6)
    assert row(db, first)["deleted_reason"] == "refined"


def test_supersede_ends_the_older(db: Database, settings: Settings) -> None:
    """The older is tombstoned, valid until the newer began, and points at it."""
    first, second = near_notes(db, "The tank holds 200 l.", "The tank holds 300 l.")
    dedup_pending(db, settings, now=NOW, judge=saying("supersede"))
    gone = row(db, first)
    assert live(db) == [second]
    assert (gone["valid_to"], gone["superseded_by"], gone["deleted_reason"]) == (at(1), second, "superseded")


def test_supersede_of_a_confident_note_is_held(db: Database, settings: Settings) -> None:
    """Against a confidence of 0.70 both stay live and the merge waits."""
    notes = near_notes(db, "The tank holds 200 l.", "The tank holds 300 l.", confidence=0.7)
    report = dedup_pending(db, settings, now=NOW, judge=saying("supersede"))
    assert (report.held, live(db)) == (1, notes)
    assert verdicts(db) == [(notes[1], notes[0], "supersede", "test-judge", "pending")]
    assert dedup_pending(db, settings, now=NOW, judge=saying("supersede")).notes == 0


def test_neighbours_are_near_of_one_speaker_and_in_reach(db: Database, settings: Settings) -> None:
    """Shown are live notes from the floor on, of the same speaker, in its project or global; three at most."""
    space = add_space(db, **NEAR)
    seen: list[list[str]] = []

    def judge(_note: NoteView, near: Sequence[NoteView]) -> Judged:
        seen.append([other.content for other in near])
        return Judged(dict.fromkeys(range(len(near)), Judgement("distinct", "no")), "j")

    for number, (content, vector, more) in enumerate(
        [
            ("far", [0, 1], {}),
            ("of the assistant", [1, 0], {"role": "assistant"}),
            ("of another project", [1, 0], {"project": "shed"}),
            ("global", [1, 0.1], {"project": "global"}),
            ("near", [1, 0.2], {}),
            ("nearer", [1, 0.05], {}),
            ("too many", [1, 0.3], {}),
        ]
    ):
        note = add_note(db, content, said_at=at(number), **more)
        add_vector(db, space, "note", note, vector)
        with db.transaction() as conn:
            conn.execute("update distilled_notes set deduped_at = now()")
    add_vector(db, space, "note", add_note(db, "new", said_at=at(30)), [1, 0])
    dedup_pending(db, settings, now=NOW, judge=judge)
    assert seen == [["nearer", "global", "near"]]


def test_a_judge_that_is_away_leaves_notes_for_later(db: Database, settings: Settings) -> None:
    """An infrastructure failure changes nothing, is counted, and ends the pass when it repeats."""
    near_notes(db, "One.", "Two.", "Three.", "Four.")
    report = dedup_pending(db, settings, now=NOW, judge=failing(InfraFailure("refused")))
    assert (report.judge_failures, report.notes, report.left, report.stopped) == (2, 1, 3, "refused")
    assert verdicts(db) == []
    assert db.fetch_one("select outcome from stage_passes") == {"outcome": "failed"}
    assert dedup_pending(db, settings, now=NOW, judge=saying("distinct")).left == 0


def test_a_budget_used_up_ends_the_pass(db: Database, settings: Settings) -> None:
    """A configuration failure is asked about once, and said."""
    near_notes(db, "One.", "Two.", "Three.")
    report = dedup_pending(db, settings, now=NOW, judge=failing(BudgetExceeded("600 of 600")))
    assert (report.judge_failures, report.stopped) == (1, "600 of 600")


def test_a_judge_that_answers_prose_lets_the_rules_decide(db: Database, settings: Settings) -> None:
    """A content failure is counted, the rules decide, and the log says both."""
    first, _ = near_notes(db, "The tank holds 200 l.", "The tank holds 200l.")
    report = dedup_pending(db, settings, now=NOW, judge=failing(ContentFailure("prose")))
    assert (report.by_rules, live(db)) == (1, [first])
    logged = db.fetch_one("select model, reasoning from dedup_log")
    assert logged
    assert logged["model"] == "rules-v1"
    assert "prose" in logged["reasoning"]


def test_the_model_of_the_settings_is_asked(db: Database, settings: Settings) -> None:
    """ARGUS_JUDGE_MODEL is asked over HTTP, its name and the call are on record."""
    first, second = near_notes(db, "The tank holds 200 l.", "The tank holds 300 l.")
    with LlmServer() as server:
        server.rule = lambda request: {
            "verdict": "supersede" if "300 l" in request.user else "distinct",
            "existing": 1,
            "reason": "a new tank",
        }
        chosen = replace(settings, llm_base_url=server.base_url, judge_model=("openai/small",))
        dedup_pending(db, chosen, now=NOW)
        assert server.count("chat") == 1
    assert live(db) == [second]
    call = db.fetch_one("select stage, unit_kind, unit_id, outcome from llm_calls")
    assert call == {"stage": "judge", "unit_kind": "note", "unit_id": second, "outcome": "ok"}
    logged = db.fetch_one("select other_id, reasoning from dedup_log")
    assert logged == {"other_id": first, "reasoning": "a new tank"}


def test_one_pass_at_a_time(db: Database, settings: Settings) -> None:
    """While another pass holds the claim this one says it is busy and changes nothing."""
    near_notes(db, "One.", "Two.")
    with db.transaction() as conn:
        conn.execute("select pg_advisory_xact_lock(hashtext('argus dedup'))")
        assert dedup_pending(db, settings, now=NOW) == DedupReport(busy=True)


def test_a_note_edited_while_the_judge_thought_is_looked_at_again(db: Database, settings: Settings) -> None:
    """A verdict on words that are no longer there is thrown away."""
    first, second = near_notes(db, "The tank is big.", "The tank holds 200 l.")

    def judge(note: NoteView, _near: Sequence[NoteView]) -> Judged:
        with db.transaction() as conn:
            conn.execute("update distilled_notes set content = 'corrected' where id = %s", (note.id,))
        return Judged({0: Judgement("duplicate", "because")}, "j")

    assert dedup_pending(db, settings, now=NOW, judge=judge).changed == 1
    assert live(db) == [first, second]
    assert row(db, second)["deduped_at"] is None


# --- nothing is lost --------------------------------------------------------------------------------------------


def test_a_note_comes_back_when_its_stand_in_is_not_made_again(db: Database, settings: Settings) -> None:
    """Distilling the kept note's source anew without it revives what was merged into it, and the log says so."""
    first, second = near_notes(db, "The tank holds 200 l.", "The tank holds 200l!")
    dedup_pending(db, settings, now=NOW)
    with db.transaction() as conn:
        conn.execute(
            "update distilled_notes set deleted_at = %s, deleted_reason = 'redistilled' where id = %s", (NOW, first)
        )
    report = dedup_pending(db, settings, now=NOW)
    assert (report.revived, live(db)) == (1, [second])
    assert db.fetch_one("select status, decided_by from dedup_log") == {
        "status": "undone",
        "decided_by": "redistilled",
    }


def test_a_forgotten_stand_in_revives_nothing(db: Database, settings: Settings) -> None:
    """What a person forgot does not come back through a repeat of it."""
    first, _ = near_notes(db, "The tank holds 200 l.", "The tank holds 200l!")
    dedup_pending(db, settings, now=NOW)
    with db.transaction() as conn:
        conn.execute(
            "update distilled_notes set deleted_at = %s, deleted_reason = 'forgotten' where id = %s", (NOW, first)
        )
    assert (dedup_pending(db, settings, now=NOW).revived, live(db)) == (0, [])


@pytest.mark.parametrize("seed", range(6))
def test_a_chain_of_repeats_ends_with_exactly_one_live_note(db: Database, settings: Settings, seed: int) -> None:
    """However often a fact is said, in whatever order and batches it comes: one live note of it, never none.

    Every tombstone leads over its stand-ins to that note.
    """
    rng = random.Random(seed)
    space = add_space(db, **NEAR)
    facts = {"The tank holds 200 l.": [1.0, 0.0], "The tank holds 300 l.": [1.0, 0.02], "Kim mows.": [0.0, 1.0]}
    by_fact: dict[str, list[int]] = {fact: [] for fact in facts}
    waiting = [fact for fact in facts for _ in range(rng.randint(1, 7))]
    rng.shuffle(waiting)
    while waiting:
        size = rng.randint(1, 5)
        batch, waiting = waiting[:size], waiting[size:]
        for fact in batch:
            text = rng.choice([fact, fact.lower(), fact.replace(" l.", "l!"), "So, " + fact])
            note = add_note(db, text, said_at=at(rng.randint(0, 500)), uid=rng.choice([f"uid {fact}", None]))
            add_vector(db, space, "note", note, [x + rng.uniform(0, 0.01) for x in facts[fact]])
            by_fact[fact].append(note)
        for _ in range(rng.randint(1, 2)):
            dedup_pending(db, settings, now=NOW, limit=rng.randint(1, 10))
    while dedup_pending(db, settings, now=NOW).notes:
        pass
    standing = set(live(db))
    for notes in by_fact.values():
        assert len(standing & set(notes)) == 1
        for note in notes:
            while note not in standing:
                note = row(db, note)["superseded_by"]
                assert note in notes
