"""Every kind of change of a note leaves exactly its event, with who did it and when; no path can forget it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import psycopg
import pytest

from argus_memory.db import Database
from argus_memory.settings import Settings
from argus_memory.stages.acting import as_actor
from argus_memory.stages.recall_ledger import Injection, record_injection
from argus_memory.upkeep import review
from tests.memory_rows import add_note, at

THEN = at(500)


def change(db: Database, note: int, setting: str, **params: Any) -> None:
    """Change a note as kim, at THEN; a column is set by SQL text."""
    with db.transaction() as conn:
        as_actor(conn, "kim", now=THEN)
        conn.execute(f"update distilled_notes set {setting} where id = %(id)s", {"id": note, **params})


def read_events(db: Database, note: int) -> list[tuple[str, int | None, dict[str, Any]]]:
    """A note's events in order, the creation left out; each of them by kim at THEN."""
    rows = db.fetch_all(
        "select event, other_id, detail, actor, at from note_events where note_id = %(id)s and event <> 'created' order by id",
        {"id": note},
    )
    assert all((row["actor"], row["at"]) == ("kim", THEN) for row in rows)
    return [(row["event"], row["other_id"], row["detail"]) for row in rows]


def add_held(db: Database, new: int, old: int, status: str = "pending") -> int:
    with db.transaction() as conn:
        as_actor(conn, "kim", now=THEN)
        row = conn.execute(
            "insert into dedup_log (note_id, other_id, verdict, model, status, reasoning, at)"
            " values (%s, %s, 'supersede', 'rules', %s, 'later', %s) returning id",
            (new, old, status, at(400)),
        ).fetchone()
    assert row
    return int(row["id"])


def test_a_note_begins_with_its_creation(db: Database) -> None:
    """Created when the row says so, by the machine where nobody is named, in its project."""
    note = add_note(db, "The seal is 12 mm.", confidence=0.5)
    with db.transaction() as conn:
        row = conn.execute("select created_at, uid from distilled_notes where id = %s", (note,)).fetchone()
        found = conn.execute("select * from note_events where note_id = %s", (note,)).fetchall()
    assert row
    assert [(e["event"], e["at"], e["actor"], e["uid"], e["project"]) for e in found] == [
        ("created", row["created_at"], "argus", row["uid"], "garden")
    ]
    assert found[0]["detail"] == {"model": "test", "confidence": 0.5}


CHANGES: list[tuple[str, list[tuple[str, dict[str, Any]]]]] = [
    ("confidence = 0.75", [("reinforced", {"before": 0.5, "after": 0.75})]),
    ("confidence = 0.25", [("weakened", {"before": 0.5, "after": 0.25})]),
    ("content = 'The seal is 14 mm.'", [("reworded", {"before": "The seal is 12 mm."})]),
    ("title = 'Seal', importance = 1", [("revised", {"fields": ["title", "importance"]})]),
    ("category = 'decision'", [("revised", {"fields": ["category"]})]),
    ("keywords = '{seal}', tags = '{pump}', context = 'x'", [("revised", {"fields": ["keywords", "tags", "context"]})]),
    ("source_ref = 'seal', model = 'other'", [("revised", {"fields": ["source_ref", "model"]})]),
    ("pinned_at = now()", [("pinned", {})]),
    ("excluded_at = now()", [("excluded", {})]),
    ("confirmed_at = now()", [("confirmed", {})]),
    ("exported_at = now()", [("exported", {})]),
    ("redacted_at = now(), content = '[redacted]', title = 'x'", [("redacted", {})]),
    ("project = 'harbour'", [("moved", {"from": "garden", "to": "harbour"})]),
    ("project = null", [("moved", {"from": "garden", "to": None})]),
    ("deleted_at = now(), deleted_reason = 'forgotten'", [("forgotten", {"reason": "forgotten"})]),
    ("deleted_at = now(), deleted_reason = 'rejected'", [("rejected", {"reason": "rejected"})]),
    ("deleted_at = now(), deleted_reason = 'redistilled'", [("redistilled", {"reason": "redistilled"})]),
    ("deleted_at = now(), deleted_reason = 'redacted', redacted_at = now()", [("redacted", {"reason": "redacted"})]),
    ("deleted_at = now()", [("removed", {"reason": ""})]),
]  # fmt: skip


