"""Held merges wait for a person, and every merge can be taken back."""

from __future__ import annotations

from typing import Any

import pytest

from argus_memory.db import Database
from argus_memory.errors import Conflict, NotFound
from argus_memory.records import Verdict
from argus_memory.settings import Settings
from argus_memory.stages.dedup import dedup_pending
from argus_memory.upkeep.review import approve, list_held, reject, undo
from tests.integration.dedup.test_dedup import NOW, live, near_notes, row, saying

STATE = "id, deleted_at, deleted_reason, superseded_by, valid_to, confidence, content"


def merged(db: Database, settings: Settings, verdict: Verdict, confidence: float = 0.5) -> tuple[int, int, int]:
    """Two notes under a verdict: (log id, older note, newer note)."""
    older, newer = near_notes(db, "The tank is big.", "The tank holds 300 l.", confidence=confidence)
    if verdict == "duplicate":  # a repeat must hold nothing that the other does not
        with db.transaction() as conn:
            conn.execute("update distilled_notes set content = 'The tank is so big.' where id = %s", (newer,))
    dedup_pending(db, settings, now=NOW, judge=saying(verdict))
    logged = db.fetch_one("select id from dedup_log")
    assert logged
    return logged["id"], older, newer


def states(db: Database) -> list[dict[str, Any]]:
    return db.fetch_all(f"select {STATE} from distilled_notes order by id")


def test_the_queue_shows_both_notes(db: Database, settings: Settings) -> None:
    """A held merge is listed with what would overrule what, and why."""
    log_id, older, newer = merged(db, settings, "supersede", 0.8)
    (held,) = list_held(db)
    assert (held.id, held.note_id, held.other_id, held.reasoning) == (log_id, newer, older, "because")
    assert (held.note, held.other) == ("The tank holds 300 l.", "The tank is big.")


def test_approve_applies_the_merge(db: Database, settings: Settings) -> None:
    """The older note is tombstoned, its validity ends where the newer begins, and the actor is on record."""
    log_id, older, newer = merged(db, settings, "supersede", 0.8)
    receipt = approve(db, log_id, "kim", now=NOW)
    assert (receipt.status, receipt.tombstoned) == ("approved", (older,))
    assert live(db) == [newer]
    assert row(db, older)["valid_to"] == row(db, newer)["valid_from"]
    assert db.fetch_one("select status, decided_by, decided_at from dedup_log") == {
        "status": "approved",
        "decided_by": "kim",
        "decided_at": NOW,
    }
    assert list_held(db) == []


def test_reject_keeps_both(db: Database, settings: Settings) -> None:
    """Both notes stay live, and dedup does not ask again."""
    log_id, *notes = merged(db, settings, "supersede", 0.8)
    assert reject(db, log_id, "kim", now=NOW).status == "rejected"
    assert live(db) == notes
    assert dedup_pending(db, settings, now=NOW, judge=saying("supersede")).notes == 0


def test_what_was_decided_is_not_decided_again(db: Database, settings: Settings) -> None:
    """Approving what was rejected, or approving twice, is a conflict in one sentence that says who decided."""
    log_id, *notes = merged(db, settings, "supersede", 0.8)
    reject(db, log_id, "kim", now=NOW)
    with pytest.raises(Conflict, match=f"cannot approve merge {log_id}: it was rejected by kim"):
        approve(db, log_id, "robin", now=NOW)
    assert live(db) == notes
    assert undo(db, log_id, "robin", now=NOW).status == "pending"
    approve(db, log_id, "robin", now=NOW)
    with pytest.raises(Conflict, match="it was approved by robin"):
        approve(db, log_id, "kim", now=NOW)


@pytest.mark.parametrize(("verdict", "confidence"), [("duplicate", 0.5), ("refine", 0.6), ("supersede", 0.5)])
def test_undo_reverses_a_merge_whole(db: Database, settings: Settings, verdict: Verdict, confidence: float) -> None:
    """Tombstone, validity, stand-in and confidence are as before the merge, for every verdict."""
    older, newer = near_notes(db, "The tank is big.", "The tank is so big.", confidence=confidence)
    with db.transaction() as conn:
        conn.execute("update distilled_notes set valid_to = '2030-01-01Z'")
    before = states(db)
    dedup_pending(db, settings, now=NOW, judge=saying(verdict))
    logged = db.fetch_one("select id from dedup_log")
    assert logged
    assert len(live(db)) == 1
    receipt = undo(db, logged["id"], "kim", now=NOW)
    assert len(receipt.restored) == 1
    assert states(db) == before
    assert live(db) == [older, newer]
    assert dedup_pending(db, settings, now=NOW, judge=saying(verdict)).notes == 0


def test_undo_of_an_approved_merge(db: Database, settings: Settings) -> None:
    """What a person approved can be taken back as well."""
    log_id, *notes = merged(db, settings, "supersede", 0.8)
    before = states(db)
    approve(db, log_id, "kim", now=NOW)
    undo(db, log_id, "kim", now=NOW)
    assert (states(db), live(db)) == (before, notes)


def test_undo_leaves_what_other_sources_gave(db: Database, settings: Settings) -> None:
    """Only this merge's gain is taken back from a note that was corroborated again since."""
    log_id, older, _ = merged(db, settings, "duplicate")
    with db.transaction() as conn:
        conn.execute("update distilled_notes set confidence = 0.68 where id = %s", (older,))
    undo(db, log_id, "kim", now=NOW)
    assert row(db, older)["confidence"] == pytest.approx(0.58)


def test_undo_refuses_what_there_is_not(db: Database, settings: Settings) -> None:
    """An unknown id, a distinct verdict, a second undo and a note changed since are refused, each in a sentence."""
    with pytest.raises(NotFound, match="no merge 999"):
        undo(db, 999, "kim", now=NOW)
    log_id, older, _ = merged(db, settings, "supersede")
    with db.transaction() as conn:
        conn.execute("update distilled_notes set deleted_reason = 'forgotten' where id = %s", (older,))
    with pytest.raises(Conflict, match=f"note {older} was changed since merge {log_id}"):
        undo(db, log_id, "kim", now=NOW)
    with db.transaction() as conn:
        conn.execute("update distilled_notes set deleted_reason = 'superseded' where id = %s", (older,))
    undo(db, log_id, "kim", now=NOW)
    with pytest.raises(Conflict, match="undone before by kim"):
        undo(db, log_id, "kim", now=NOW)


def test_a_distinct_verdict_has_nothing_to_undo(db: Database, settings: Settings) -> None:
    """Both notes stayed: a conflict says so."""
    log_id, *_ = merged(db, settings, "distinct")
    with pytest.raises(Conflict, match="both notes stayed"):
        undo(db, log_id, "kim", now=NOW)


def test_a_held_merge_whose_note_is_gone_cannot_be_approved(db: Database, settings: Settings) -> None:
    """The sentence names the note and says to reject."""
    log_id, older, _ = merged(db, settings, "supersede", 0.8)
    with db.transaction() as conn:
        conn.execute(
            "update distilled_notes set deleted_at = now(), deleted_reason = 'forgotten' where id = %s", (older,)
        )
    with pytest.raises(Conflict, match=f"note {older} of held merge {log_id} was tombstoned meanwhile"):
        approve(db, log_id, "kim", now=NOW)
