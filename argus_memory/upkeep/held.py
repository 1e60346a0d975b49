"""Decisions of agents that wait for a person: nothing is changed until one approves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, cast

from argus_memory.db import Connection, Database, queries
from argus_memory.errors import Conflict, NotFound
from argus_memory.records import WriteReceipt
from argus_memory.stages.acting import as_actor
from argus_memory.upkeep.decisions import VERBS, Verb, apply, check_fit, lock_note, overtake, take_repeats

LIST_LIMIT: Final = 200
# What else an agent's decision can be: `correct` and `redact` are carried out by their own module.
Carry = Callable[[Connection, Mapping[str, Any], str, datetime], WriteReceipt]


@dataclass(frozen=True, slots=True)
class HeldDecision:
    """What an agent would do to a note."""

    id: int
    at: datetime
    decision: str
    note_id: int | None
    content: str
    project: str | None
    actor: str
    reason: str | None
    new_text: str | None
    confidence: float | None
    pinned: bool | None
    role: str | None


def list_held_decisions(db: Database, *, limit: int = LIST_LIMIT) -> list[HeldDecision]:
    """Newest first."""
    return [HeldDecision(**row) for row in db.fetch_all(queries("decisions").list_held, {"limit": limit})]


def approve_decision(
    db: Database, decision_id: int, actor: str, *, now: datetime, others: Mapping[str, Carry] | None = None
) -> WriteReceipt:
    """Let it take effect, in the approving person's name. Raises NotFound, or Conflict when it waits no more or does
    not fit the note any more; `others` carries out decisions that are no plain verb."""
    with db.transaction() as conn:
        held = _lock_held(conn, decision_id, "approve")
        note = lock_note(conn, held["note_id"])
        as_actor(conn, actor, now=now)
        if held["decision"] not in VERBS:
            carry = (others or {}).get(held["decision"])
            if carry is None:
                raise Conflict(f"decision {decision_id} ({held['decision']}) cannot be approved here")
            return carry(conn, held, actor, now)
        verb = cast(Verb, held["decision"])
        check_fit(note, verb)
        conn.execute(
            queries("decisions").settle, {"id": decision_id, "status": "in-force", "actor": actor, "now": now}
        )
        overtake(conn, note, verb, decision_id, actor, now=now)
        apply(conn, verb, note["id"], now=now)
        if verb in ("forget", "exclude"):
            take_repeats(conn, note, verb, actor, now=now)
        return WriteReceipt("changed", note["id"], note["uid"], note["raw_id"], decision_id)


def reject_decision(db: Database, decision_id: int, actor: str, *, now: datetime) -> WriteReceipt:
    """Leave the note as it is. Raises NotFound, or Conflict when it waits no more."""
    with db.transaction() as conn:
        held = _lock_held(conn, decision_id, "reject")
        conn.execute(
            queries("decisions").settle, {"id": decision_id, "status": "rejected", "actor": actor, "now": now}
        )
        detail = "the note stays as it is"
        return WriteReceipt("no-op", held["note_id"], held["uid"], None, decision_id, detail=detail)


def _lock_held(conn: Connection, decision_id: int, verb: str) -> Mapping[str, Any]:
    row = conn.execute(queries("decisions").lock_decision, {"id": decision_id}).fetchone()
    if row is None:
        raise NotFound(f"there is no decision {decision_id}; `argus review list` shows those that wait")
    if row["status"] != "held":
        by = f" by {row['decided_by']}" if row["decided_by"] else ""
        was = "in force" if row["status"] == "in-force" else row["status"]
        raise Conflict(f"cannot {verb} decision {decision_id}: it is {was}{by}")
    return row