@pytest.mark.parametrize(("setting", "expected"), CHANGES, ids=[change[0][:40] for change in CHANGES])
def test_a_change_leaves_exactly_its_event(
    db: Database, setting: str, expected: list[tuple[str, dict[str, Any]]]
) -> None:
    """One change, one event with actor and time; the same value written again leaves none."""
    note = add_note(db, "The seal is 12 mm.")
    change(db, note, setting)
    assert read_events(db, note) == [(event, None, detail) for event, detail in expected]
    if "now()" not in setting:
        change(db, note, setting)
        assert len(read_events(db, note)) == 1


@pytest.mark.parametrize("back", ["pinned", "excluded"])
def test_taking_a_mark_back_is_an_event(db: Database, back: str) -> None:
    """Unpinned after pinned, included after excluded."""
    note = add_note(db, "The seal is 12 mm.")
    change(db, note, f"{back}_at = now()")
    change(db, note, f"{back}_at = null")
    last = {"pinned": "unpinned", "excluded": "included"}[back]
    assert [event for event, _, _ in read_events(db, note)] == [back, last]


@pytest.mark.parametrize(
    ("reason", "event"),
    [("duplicate", "merged"), ("refined", "refined"), ("superseded", "superseded"), ("corrected", "corrected")],
)
def test_a_note_that_made_room_names_the_other(db: Database, reason: str, event: str) -> None:
    """The note that stays, the reason, and the validity before; restored, it says what it came back from."""
    old, new = add_note(db, "The seal is 12 mm."), add_note(db, "The seal is 14 mm.")
    gone = "deleted_at = now(), deleted_reason = %(reason)s, superseded_by = %(new)s, valid_to = %(until)s"
    change(db, old, gone, reason=reason, new=new, until=at(60))
    change(db, old, "deleted_at = null, deleted_reason = null, superseded_by = null, valid_to = null")
    events = read_events(db, old)
    assert [(name, other) for name, other, _ in events] == [(event, new), ("restored", new)]
    ended = {"before": None, "after": "2026-03-02T10:00:00+00:00"}
    assert events[0][2] == {"reason": reason, "valid_to": ended}
    assert events[1][2] == {"was": reason, "valid_to": {"before": ended["after"], "after": None}}


def test_another_reason_for_a_note_that_is_gone_is_an_event(db: Database) -> None:
    """A superseded note that a person also forgets has both in its history."""
    note = add_note(db, "The seal is 12 mm.")
    change(db, note, "deleted_at = now(), deleted_reason = 'superseded'")
    change(db, note, "deleted_reason = 'forgotten'")
    assert [event for event, _, _ in read_events(db, note)] == ["superseded", "forgotten"]


def test_validity_alone_is_an_event(db: Database) -> None:
    """When a fact held is corrected without any other change: both values stand in it."""
    note = add_note(db, "The shop is closed.")
    change(db, note, "valid_to = %(until)s, valid_from = %(since)s", until=at(60), since=at(-60))
    assert read_events(db, note) == [("dated", None, {
        "valid_from": {"before": "2026-03-02T09:00:00+00:00", "after": "2026-03-02T08:00:00+00:00"},
        "valid_to": {"before": None, "after": "2026-03-02T10:00:00+00:00"},
    })]  # fmt: skip


def test_several_changes_at_once_are_several_events(db: Database) -> None:
    """One statement that rewords, reinforces and pins leaves three."""
    note = add_note(db, "The seal is 12 mm.")
    change(db, note, "content = 'x', confidence = 0.9, pinned_at = now()")
    assert [event for event, _, _ in read_events(db, note)] == ["reinforced", "reworded", "pinned"]


def test_the_machines_own_marks_are_no_history(db: Database) -> None:
    """deduped_at, counts and links change often and say nothing of the fact."""
    note = add_note(db, "The seal is 12 mm.")
    change(db, note, "deduped_at = now(), shown_count = shown_count + 3, last_shown_at = now(), links = '{1}'")
    assert read_events(db, note) == []


