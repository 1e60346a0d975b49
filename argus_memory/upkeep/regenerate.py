"""Make the views of some days anew from the raw items, as a backfill in the Dagster UI asks for it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any

from argus_memory.db import Database, queries
from argus_memory.settings import Settings
from argus_memory.stages.distill import distill_pending
from argus_memory.stages.distill_units import UnitKey
from argus_memory.stages.embed import Target, embed_pending
from argus_memory.stages.segment import segment_pending
from argus_memory.stages.spaces import open_embedder
from argus_memory.upkeep.process import Clock, utc_now
from argus_memory.upkeep.regenerate_read import Days
from argus_memory.upkeep.regeneration import regenerate

BACKFILL = "backfill"  # who a switch of a backfill is put down to


@dataclass(frozen=True, slots=True)
class Regenerated:
    """What was done, over all days and for each; `error`: why some of it is still left."""

    counts: dict[str, Any]
    days: dict[date, dict[str, int]]
    error: str | None = None


def redistill_days(
    db: Database, settings: Settings, days: Days, *, clock: Clock = utc_now, run_id: str | None = None
) -> Regenerated:
    """Regenerate these days (regeneration.py), then distill what still waits there for the first time.

    `error` also where the switch was held for a person, or units could not be made.
    """
    done = regenerate(db, settings, days, actor=BACKFILL, clock=clock, run_id=run_id)
    counts: dict[str, Any] = {"regeneration": done.id, "status": done.status, **done.counts}
    if done.loss is not None:
        counts["loss"] = round(done.loss, 4)
    stopped = done.error
    rows = db.fetch_all(queries("regenerate").pending_units, days.params)
    units: list[UnitKey] = [(row["unit_kind"], row["unit_id"]) for row in rows]
    failed = done.counts.get("failed", 0)
    if units and stopped is None:
        report = distill_pending(db, settings, now=clock(), limit=len(units), units=units, run_id=run_id)
        counts |= {name: getattr(report, name) for name in report.__slots__ if name != "stopped"}
        failed += report.content_failures + report.transient_failures
        stopped = report.stopped
    by_day = {row.pop("day"): row for row in db.fetch_all(queries("regenerate").units_by_day, days.params)}
    for day, changes in done.days.items():
        by_day.setdefault(day, {}).update(changes)
    later = f"{failed} units could not be distilled; their notes stand as they were" if failed else None
    return Regenerated(counts, by_day, stopped or later)


def resegment_days(
    db: Database, settings: Settings, days: Days, *, clock: Clock = utc_now, run_id: str | None = None
) -> Regenerated:
    """Close what is due in sessions with turns said on these days. Closed episodes follow from the raw items alone,
    so making them again would give the same ones."""
    q = queries("regenerate")
    sessions = [row["session"] for row in db.fetch_all(q.open_sessions, days.params)]
    counts: dict[str, Any] = {"sessions_open": len(sessions)}
    if sessions:
        report = segment_pending(db, settings, now=clock(), sessions=sessions, limit=len(sessions), run_id=run_id)
        counts |= report.counts()
    rows = db.fetch_all(q.episodes_by_day, days.params)
    return Regenerated(counts, {row.pop("day"): row for row in rows})


def reembed_days(
    db: Database, settings: Settings, target: Target, days: Days, *, clock: Clock = utc_now
) -> Regenerated:
    """Queue what has no vector among these days' turns or notes, give parked ones another go, and embed."""
    q = queries("regenerate")
    params = {**days.params, "target": target}
    embedder = open_embedder(db, settings)
    with db.transaction() as conn:
        queued = conn.execute(q.queue_missing_vectors, params).rowcount
        conn.execute(q.retry_vectors, params)
    report = embed_pending(db, settings, embedder, now=clock(), target=target)
    query = q.turn_vectors_by_day if target == "turn" else q.note_vectors_by_day
    rows = db.fetch_all(query, days.params)
    return Regenerated({"queued": queued, **report.counts}, {row.pop("day"): row for row in rows}, report.error)
