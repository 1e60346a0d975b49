"""Every minute of a year in a zone as arrays, and a schedule's times by looking at each: slow thinking, fast numbers.

Knows nothing of cron text, of days or of Argus's rule. For zones whose clocks change between 1 and 3 o'clock.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from tests.unit.no_show.crons import Cron


@dataclass(frozen=True)
class Walls:
    """Clock readings on the wall, one a row."""

    minute: NDArray[np.int64]
    hour: NDArray[np.int64]
    day: NDArray[np.int64]
    month: NDArray[np.int64]
    weekday: NDArray[np.int64]


@dataclass(frozen=True)
class Year:
    """shown: what the clock shows at each minute since `start`; again: minutes whose reading comes once more;
    missing: readings that never come, each with the first minute after its gap."""

    start: datetime
    shown: Walls
    again: NDArray[np.bool_]
    missing: Walls
    after_gap: NDArray[np.int64]


@lru_cache(maxsize=8)
def year_of(zone: str, year: int) -> Year:
    tz = ZoneInfo(zone)
    start = datetime(year, 1, 1, tzinfo=UTC)
    hours = int((datetime(year + 1, 1, 1, tzinfo=UTC) - start) / timedelta(hours=1))
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    first = (start - epoch) // timedelta(minutes=1)
    # Zones shift at full hours of UTC, so that the offset of an hour's beginning holds for all of it.
    offsets = [(start + timedelta(hours=hour)).astimezone(tz).utcoffset() for hour in range(hours)]
    shift = np.repeat([int((offset or timedelta()).total_seconds()) // 60 for offset in offsets], 60)
    wall = np.arange(first, first + hours * 60) + shift
    readings, counts = np.unique(wall, return_counts=True)
    last_seen = {int(reading): int(np.flatnonzero(wall == reading)[-1]) for reading in readings[counts > 1]}
    again = np.zeros(len(wall), dtype=bool)
    for reading, last in last_seen.items():
        showings = np.flatnonzero(wall == reading)
        again[showings[showings != last]] = True
    missing, after_gap = [], []
    for jump in np.flatnonzero(np.diff(wall) > 1):
        for reading in range(int(wall[jump]) + 1, int(wall[jump + 1])):
            missing.append(reading)
            after_gap.append(int(jump) + 1)
    return Year(
        start, _walls(wall), again, _walls(np.array(missing, dtype=np.int64)), np.array(after_gap, dtype=np.int64)
    )


def due_by_minute(cron: Cron, zone: str, year: int) -> list[datetime]:
    """The times of one UTC year."""
    known = year_of(zone, year)
    due = _matches(cron, known.shown)
    if cron.hours is not None:
        due &= ~known.again
        if len(known.after_gap):
            due[known.after_gap[_matches(cron, known.missing)]] = True
    return [known.start + timedelta(minutes=int(minute)) for minute in np.flatnonzero(due)]


def _walls(minutes: NDArray[np.int64]) -> Walls:
    stamps = minutes.astype("datetime64[m]")
    days = stamps.astype("datetime64[D]")
    months = stamps.astype("datetime64[M]")
    return Walls(
        minute=minutes % 60,
        hour=minutes // 60 % 24,
        day=(days - months.astype("datetime64[D]")).astype(np.int64) + 1,
        month=months.astype(np.int64) % 12 + 1,
        weekday=(days.astype(np.int64) + 4) % 7,  # 1 January 1970 was a Thursday
    )


def _matches(cron: Cron, walls: Walls) -> NDArray[np.bool_]:
    matches = _in(walls.minute, cron.minutes, 60)
    if cron.hours is not None:
        matches &= _in(walls.hour, cron.hours, 24)
    if cron.months is not None:
        matches &= _in(walls.month, cron.months, 13)
    in_days = _in(walls.day, cron.days, 32) if cron.days is not None else None
    in_week = _in(walls.weekday, cron.weekdays, 7) if cron.weekdays is not None else None
    if in_days is not None and in_week is not None:
        return matches & (in_days | in_week)
    for restricted in (in_days, in_week):
        if restricted is not None:
            matches &= restricted
    return matches


def _in(values: NDArray[np.int64], wanted: frozenset[int], size: int) -> NDArray[np.bool_]:
    table = np.zeros(size, dtype=bool)
    table[list(wanted)] = True
    result: NDArray[np.bool_] = table[values]
    return result
