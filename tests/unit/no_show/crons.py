"""Random cron expressions for property tests, with their values kept beside the text, and a count minute by minute."""

from __future__ import annotations

import calendar
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from random import Random
from zoneinfo import ZoneInfo

# Clocks change between 1 and 3 o'clock, or never.
PLAIN_ZONES = (
    "UTC", "Europe/Berlin", "Europe/London", "Europe/Dublin", "America/New_York", "America/Los_Angeles",
    "Australia/Sydney", "Asia/Kolkata", "Asia/Tokyo", "Africa/Casablanca", "America/Sao_Paulo",
)  # fmt: skip
# Clocks change around midnight, or at a quarter to three.
ODD_ZONES = (
    "America/Havana", "Asia/Beirut", "Africa/Cairo", "America/Santiago", "America/Nuuk", "Atlantic/Azores",
    "Pacific/Chatham", "America/Asuncion", "Asia/Amman",
)  # fmt: skip


@dataclass(frozen=True)
class Cron:
    """The text and what it means; None: everything."""

    text: str
    minutes: frozenset[int]
    hours: frozenset[int] | None
    days: frozenset[int] | None
    months: frozenset[int] | None
    weekdays: frozenset[int] | None


def random_cron(random: Random) -> Cron:
    """Mostly the shapes people write, now and then a wild one; always one that comes at least once in some years."""
    minutes, minute_text = _random_field(random, 0, 59, everything=0.1, single=0.5)
    hours, hour_text = _random_field(random, 0, 23, everything=0.3, single=0.5)
    days, day_text = _random_field(random, 1, 31, everything=0.6, single=0.2)
    months, month_text = _random_field(random, 1, 12, everything=0.7, single=0.1)
    weekdays, weekday_text = _random_field(random, 0, 6, everything=0.6, single=0.2)
    if days is not None and weekdays is None and months is not None and min(days) > 28:
        days, day_text = frozenset({28}), "28"
    return Cron(
        f"{minute_text} {hour_text} {day_text} {month_text} {weekday_text}",
        minutes if minutes is not None else frozenset(range(60)),
        hours, days, months, weekdays,
    )  # fmt: skip


def _random_field(
    random: Random, low: int, high: int, *, everything: float, single: float
) -> tuple[frozenset[int] | None, str]:
    dice = random.random()
    if dice < everything:
        return None, "*"
    if dice < everything + single:
        value = random.randint(low, high)
        return frozenset({value}), str(value)
    kind = random.choice(("list", "range", "step", "ranged step"))
    if kind == "list":
        values = frozenset(random.sample(range(low, high + 1), random.randint(2, min(5, high - low))))
        return values, ",".join(map(str, sorted(values)))
    if kind == "step":
        step = random.randint(2, max(2, (high - low) // 2))
        return frozenset(range(low, high + 1, step)), f"*/{step}"
    first = random.randint(low, high - 1)
    last = random.randint(first + 1, high)
    if (first, last) == (low, high):
        last -= 1
    if first == last:
        return frozenset({first}), str(first)
    step = random.randint(1, 3) if kind == "ranged step" else 1
    return frozenset(range(first, last + 1, step)), f"{first}-{last}/{step}" if step > 1 else f"{first}-{last}"


def count_by_minute(cron: Cron, zone: str, after: datetime, until: datetime) -> list[datetime]:
    """The slow, simple answer for zones whose clocks change between 1 and 3 o'clock.

    Walks real minutes; a restricted hour's time that the wall clock never shows is due when the gap ends, one that it
    shows twice at the second showing; with any hour every showing counts.
    """
    tz = ZoneInfo(zone)
    shown: dict[datetime, datetime] = {}
    found: set[datetime] = set()
    previous: datetime | None = None
    at = (after - timedelta(days=2)).replace(second=0, microsecond=0)
    end = until + timedelta(days=2)
    while at <= end:
        wall = at.astimezone(tz).replace(tzinfo=None)
        if previous is not None and wall - previous > timedelta(minutes=1) and cron.hours is not None:
            missing = previous + timedelta(minutes=1)
            while missing < wall:
                if _matches(cron, missing):
                    found.add(at)
                missing += timedelta(minutes=1)
        if _matches(cron, wall):
            if cron.hours is not None and wall in shown:
                found.discard(shown[wall])
            shown[wall] = at
            found.add(at)
        previous = wall
        at += timedelta(minutes=1)
    return sorted(each for each in found if after < each <= until)


def _matches(cron: Cron, wall: datetime) -> bool:
    if wall.minute not in cron.minutes or (cron.hours is not None and wall.hour not in cron.hours):
        return False
    if cron.months is not None and wall.month not in cron.months:
        return False
    weekday = (calendar.weekday(wall.year, wall.month, wall.day) + 1) % 7
    if cron.days is not None and cron.weekdays is not None:
        return wall.day in cron.days or weekday in cron.weekdays
    return (cron.days is None or wall.day in cron.days) and (cron.weekdays is None or weekday in cron.weekdays)


@cache
def changes_of(zone: str, year: int) -> tuple[datetime, ...]:
    """Hours of a year before which the zone's clock was changed."""
    tz = ZoneInfo(zone)
    hours = [datetime(year, 1, 1, tzinfo=UTC) + timedelta(hours=hour) for hour in range(366 * 24)]
    offsets = [hour.astimezone(tz).utcoffset() for hour in hours]
    return tuple(hour for hour, before, now in zip(hours[1:], offsets, offsets[1:], strict=False) if before != now)
