"""Reconcile: a rotating share of the days is made anew every night; what would come out otherwise is told as drift.

It changes nothing, unless the operator set ARGUS_RECONCILE_ABOVE: then a day with at least that drift is switched,
the guard of every regeneration still holding. The service level `reconcile-drift` is measured from its rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from argus_memory.db import Database, queries
from argus_memory.settings import Settings
from argus_memory.upkeep.process import Clock, utc_now
from argus_memory.upkeep.regenerate_make import Maker
from argus_memory.upkeep.regenerate_read import Days
from argus_memory.upkeep.regeneration import Regeneration, regenerate

ROUNDS: Final = 90  # nights until every day with notes was looked at once
DAYS_AT_MOST: Final = 5  # a night; with a model each unit is a call
SETTLED: Final = timedelta(days=2)  # younger days are still being captured into


@dataclass(frozen=True, slots=True)
class Reconciled:
    """drift: share of the notes looked at that were not made again, None where there were none."""

    days: tuple[date, ...]
    runs: tuple[Regeneration, ...]
    drift: float | None
    error: str | None = None


def reconcile(
    db: Database,
    settings: Settings,
    *,
    actor: str = "reconcile",
    clock: Clock = utc_now,
    run_id: str | None = None,
    maker: Maker | None = None,
) -> Reconciled:
    """Compare the days that were not looked at for the longest time. Raises Conflict while a regeneration works."""
    days = due_days(db, clock().date() - SETTLED)
    runs: list[Regeneration] = []
    for day in days:
        done = regenerate(
            db, settings, Days(day, day), actor=actor, mode="reconcile", clock=clock, run_id=run_id, maker=maker
        )
        runs.append(done)
        if done.status == "failed":  # models that are away are away for the next day too
            break
    lost = sum(run.counts.get("removed", 0) for run in runs)
    stood = sum(run.counts.get("notes_before", 0) for run in runs)
    errors = [run.error for run in runs if run.error]
    drift = lost / stood if stood else None
    return Reconciled(tuple(days[: len(runs)]), tuple(runs), drift, errors[0] if errors else None)


def due_days(db: Database, before: date) -> list[date]:
    """A ROUNDS-th of the days with distilled units, at most DAYS_AT_MOST; those never looked at first, then the
    longest ago."""
    rows = db.fetch_all(queries("reconcile").days, {"before": before})
    share = min(DAYS_AT_MOST, math.ceil(len(rows) / ROUNDS))
    return [row["day"] for row in rows[:share]]
