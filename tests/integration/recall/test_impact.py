"""Whether the answer used what it was shown, per injection, on real rows."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from argus_memory.db import Database
from argus_memory.settings import Settings
from argus_memory.stages.context import recall_context
from argus_memory.stages.impact import check_impact
from argus_memory.stages.recall_ledger import Injection, record_injection
from argus_memory.watch.slo import measure_slos
from tests.memory_rows import add_note, add_turn, at

ASKED = "Where is the spare key of the shed?"
KEY = "The spare key of the shed hangs in the boiler room."
HOSE = "The blue hose leaks near the tap."


def show(db: Database, notes: list[int], minutes: float, *, session: str = "s9", query: str | None = ASKED) -> int:
    """A row of the ledger, as a prompt's recall writes it."""
    row = Injection(True, at(minutes), session=session, query=query, note_ids=notes, note_scores=[1.0] * len(notes),
                    rrf_scores=[0.03] * len(notes))  # fmt: skip
    with db.transaction() as conn:
        return record_injection(conn, row)


def uses(db: Database) -> list[tuple[int, bool]]:
    return [(row["note_id"], row["used"]) for row in db.fetch_all("select * from injection_uses order by note_id")]


def conversation(db: Database, answer: str = "It hangs in the boiler room.") -> tuple[int, int]:
    """Two notes shown for a prompt, which is answered; the ids of the notes."""
    raw = add_turn(db, f"{KEY} {HOSE}", at(-600))
    notes = add_note(db, KEY, raw_id=raw), add_note(db, HOSE, raw_id=raw)
    show(db, list(notes), 0)
    add_turn(db, ASKED, at(0.01), session="s9")
    add_turn(db, answer, at(1), session="s9", role="assistant")
    return notes


def test_each_note_shown_is_judged_by_the_answer(db: Database) -> None:
    """Once the answer is whole, what it took from a note counts as used, the other note as not, once and for all."""
    key, hose = conversation(db)
    assert check_impact(db, now=at(2)).waiting == 1
    report = check_impact(db, now=at(10))
    assert (report.scored, report.judged, report.used) == (1, 2, 1)
    assert uses(db) == [(key, True), (hose, False)]
    assert check_impact(db, now=at(20)).scored == 0
    passes = db.fetch_all("select outcome, counts from stage_passes where stage = 'impact' order by id")
    assert [row["counts"]["scored"] for row in passes] == [0, 1, 0]


def test_the_answer_ends_where_the_person_speaks_again(db: Database) -> None:
    """A following prompt makes the answer whole at once, and what is said after it does not count."""
    key, _ = conversation(db, "Let me think about it.")
    add_turn(db, "And the hose?", at(1.5), session="s9")
    add_turn(db, "The key hangs in the boiler room, by the way.", at(2), session="s9", role="assistant")
    check_impact(db, now=at(2.5))
    assert (key, False) in uses(db)


def test_what_was_said_just_before_the_prompt_is_no_answer(db: Database) -> None:
    """An answer that ended seconds before the person typed on counts for the prompt before it, not for this one."""
    raw = add_turn(db, KEY, at(-600))
    note = add_note(db, KEY, raw_id=raw)
    add_turn(db, "It hangs in the boiler room.", at(-0.1), session="s9", role="assistant")
    show(db, [note], 0)
    add_turn(db, ASKED, at(0.01), session="s9")
    add_turn(db, "I do not know.", at(1), session="s9", role="assistant")
    check_impact(db, now=at(10))
    assert uses(db) == [(note, False)]


def test_a_clock_that_is_behind_loses_no_answer(db: Database) -> None:
    """Where the agent's clock lies some seconds behind, the answer that follows the prompt is still found."""
    raw = add_turn(db, KEY, at(-600))
    note = add_note(db, KEY, raw_id=raw)
    show(db, [note], 0)
    add_turn(db, ASKED, at(-0.12), session="s9")
    add_turn(db, "It hangs in the boiler room.", at(-0.05), session="s9", role="assistant")
    check_impact(db, now=at(10))
    assert uses(db) == [(note, True)]


def test_a_session_that_never_answers_is_written_down(db: Database) -> None:
    """After two days without an answer the injection is settled as that; no use is made up."""
    raw = add_turn(db, KEY, at(-600))
    show(db, [add_note(db, KEY, raw_id=raw)], 0)
    assert check_impact(db, now=at(60)).waiting == 1
    report = check_impact(db, now=at(0) + timedelta(days=3))
    assert (report.no_answer, uses(db)) == (1, [])
    assert db.fetch_one("select outcome from injection_checks") == {"outcome": "no-answer"}


def test_recall_and_use_leave_the_note_as_sure_as_it_was(db: Database, settings: Settings) -> None:
    """Shown again and again, and used, a note gains no confidence; no event is written but that it was shown."""

    def sureness(note: int) -> object:
        return db.fetch_one(
            "select confidence, importance, said_at, valid_from, valid_to, confirmed_at from distilled_notes"
            " where id = %(id)s",
            {"id": note},
        )

    raw = add_turn(db, KEY, at(-600))
    key = add_note(db, KEY, raw_id=raw)
    before = sureness(key)
    for number in range(5):
        given = recall_context(db, settings, now=at(number), project="garden", session=f"c{number}")
        assert [note.id for note in given.notes] == [key]
        add_turn(db, ASKED, at(number + 0.2), session=f"c{number}")
        add_turn(db, "It hangs in the boiler room.", at(number + 0.4), session=f"c{number}", role="assistant")
    assert check_impact(db, now=at(30)).used == 5
    assert sureness(key) == before
    events = {row["event"] for row in db.fetch_all("select event from note_events where note_id = %(id)s", {"id": key})}
    assert events == {"created", "shown"}


def test_the_service_level_is_the_share_used(db: Database, settings: Settings) -> None:
    """Of ten answers that used one of two notes, `injected-used` is one half; without any it is unknown."""

    def level() -> Any:
        found = measure_slos(db, settings, now=at(120), by="test")
        return next(each for each in found if each.slo.name == "injected-used")

    assert level().status == "unknown"
    raw = add_turn(db, f"{KEY} {HOSE}", at(-600))
    notes = [add_note(db, KEY, raw_id=raw), add_note(db, HOSE, raw_id=raw)]
    for number in range(10):
        show(db, notes, number, session=f"t{number}")
        add_turn(db, "It hangs in the boiler room.", at(number + 0.5), session=f"t{number}", role="assistant")
    check_impact(db, now=at(60))
    assert (level().measured.value, level().status) == (0.5, "ok")
