"""To-dos in notes, and the turns, notes and runs that settle them, on a real database."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Any

import pytest

from argus_memory.db import Database
from argus_memory.errors import Conflict, InfraFailure, NotFound
from argus_memory.rules.task_items import ToDo
from argus_memory.settings import Settings
from argus_memory.stages.task_items import notice_task_items
from argus_memory.upkeep.task_items import decide_task_item, get_task_item, list_task_items
from tests.distill_rows import add_item
from tests.memory_rows import START, add_note, add_turn, at

NOW = at(600)
TEXT = "User: I must renew the certificate of the mail server by Friday."


def notice(db: Database, settings: Settings, *, now: datetime = NOW, **more: Any) -> Any:
    return notice_task_items(db, settings, now=now, **more)


def events(db: Database) -> list[tuple[str, str]]:
    return [(row["to_status"], row["evidence"]) for row in db.fetch_all("select * from task_events order by id")]


def test_a_note_that_leaves_something_to_do_becomes_an_item(db: Database, settings: Settings) -> None:
    """The item names its note, its words, its day; the pass and its counts are on record."""
    note = add_note(db, TEXT)
    report = notice(db, settings)
    (item,) = list_task_items(db).items
    assert (item["text"], item["status"], item["note_id"]) == (
        "renew the certificate of the mail server by Friday", "open", note,
    )  # fmt: skip
    assert item["due_on"] == date(2026, 3, 6)
    assert (report.noticed, report.texts) == (1, 1)
    row = db.fetch_one("select counts from stage_passes where stage = 'task_items'")
    assert row
    assert row["counts"]["noticed"] == 1


def test_reading_again_adds_nothing(db: Database, settings: Settings) -> None:
    """A second pass finds no new text, and a repeat of the to-do in another note is the same item."""
    add_note(db, TEXT)
    notice(db, settings)
    assert notice(db, settings).texts == 0
    add_note(db, "The certificate of the mail server must be renewed.", said_at=at(30))
    assert notice(db, settings).repeated == 1
    assert list_task_items(db).total == 1


def test_a_synthesis_is_read_as_notes_are(db: Database, settings: Settings) -> None:
    """Action items of a report become items with the report as their source."""
    raw = add_item(db, "Report\n\n- [ ] compare the two heat pumps\n- [x] read the offers", kind="synthesis")
    notice(db, settings)
    (item,) = list_task_items(db).items
    assert (item["text"], item["raw_id"]) == ("compare the two heat pumps", raw)


def test_a_turn_claims_and_another_session_verifies(db: Database, settings: Settings) -> None:
    """The first voice moves it to claimed-done, the same session no further, another one to verified."""
    add_note(db, TEXT)
    notice(db, settings)
    add_turn(db, "I renewed the certificate of the mail server.", at(60), session="a")
    add_turn(db, "Good, the mail server certificate is renewed.", at(61), session="a", role="assistant")
    notice(db, settings)
    assert [item["status"] for item in list_task_items(db).items] == ["claimed-done"]
    add_turn(db, "The mail server's certificate was renewed last week, checked.", at(200), session="b")
    notice(db, settings)
    assert events(db) == [("open", "note"), ("claimed-done", "turn"), ("verified", "turn")]


def test_signs_that_were_read_before_the_item_was_made_are_found(db: Database, settings: Settings) -> None:
    """Notes come later than turns: a new item is held against what was said since."""
    add_turn(db, "I renewed the certificate of the mail server.", at(60), session="a")
    notice(db, settings)
    add_note(db, TEXT)
    notice(db, settings)
    assert [item["status"] for item in list_task_items(db).items] == ["claimed-done"]


def test_what_was_said_before_or_elsewhere_settles_nothing(db: Database, settings: Settings) -> None:
    """Only later words of the same project count."""
    add_note(db, TEXT, said_at=at(100))
    add_turn(db, "I renewed the certificate of the mail server.", at(50), session="a")
    add_turn(db, "I renewed the certificate of the mail server.", at(150), session="b", project="kitchen")
    notice(db, settings)
    notice(db, settings)
    assert [item["status"] for item in list_task_items(db).items] == ["open"]


def test_a_run_that_went_well_verifies_and_a_failed_one_does_not(db: Database, settings: Settings) -> None:
    """A machine's record is proof by itself, both steps written; a failed run is none."""
    add_note(db, TEXT)
    add_run(db, "failed", "certificate of the mail server renewed")
    notice(db, settings)
    assert [item["status"] for item in list_task_items(db).items] == ["open"]
    add_run(db, "ok", "certificate of the mail server renewed")
    notice(db, settings)
    assert events(db) == [("open", "note"), ("claimed-done", "run"), ("verified", "run")]


def test_an_open_run_is_waited_for(db: Database, settings: Settings) -> None:
    """A run that ends after a later one was read is still read."""
    add_note(db, TEXT)
    first = add_run(db, None, "certificate of the mail server renewed")
    add_run(db, "ok", "nothing of interest")
    notice(db, settings)
    with db.transaction() as conn:
        conn.execute("update task_runs set finished_at = %s, outcome = 'ok' where id = %s", (at(90), first))
    notice(db, settings)
    assert list_task_items(db).counts == {"verified": 1}