def test_a_showing_names_its_recall(db: Database) -> None:
    """Each note of a recall has one event `shown`, also while another transaction holds its row."""
    first, second = add_note(db, "The seal is 12 mm."), add_note(db, "The pump is blue.")
    with db.transaction() as holder:
        holder.execute("select 1 from distilled_notes where id = %s for update", (second,))
        with db.transaction() as conn:
            as_actor(conn, "kim", now=THEN)
            shown = record_injection(conn, Injection(True, THEN, note_ids=[first, second], note_scores=[1, 1]))
    for note in (first, second):
        assert read_events(db, note) == [("shown", None, {"injection": shown})]


def test_a_held_merge_and_what_becomes_of_it(db: Database, settings: Settings) -> None:
    """Held, approved and undone stand in the history of both notes, by whom and when."""
    old, new = add_note(db, "The seal is 12 mm."), add_note(db, "The seal is 14 mm.", said_at=at(60))
    held = add_held(db, new, old)
    review.approve(db, held, "kim", now=THEN)
    review.undo(db, held, "kim", now=THEN)
    for note, other in ((old, new), (new, old)):
        rows = db.fetch_all(
            "select event, actor, at, other_id from note_events where note_id = %(id)s and detail ? 'review' order by id",
            {"id": note},
        )
        assert [(r["event"], r["actor"], r["at"], r["other_id"]) for r in rows] == [
            ("held", "kim", THEN, other), ("approved", "kim", THEN, other), ("undone", "kim", THEN, other),
        ]  # fmt: skip
    own = db.fetch_all(
        "select event, actor, at from note_events where note_id = %(id)s and event in ('superseded', 'restored')"
        " order by id",
        {"id": old},
    )
    assert [(row["event"], row["actor"], row["at"]) for row in own] == [
        ("superseded", "kim", THEN), ("restored", "kim", THEN)
    ]  # fmt: skip


@pytest.mark.parametrize("statement", ["update note_events set actor = 'x'", "delete from note_events"])
def test_history_is_kept(db: Database, statement: str) -> None:
    """No event is changed or taken away."""
    add_note(db, "The seal is 12 mm.")
    with pytest.raises(psycopg.Error, match="history is kept"), db.transaction() as conn:
        conn.execute(statement)


def test_a_change_that_is_rolled_back_leaves_nothing(db: Database) -> None:
    """The event belongs to the transaction of the change."""
    note = add_note(db, "The seal is 12 mm.")
    with db.transaction() as conn:
        conn.execute("update distilled_notes set pinned_at = now() where id = %s", (note,))
        conn.rollback()
    assert read_events(db, note) == []


@pytest.mark.parametrize("reason", ["forgotten", "superseded", "corrected", "redacted"])
def test_the_turn_of_a_note_that_went_is_withheld_until_it_is_back(db: Database, reason: str) -> None:
    """Tombstoned by a decision or overruled, a note takes its turn along; restored, it gives it back."""
    note = add_note(db, "The seal is 12 mm.")
    change(db, note, "deleted_at = now(), deleted_reason = %(reason)s", reason=reason)
    assert [(row["note_id"], row["reason"], row["at"]) for row in db.fetch_all("select * from withheld_turns")] == [
        (note, reason, THEN)
    ]
    change(db, note, "deleted_at = null, deleted_reason = null")
    assert db.fetch_all("select * from withheld_turns") == []


def test_a_day_off_by_clock_does_not_disturb_the_order(db: Database) -> None:
    """A clock that went backwards: events stand in the order they happened, each with the time it was told."""
    note = add_note(db, "The seal is 12 mm.")
    for moment, confidence in ((THEN, 0.6), (THEN - timedelta(days=2), 0.7)):
        with db.transaction() as conn:
            as_actor(conn, "kim", now=moment)
            conn.execute("update distilled_notes set confidence = %s where id = %s", (confidence, note))
    rows = db.fetch_all("select at from note_events where event = 'reinforced' order by id")
    assert [row["at"] for row in rows] == [THEN, THEN - timedelta(days=2)]
