"""Days: UTC, of the time a thing was said. Today is one of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, datetime
from typing import Any

import dagster as dg

from argus_memory.upkeep.process import StageWork
from argus_memory.upkeep.regenerate_read import Days

FIRST_DAY = "2015-01-01"  # older bookmarks and documents are processed like all others, but stand under no day
DAYS = dg.DailyPartitionsDefinition(start_date=FIRST_DAY, timezone="UTC", end_offset=1)


def days_of(context: dg.AssetExecutionContext) -> Days:
    """The days a run was started for."""
    window = context.partition_key_range
    return Days(date.fromisoformat(window.start), date.fromisoformat(window.end))


def metadata_of(counts: Mapping[str, Any]) -> dict[str, Any]:
    """Counts as Dagster's metadata; what is not known is left out."""
    return {
        name: dg.MetadataValue.json(dict(value)) if isinstance(value, Mapping) else value
        for name, value in counts.items()
        if value is not None
    }


def materializations(key: str, work: StageWork, now: datetime, *, by_day: bool) -> Iterable[dg.AssetMaterialization]:
    """One event a touched day with what was done and left there, the newest day last and with all counts of the pass.

    A pass that did nothing says so under today.
    """
    counts = {**work.counts, "batches": work.batches, "seconds": round(work.seconds, 3)}
    if not by_day:
        yield dg.AssetMaterialization(key, metadata=metadata_of(counts))
        return
    known = {day: done for day, done in sorted(work.days.items()) if day.isoformat() >= FIRST_DAY}
    for day, done in list(known.items())[:-1]:
        yield dg.AssetMaterialization(key, partition=day.isoformat(), metadata={"done": done.done, "left": done.left})
    last = max(known, default=now.date())
    done_last = known.get(last)
    yield dg.AssetMaterialization(
        key,
        partition=last.isoformat(),
        metadata={
            **metadata_of(counts),
            "done": done_last.done if done_last else 0,
            "left": done_last.left if done_last else 0,
        },
    )
