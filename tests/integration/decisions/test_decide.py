"""Decisions on a note: what changes, what is written down, what an agent may not do alone."""

from __future__ import annotations

from typing import Any

import pytest

from argus_memory.db import Database
from argus_memory.errors import Conflict, NotFound
from argus_memory.upkeep.decisions import VERBS, decide, exclude, forget, include, pin, reconfirm, restore, unpin
from tests.memory_rows import add_note, at

NOW = at(1000)


def note(db: Database, note_id: int) -> dict[str, Any]:
    row = db.fetch_one("select * from distilled_notes where id = %s", (note_id,))  # type: ignore[arg-type]
    assert row
    return row


def decisions(db: Database) -> list[tuple[str, str, str]]:
    rows = db.fetch_all("select decision, status, actor from note_decisions order by id")
    return [(row["decision"], row["status"], row["actor"]) for row in rows]


def events(db: Database, note_id: int) -> list[tuple[str, str]]:
    rows = db.fetch_all(
        "select event, actor from note_events where note_id = %s and event <> 'created' order by id",
        (note_id,),  # type: ignore[arg-type]
    )
    return [(row["event"], row["actor"]) for row in rows]


def test_each_decision_and_its_opposite(db: Database) -> None:
    """The row changes and changes back; the earlier decision is overtaken; history names the actor."""
    id_ = add_note(db, "The tank holds 300 l.")
    for do, undo, column in ((pin, unpin, "pinned_at"), (exclude, include, "excluded_at"), (forget, restore, "deleted_at")):
        assert do(db, id_, "kim", now=NOW).outcome == "changed"
        assert note(db, id_)[column] == NOW
        assert undo(db, id_, "robin", now=NOW).outcome == "changed"
        assert note(db, id_)[column] is None
    assert reconfirm(db, id_, "kim", now=NOW).outcome == "changed"
    assert note(db, id_)["confirmed_at"] == NOW
    assert decisions(db) == [
        ("pin", "overtaken", "kim"), ("unpin", "in-force", "robin"), ("exclude", "overtaken", "kim"),
        ("include", "in-force", "robin"), ("forget", "overtaken", "kim"), ("restore", "in-force", "robin"),
        ("confirm", "in-force", "kim"),
    ]  # fmt: skip
    assert events(db, id_) == [
        ("pinned", "kim"), ("unpinned", "robin"), ("excluded", "kim"), ("included", "robin"), ("forgotten", "kim"),
        ("restored", "robin"), ("confirmed", "kim"),
    ]  # fmt: skip


def test_what_is_so_is_a_no_op(db: Database) -> None:
    """A decision that changes nothing writes nothing and says so."""
    id_ = add_note(db, "The tank holds 300 l.")
    pin(db, id_, "kim", now=NOW)
    assert pin(db, id_, "kim", now=NOW).outcome == "no-op"
    assert include(db, id_, "kim", now=NOW).outcome == "no-op"
    assert restore(db, id_, "kim", now=NOW).outcome == "no-op"
    assert decisions(db) == [("pin", "in-force", "kim")]


def test_a_note_that_is_not_there(db: Database) -> None:
    """Every decision on an unknown note is NotFound."""
    for verb in VERBS:
        with pytest.raises(NotFound, match="no note 99"):
            decide(db, verb, 99, "kim", now=NOW)


def test_a_decision_that_does_not_fit(db: Database) -> None:
    """A forgotten note is not pinned, a merged one is not restored: each in a sentence that says what to do."""
    id_ = add_note(db, "The tank holds 300 l.")
    forget(db, id_, "kim", now=NOW)
    with pytest.raises(Conflict, match="argus note restore"):
        pin(db, id_, "kim", now=NOW)
    merged = add_note(db, "The tank is big.")
    with db.transaction() as conn:
        conn.execute(
            "update distilled_notes set deleted_at = now(), deleted_reason = 'duplicate' where id = %s", (merged,)
        )
    with pytest.raises(Conflict, match="argus review undo"):
        restore(db, merged, "kim", now=NOW)


@pytest.mark.parametrize(
    ("more", "verb", "outcome"),
    [
        ({"role": "assistant"}, "forget", "changed"),
        ({"role": "assistant"}, "exclude", "changed"),
        ({"role": "assistant"}, "pin", "held"),
        ({"role": "assistant", "confidence": 0.7}, "forget", "held"),
        ({"role": "user"}, "exclude", "held"),
    ],
)
def test_an_agent_is_bounded(db: Database, more: dict[str, Any], verb: Any, outcome: str) -> None:
    """An agent decides alone only on what is doubtful and was not said by a person; the rest is held, unchanged."""
    id_ = add_note(db, "The tank holds 300 l.", **more)
    before = note(db, id_)
    receipt = decide(db, verb, id_, "agent", kind="agent", now=NOW)
    assert receipt.outcome == outcome
    assert receipt.decision_id is not None
    assert (note(db, id_) == before) is (outcome == "held")
    assert decisions(db) == [(verb, "held" if outcome == "held" else "in-force", "agent")]


def test_an_agent_does_not_touch_a_pinned_note(db: Database) -> None:
    """Pinned is held, however doubtful."""
    id_ = add_note(db, "The tank holds 300 l.", role="assistant", confidence=0.1)
    pin(db, id_, "kim", now=NOW)
    assert decide(db, "forget", id_, "agent", kind="agent", now=NOW).outcome == "held"
    assert note(db, id_)["deleted_at"] is None
