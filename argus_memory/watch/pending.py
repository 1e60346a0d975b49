"""What waits to be worked on, and whether that is worth a run: one query, one pure rule.

A run costs two seconds of processor time, so it starts only when there is something for it to do: a tail that is due
to close, a unit to distill, turns that have waited for their vectors, notes to embed or to deduplicate.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Any, LiteralString

from argus_memory.db import Database, queries
from argus_memory.settings import (
    DISTILL_LEASE,
    EMBED_BATCH,
    SIZE_CAP,
    TIME_GAP,
    TURN_VECTOR_PATIENCE,
    Settings,
)
from argus_memory.stages.spaces import EMBED_ATTEMPTS

# A few turns that only lack vectors are already found by their words. When a day has had some passes already, such
# turns wait longer for company.
BUDGET_PERIOD = timedelta(hours=12)
FREE_PASSES = 10
EMBED_PAUSE = timedelta(minutes=40)
# A conversation that fell silent half an hour ago may wait a little for others: ten runs a day less. At most a sixth
# of ARGUS_IDLE_CLOSE.
IDLE_PATIENCE = timedelta(minutes=5)
# When a run changed nothing (the embedder is down, say), the same work is tried again after this time; work that
# has waited for long is tried less often.
RETRY_AFTER = timedelta(minutes=10)
RETRY_OLD_AFTER = timedelta(hours=1)
OLD = timedelta(hours=2)


@dataclass(frozen=True, slots=True)
class PendingWork:
    """The row of `pending_work`. Times are null where nothing waits; `*_key` changes with every change of the work.

    tails_urgent: those of the due tails that wait for no company. units_later: pending units whose next attempt is
    still to come, or that a run has claimed. unspaced_since: first capture of a turn while no embedding space
    exists. captured: items by UTC day with an id above the one asked for; raw_id and injection_id: the highest ids
    there are.
    """

    tails_due: int
    tails_urgent: int
    tails_newest: datetime | None
    tails_oldest: datetime | None
    tails_key: str | None
    tails_open: int
    units_due: int
    units_newest: datetime | None
    units_oldest: datetime | None
    units_key: str | None
    units_later: int
    units_next_at: datetime | None
    units_parked: int
    turns_queued: int
    turns_since: datetime | None
    notes_queued: int
    notes_newest: int | None
    embed_attempts: int
    embed_parked: int
    unspaced_since: datetime | None
    notes_undeduped: int
    undeduped_newest: int | None
    embedded_at: datetime | None
    passes_lately: int
    raw_id: int
    captured: Mapping[str, int]
    injection_id: int
    recalled: int


@dataclass(frozen=True, slots=True)
class Decision:
    """`run_key` is None when no run is needed; `reason` says why either way, in words and counts."""

    run_key: str | None
    reason: str


def find_pending(
    db: Database, settings: Settings, now: datetime, *, raw_id: int = 0, injection_id: int = 0
) -> PendingWork:
    """Everything that waits at `now`; `raw_id` and `injection_id` are the highest ids already reported."""
    row = db.fetch_one(pending_query(), pending_params(settings, now, raw_id=raw_id, injection_id=injection_id))
    assert row is not None
    return PendingWork(**row)


def pending_query() -> LiteralString:
    return with_due_tails(queries("pending").pending_work)


def pending_params(settings: Settings, now: datetime, *, raw_id: int = 0, injection_id: int = 0) -> dict[str, Any]:
    return {
        **due_params(settings, now),
        "lease": DISTILL_LEASE,
        "attempts": EMBED_ATTEMPTS,
        "budget": BUDGET_PERIOD,
        "patience": min(IDLE_PATIENCE, settings.idle_close / 6),
        "raw_id": raw_id,
        "injection_id": injection_id,
    }


def has_fresh_work(db: Database, settings: Settings, now: datetime, since: datetime) -> bool:
    """Whether a tail or a unit said after `since` is due: then the past has to step back."""
    row = db.fetch_one(
        with_due_tails(queries("pending").fresh_work),
        {**due_params(settings, now), "lease": DISTILL_LEASE, "since": since},
    )
    return bool(row and row["fresh"])


def decide_run(work: PendingWork, now: datetime) -> Decision:
    """Whether to start a run. Asked again about the same work, it answers with the same key."""
    reasons: list[str] = []
    signs: list[Any] = []
    oldest: list[datetime | None] = []
    if work.tails_urgent:
        reasons.append(f"{work.tails_due} tails due to close")
        signs.append(work.tails_key)
        oldest.append(work.tails_oldest)
    if work.units_due:
        reasons.append(f"{work.units_due} units to distill")
        signs.append(work.units_key)
        oldest.append(work.units_oldest)
    if turns := _turns_due(work, now):
        reasons.append(turns)
        signs += ["turns", work.turns_queued, work.turns_since, work.embed_attempts]
        oldest.append(work.turns_since or work.unspaced_since)
    if work.notes_queued:
        reasons.append(f"{work.notes_queued} notes without vector")
        signs += ["notes", work.notes_queued, work.notes_newest, work.embed_attempts]
    if work.notes_undeduped:
        reasons.append(f"{work.notes_undeduped} notes not deduplicated")
        signs += ["dedup", work.notes_undeduped, work.undeduped_newest]
    if not reasons:
        return Decision(None, "pending=0: " + _idle_words(work, now))
    newest = min((at for at in oldest if at is not None), default=now)
    pause = RETRY_OLD_AFTER if now - newest > OLD else RETRY_AFTER
    signs.append(int(now.timestamp() // pause.total_seconds()))
    key = hashlib.sha256(repr(signs).encode()).hexdigest()[:24]
    return Decision(key, ", ".join(reasons))


def due_params(settings: Settings, now: datetime) -> dict[str, Any]:
    """The parameters of the segment stage's question for due tails."""
    return {"now": now, "gap": TIME_GAP, "size": SIZE_CAP, "idle": settings.idle_close, "sessions": None}


def _turns_due(work: PendingWork, now: datetime) -> str | None:
    since = work.turns_since or work.unspaced_since
    if since is None or now - since < TURN_VECTOR_PATIENCE:
        return None
    rested = work.embedded_at is None or now - work.embedded_at >= EMBED_PAUSE
    if not rested and work.passes_lately >= FREE_PASSES and work.turns_queued < EMBED_BATCH:
        return None
    minutes = int((now - since).total_seconds() // 60)
    return f"{work.turns_queued or 'the first'} turns without vector for {minutes} min"


def _idle_words(work: PendingWork, now: datetime) -> str:
    due = f"{work.tails_due} fell silent and wait for company" if work.tails_due else "none due"
    words = [f"{work.tails_open} open tails, {due}"]
    if work.turns_since:
        waited = int((now - work.turns_since).total_seconds() // 60)
        words.append(f"{work.turns_queued} turns without vector for {waited} min")
    if work.units_later:
        at = f", next at {work.units_next_at:%H:%M:%S} UTC" if work.units_next_at else ""
        words.append(f"{work.units_later} units to be tried later{at}")
    if work.units_parked:
        words.append(f"{work.units_parked} units parked")
    if work.embed_parked:
        words.append(f"{work.embed_parked} items that cannot be embedded")
    return ", ".join(words)


@cache
def with_due_tails(text: LiteralString) -> LiteralString:
    """A query with the segment stage's own question for due tails inside it, so that the two never disagree."""
    return text.replace("{due_tails}", queries("segment").find_due)
