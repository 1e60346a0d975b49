"""ARGUS_AUTO_APPROVE: what waited long enough is let through, if a second look finds that nothing contests it.

A merge is contested when another one that waits, a proposal, an agent's held decision or a later decision is about
one of its notes, when its older note is pinned, or when another live note disputes what the newer one says. A
proposal is contested when it disputes a note by now, or says what was taken away. What is contested waits on. What a
person took back (`argus review undo`) is never let through again by itself.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from argus_memory.db import Connection, Database, queries
from argus_memory.errors import Conflict
from argus_memory.settings import Settings
from argus_memory.stages.acting import as_actor
from argus_memory.upkeep.proposals import accept_proposal
from argus_memory.upkeep.review import AUTO, carry_out
from argus_memory.upkeep.writing import find_neighbours

AT_ONCE = 500
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class AutoApproved:
    """Counts of one go; all zero where the switch is off. `contested` ones wait on, and each has its log line."""

    merges: int = 0
    proposals: int = 0
    contested: int = 0


def auto_approve(db: Database, settings: Settings, *, now: datetime) -> AutoApproved:
    """Let through what waited for settings.auto_approve; each in its own transaction."""
    if settings.auto_approve is None:
        return AutoApproved()
    q = queries("review")
    due = {"before": now - settings.auto_approve, "limit": AT_ONCE}
    merges = [_try(_approve_merge, db, row["id"], now) for row in db.fetch_all(q.due_merges, due)]
    proposals = [_try(_accept, db, row["id"], now) for row in db.fetch_all(q.due_proposals, due)]
    return AutoApproved(sum(merges), sum(proposals), (merges + proposals).count(False))


def _try(let_through: Callable[[Database, int, datetime], None], db: Database, id_: int, now: datetime) -> bool:
    try:
        let_through(db, id_, now)
    except Conflict as conflict:
        log.info("not approved by itself: %s", conflict)
        return False
    return True


def _approve_merge(db: Database, log_id: int, now: datetime) -> None:
    with db.transaction() as conn:
        held = conn.execute(queries("review").lock_verdict, {"id": log_id}).fetchone()
        if held is None or held["status"] != "pending":
            raise Conflict(f"merge {log_id} was settled meanwhile")
        as_actor(conn, AUTO, now=now)
        why = _contest(conn, log_id, now)
        if why:
            raise Conflict(f"merge {log_id} is contested: {why}")
        carry_out(conn, held, AUTO, now=now, auto=True)


def _contest(conn: Connection, log_id: int, now: datetime) -> str | None:
    row = conn.execute(queries("review").second_look, {"id": log_id}).fetchone()
    assert row is not None
    if row["pinned"]:
        return f"note {row['other_id']} is pinned"
    if row["others_waiting"] or row["proposals"]:
        return "something else that waits is about one of its notes"
    if row["decided"]:
        return "one of its notes was decided on since"
    _, disputed = find_neighbours(conn, row["content"], row["project"], now, but=row["note_id"])
    others = [note_id for note_id in disputed if note_id != row["other_id"]]
    return f"note {others[0]} disputes note {row['note_id']}" if others else None


def _accept(db: Database, proposal_id: int, now: datetime) -> None:
    accept_proposal(db, proposal_id, AUTO, now=now, auto=True)
