"""All that waits for a person, in one answer; and what the switch let through since a person last looked."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from argus_memory.db import Database, queries
from argus_memory.upkeep.held import HeldDecision, list_held_decisions
from argus_memory.upkeep.proposals import list_proposals
from argus_memory.upkeep.review import LIST_LIMIT, HeldMerge, list_held


@dataclass(frozen=True, slots=True)
class SinceLooked:
    """Counted from `looked_at` (None: nobody ever looked): what is new in the queue, and, apart from that, what
    ARGUS_AUTO_APPROVE let through; the entries of the latter are in `auto`."""

    looked_at: datetime | None
    new_merges: int
    new_proposals: int
    new_decisions: int
    auto_approved: int
    auto: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class ReviewQueue:
    """Each list newest first; `counts` are of all that wait, also beyond the limit."""

    held: list[HeldMerge]
    decisions: list[HeldDecision]
    proposals: list[dict[str, Any]]
    regenerations: list[dict[str, Any]]
    counts: dict[str, int]
    since: SinceLooked


def read_queue(db: Database, *, limit: int = LIST_LIMIT) -> ReviewQueue:
    q = queries("review")
    since = db.fetch_one(q.counts_since)
    counts = db.fetch_one(q.counts)
    assert since is not None
    assert counts is not None
    auto = db.fetch_all(q.list_auto, {"since": since["looked_at"], "limit": limit})
    return ReviewQueue(
        list_held(db, limit=limit),
        list_held_decisions(db, limit=limit),
        list_proposals(db, limit=limit),
        list(db.fetch_all(q.held_regenerations, {"limit": limit})),
        dict(counts),
        SinceLooked(**since, auto=tuple(auto)),
    )


def mark_looked(db: Database, *, now: datetime) -> None:
    """A person saw the queue."""
    with db.transaction() as conn:
        conn.execute(queries("review").looked, {"now": now})
