"""Decisions of agents that wait for a person: nothing is changed until one approves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, cast

from argus_memory.db import Connection, Database, queries
from argus_memory.errors import Conflict, NotFound
from argus_memory.records import WriteReceipt
from argus_memory.stages.acting import as_actor
from argus_memory.upkeep.decisions import Verb, apply, check_fit, lock_note, overtake, take_repeats
from argus_memory.upkeep.proposals import carry_correction
from argus_memory.upkeep.redacting import RedactReceipt, redact, redact_in, sweep

LIST_LIMIT: Final = 200
Carry = Callable[[Connection, Mapping[str, Any], str, datetime], WriteReceipt]


@dataclass(frozen=True, slots=True)
class HeldDecision:
    """What an agent would do to a note. new_text: of a `correct` the words to come, of a `redact` the words to go
    (None: all of the item that the note quotes)."""

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


def approve_decision(db: Database, decision_id: int, actor: str, *, now: datetime) -> WriteReceipt:
    """Let it take effect, in the approving person's name. Raises NotFound, or Conflict when it waits no more or does
    not fit the note any more."""
    receipt, swept = _approve(db, decision_id, actor, now)
    if swept:
        _, waiting = sweep(db, now=now)
        if waiting:
            later = f"dead rows wait for housekeeping in {', '.join(waiting)}"
            receipt = replace(receipt, detail=f"{receipt.detail}; {later}")
    return receipt


def preview_redaction(db: Database, decision_id: int, actor: str, *, now: datetime) -> RedactReceipt:
    """What approving a held `redact` would take out; nothing is changed. Raises NotFound or Conflict as it would."""
    with db.transaction() as conn:
        held = _lock_held(conn, decision_id, "preview")
    if held["decision"] != "redact":
        raise Conflict(f"decision {decision_id} is to {held['decision']} a note: there is no preview of that")
    return redact(
        db,
        note_id=held["note_id"],
        text=held["new_text"],
        reason=_kept_reason(held),
        actor=actor,
        now=now,
        dry_run=True,
    )


def _approve(db: Database, decision_id: int, actor: str, now: datetime) -> tuple[WriteReceipt, bool]:
    """(receipt, whether dead rows are to be swept)."""
    with db.transaction() as conn:
        held = _lock_held(conn, decision_id, "approve")
        note = lock_note(conn, held["note_id"])
        as_actor(conn, actor, now=now)
        if (carry := _CARRIES.get(held["decision"])) is not None:
            return carry(conn, held, actor, now), held["decision"] == "redact"
        verb = cast(Verb, held["decision"])
        check_fit(note, verb)
        conn.execute(
            queries("decisions").settle, {"id": decision_id, "status": "in-force", "actor": actor, "now": now}
        )
        overtake(conn, note, verb, decision_id, actor, now=now)
        apply(conn, verb, note["id"], now=now)
        if verb in ("forget", "exclude"):
            take_repeats(conn, note, verb, actor, now=now)
        return WriteReceipt("changed", note["id"], note["uid"], note["raw_id"], decision_id), False


def reject_decision(db: Database, decision_id: int, actor: str, *, now: datetime) -> WriteReceipt:
    """Leave the note as it is. Raises NotFound, or Conflict when it waits no more."""
    with db.transaction() as conn:
        held = _lock_held(conn, decision_id, "reject")
        conn.execute(
            queries("decisions").settle, {"id": decision_id, "status": "rejected", "actor": actor, "now": now}
        )
        detail = "the note stays as it is"
        return WriteReceipt("no-op", held["note_id"], held["uid"], None, decision_id, detail=detail)


def _carry_redaction(conn: Connection, held: Mapping[str, Any], actor: str, now: datetime) -> WriteReceipt:
    """Take the words out. What then binds each note that said them is the person's own `redact`, which the redaction
    wrote: the agent's is settled, and loses the words too."""
    gone = f"the words of decision {held['id']} were taken out meanwhile: reject it"
    try:
        done = redact_in(
            conn, note_id=held["note_id"], text=held["new_text"], reason=_kept_reason(held), actor=actor, now=now
        )
    except NotFound:
        raise Conflict(gone) from None
    if done.outcome == "no-op":
        raise Conflict(gone)
    conn.execute(queries("decisions").settle, {"id": held["id"], "status": "overtaken", "actor": actor, "now": now})
    told = f"{len(done.raws)} raw items and {len(done.notes)} notes lost the words"
    return WriteReceipt("changed", held["note_id"], held["uid"], done.raw_id, held["id"], detail=told)


def _kept_reason(held: Mapping[str, Any]) -> str | None:
    """An agent may quote in its reason what is to go: of a whole item no rule could tell which words those are."""
    return held["reason"] if held["new_text"] else f"asked for by {held['actor']} (decision {held['id']})"


# What is no plain verb.
_CARRIES: Final[Mapping[str, Carry]] = {"correct": carry_correction, "redact": _carry_redaction}


def _lock_held(conn: Connection, decision_id: int, verb: str) -> Mapping[str, Any]:
    row = conn.execute(queries("decisions").lock_decision, {"id": decision_id}).fetchone()
    if row is None:
        raise NotFound(f"there is no decision {decision_id}; `argus review list` shows those that wait")
    if row["status"] != "held":
        by = f" by {row['decided_by']}" if row["decided_by"] else ""
        was = "in force" if row["status"] == "in-force" else row["status"]
        raise Conflict(f"cannot {verb} decision {decision_id}: it is {was}{by}")
    return row
