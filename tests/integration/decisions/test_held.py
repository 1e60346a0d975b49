"""An agent's decisions wait for a person."""

from __future__ import annotations

import pytest

from argus_memory.db import Database
from argus_memory.errors import Conflict, NotFound
from argus_memory.upkeep.decisions import decide, forget
from argus_memory.upkeep.held import approve_decision, list_held_decisions, reject_decision
from tests.integration.decisions.test_decide import NOW, note
from tests.memory_rows import add_note


def held(db: Database) -> tuple[int, int]:
    """(note, decision) of an agent that would forget what a person said."""
    id_ = add_note(db, "The tank holds 300 l.")
    receipt = decide(db, "forget", id_, "agent", kind="agent", reason="stale", now=NOW)
    assert receipt.decision_id
    return id_, receipt.decision_id


def test_approved_it_takes_effect(db: Database) -> None:
    """It is listed with its reason; approved, the note is forgotten, in force, by the person's word."""
    id_, decision = held(db)
    (listed,) = list_held_decisions(db)
    assert (listed.id, listed.decision, listed.note_id, listed.reason) == (decision, "forget", id_, "stale")
    assert approve_decision(db, decision, "kim", now=NOW).outcome == "changed"
    assert note(db, id_)["deleted_reason"] == "forgotten"
    assert list_held_decisions(db) == []
    assert db.fetch_one("select status, actor, decided_by from note_decisions") == {
        "status": "in-force", "actor": "agent", "decided_by": "kim",
    }  # fmt: skip


def test_rejected_it_is_settled(db: Database) -> None:
    """The note stays; approving it afterwards is a conflict that says who rejected it."""
    id_, decision = held(db)
    reject_decision(db, decision, "kim", now=NOW)
    assert note(db, id_)["deleted_at"] is None
    with pytest.raises(Conflict, match="rejected by kim"):
        approve_decision(db, decision, "robin", now=NOW)
    with pytest.raises(NotFound, match="no decision 99"):
        reject_decision(db, 99, "kim", now=NOW)


def test_a_note_that_changed_meanwhile(db: Database) -> None:
    """A pin held for a note that was forgotten since does not fit any more."""
    id_ = add_note(db, "The tank holds 300 l.")
    receipt = decide(db, "pin", id_, "agent", kind="agent", now=NOW)
    forget(db, id_, "kim", now=NOW)
    assert receipt.decision_id
    with pytest.raises(Conflict, match="forgotten"):
        approve_decision(db, receipt.decision_id, "kim", now=NOW)