def test_not_yet_takes_a_claim_back(db: Database, settings: Settings) -> None:
    """A later "has not been renewed" reopens what was claimed."""
    add_note(db, TEXT)
    add_turn(db, "I renewed the certificate of the mail server.", at(60), session="a")
    add_turn(db, "The mail server certificate has not been renewed!", at(90), session="b")
    report = notice(db, settings)
    assert (report.claimed, report.reopened) == (1, 1)
    assert [item["status"] for item in list_task_items(db).items] == ["open"]


def test_silence_makes_it_stale_and_a_sign_brings_it_back(db: Database, settings: Settings) -> None:
    """Two months without a word: stale, by time; a later claim is heard."""
    add_note(db, "User: I must label the fuse box.")
    notice(db, settings)
    later = START + timedelta(days=70)
    assert notice(db, settings, now=later).stale == 1
    add_turn(db, "I labelled the fuse box, all labeled now.", later, session="c")
    assert notice(db, settings, now=later + timedelta(hours=1)).claimed == 1


def test_a_model_finds_what_cues_do_not_and_is_held_to_the_text(db: Database, settings: Settings) -> None:
    """What the model quotes must stand in the note; what does not is refused and counted."""
    add_note(db, "User: The boiler inspection runs out in spring.")

    def find(texts: Sequence[tuple[str, datetime]]) -> tuple[list[list[ToDo]], str]:
        return [[ToDo("book the boiler inspection", "The boiler inspection runs out in spring."),
                 ToDo("buy a boat", "I would love a boat")] for _ in texts], "stand-in"  # fmt: skip

    report = notice(db, settings, find=find)
    assert (report.noticed, report.refused) == (1, 1)
    row = db.fetch_one("select i.model, e.method from task_items i join task_events e on e.item_id = i.id")
    assert row == {"model": "stand-in", "method": "model"}


def test_a_model_that_is_away_leaves_the_notes_for_the_next_pass(db: Database, settings: Settings) -> None:
    """The pass says why it stopped, the signs are still read, and nothing is passed over."""
    add_note(db, "User: We need to book the boiler inspection.")

    def away(texts: Sequence[tuple[str, datetime]]) -> tuple[list[list[ToDo]], str]:
        raise InfraFailure("the model server does not answer")

    assert "does not answer" in (notice(db, settings, find=away).stopped or "")
    assert notice(db, settings).noticed == 1


def test_a_persons_word_stands(db: Database, settings: Settings) -> None:
    """Dropped by a person, no later sign moves it; the decision is an event; deciding twice is a conflict."""
    add_note(db, TEXT)
    notice(db, settings)
    (item,) = list_task_items(db).items
    assert decide_task_item(db, item["id"], "dropped", actor="kim", now=NOW) == "open"
    add_turn(db, "I renewed the certificate of the mail server.", at(700), session="a")
    notice(db, settings, now=at(800))
    shown = get_task_item(db, item["id"])
    assert shown["status"] == "dropped"
    assert [event["method"] for event in shown["events"]] == ["cue", "person"]
    with pytest.raises(Conflict):
        decide_task_item(db, item["id"], "dropped", actor="kim", now=NOW)
    with pytest.raises(NotFound):
        decide_task_item(db, item["id"] + 1, "dropped", actor="kim", now=NOW)


def test_what_a_person_puts_off_in_a_turn_is_noticed_without_a_note(db: Database, settings: Settings) -> None:
    """"I must … by Friday" is an item though no note was made of it; the work of the moment is none."""
    raw = add_turn(db, "We need to fix the failing test. And I must call the tax office by Friday!", at(0))
    add_turn(db, "You need to restart the garden hub.", at(1), role="assistant")
    notice(db, settings)
    (item,) = list_task_items(db).items
    assert (item["text"], item["raw_id"], item["note_id"]) == ("call the tax office by Friday", raw, None)
    assert events(db) == [("open", "turn")]


def test_a_turn_and_its_note_name_one_to_do(db: Database, settings: Settings) -> None:
    """The note of a turn that was noticed before is a repeat."""
    raw = add_turn(db, "I must call the tax office by Friday.", at(0))
    notice(db, settings)
    add_note(db, "User: I must call the tax office by Friday.", raw_id=raw)
    assert notice(db, settings).repeated == 1


def test_canaries_leave_no_to_dos(db: Database, settings: Settings) -> None:
    """A probe's text is never taken for a person's."""
    add_note(db, TEXT, project="argus-canary")
    assert notice(db, settings).texts == 0


def add_run(db: Database, outcome: str | None, stdout: str) -> int:
    row = db.fetch_one(
        "insert into task_runs (rid, task, started_by, started_at, beat_at, finished_at, outcome, stdout_tail)"
        " values (gen_random_uuid(), 'renew-certificates', 'schedule', %(at)s, %(at)s, %(end)s, %(outcome)s, %(out)s)"
        " returning id",
        {"at": at(80), "end": at(81) if outcome else None, "outcome": outcome, "out": stdout},
    )
    assert row
    return int(row["id"])


