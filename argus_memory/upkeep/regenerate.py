"""Make the views of some days anew from the raw items, as a backfill in the Dagster UI asks for it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from argus_memory.db import Database, queries
from argus_memory.models.embedders import get_embedder
from argus_memory.records import UnitKind
from argus_memory.settings import Settings
from argus_memory.stages.distill import distill_pending
from argus_memory.stages.embed import Target, embed_pending
from argus_memory.stages.segment import segment_pending
from argus_memory.upkeep.process import Clock, add_counts, utc_now

UNITS_A_BATCH = 25


@dataclass(frozen=True, slots=True)
class Days:
    """UTC days of the time a thing was said, both ends included."""

    first: date
    last: date

    @property
    def params(self) -> dict[str, Any]:
        return {"first": self.first, "last": self.last}


@dataclass(frozen=True, slots=True)
class Regenerated:
    """What was done, over all days and for each; `error`: why some of it is still left."""

    counts: dict[str, Any]
    days: dict[date, dict[str, int]]
    error: str | None = None


def redistill_days(
    db: Database, settings: Settings, days: Days, *, clock: Clock = utc_now, run_id: str | None = None
) -> Regenerated:
    """Distill every unit of these days again, parked ones too. A unit's notes stand until its new ones are written.

    What a person or the judge took away stays away, and the same fact made again keeps its identity (stages/distill).
    """
    units = requeue_units(db, days, clock())
    parts: list[dict[str, Any]] = [{"units_requeued": len(units)}]
    stopped: str | None = None
    for start in range(0, len(units), UNITS_A_BATCH):
        part = units[start : start + UNITS_A_BATCH]
        report = distill_pending(db, settings, now=clock(), limit=len(part), units=part, run_id=run_id)
        parts.append({name: getattr(report, name) for name in report.__slots__ if name != "stopped"})
        if stopped := report.stopped:
            break
    rows = db.fetch_all(queries("regenerate").units_by_day, days.params)
    counts = add_counts(parts)
    failed = counts.get("content_failures", 0) + counts.get("transient_failures", 0)
    later = f"{failed} units could not be distilled; what is pending is tried again by itself" if failed else None
    return Regenerated(counts, {row.pop("day"): row for row in rows}, stopped or later)


def requeue_units(db: Database, days: Days, now: datetime) -> list[tuple[UnitKind, int]]:
    """Set the units of these days to pending, newest first; what is pending already or was passed over stays so."""
    with db.transaction() as conn:
        conn.execute(queries("regenerate").requeue_units, {**days.params, "now": now})
        rows = conn.execute(queries("regenerate").pending_units, days.params).fetchall()
    return [(row["unit_kind"], row["unit_id"]) for row in rows]


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
    embedder = get_embedder(settings)
    with db.transaction() as conn:
        queued = conn.execute(q.queue_missing_vectors, params).rowcount
        conn.execute(q.retry_vectors, params)
    report = embed_pending(db, settings, embedder, now=clock(), target=target)
    query = q.turn_vectors_by_day if target == "turn" else q.note_vectors_by_day
    rows = db.fetch_all(query, days.params)
    return Regenerated({"queued": queued, **report.counts}, {row.pop("day"): row for row in rows}, report.error)
