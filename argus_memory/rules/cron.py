"""When a schedule is due: our own calculation, with exactly the semantics of Dagster 1.13.27; pure, no clock.

    a time that does not exist (clocks go forward)   at the end of the gap; where the hour is `*`: not at all
    a time that comes twice (clocks go back)         the second time; where the hour is `*`: both times
    day of month and day of week, both restricted    either is enough
    29 February                                      in leap years
    @every 90m                                       multiples of the span since 1970-01-01T00:00Z, whatever the zone

Held against dagster._utils.schedules.cron_string_iterator and against a count minute by minute in
tests/unit/no_show. Not followed: what Dagster does in a zone that shifts by half an hour (Lord Howe, where its answer
depends on the season in which its process was started); the wall clock decides here.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from itertools import islice
from zoneinfo import ZoneInfo

from argus_memory.option_values import parse_duration
from argus_memory.rules.cron_fields import CronFields, days_of_month, parse_fields

ALIASES = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
EVERY_MIN = timedelta(minutes=1)  # the sensor that starts them looks every 30 s
SEARCH = timedelta(days=366 * 50)  # as far as Dagster looks ahead for the next time
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
EPOCH_DAY = date(1970, 1, 1).toordinal()
DAY_SECONDS = 86400
# At these hours Dagster's own daily, weekly and monthly kinds look for a changed clock; its others do at every hour
# for repeated times, and at these for missing ones.
SHIFT_HOURS = (1, 2, 3)


@dataclass(frozen=True, slots=True)
class Schedule:
    """A schedule as written, and one of: the five fields for Dagster, or the span of `@every`."""

    text: str
    cron: str | None
    every: timedelta | None
    fields: CronFields | None


@lru_cache(maxsize=1024)
def parse_schedule(text: str) -> Schedule:
    """5 fields, 6 with seconds first where they are 0, an @word, or `@every 90m`; ValueError with a sentence."""
    words = text.split()
    if not words:
        raise ValueError("the schedule is empty: write five cron fields, @daily or @every 90m")
    first = words[0].lower()
    if first == "@every":
        return _parse_every(text, words)
    if first.startswith("@"):
        if len(words) == 1 and first in ALIASES:
            return Schedule(text, ALIASES[first], None, parse_fields(ALIASES[first]))
        raise ValueError(f"{text!r} is not known: use {', '.join(ALIASES)} or @every 90m")
    if "=" in first:
        raise ValueError(f"{words[0]!r} does not belong into a schedule: write `timezone = …` in the stanza")
    if len(words) == 6:
        if words[0] not in ("0", "00"):
            raise ValueError(f"{text!r} has seconds other than 0 ({words[0]!r}): Argus starts tasks on the minute")
        words = words[1:]
    if len(words) != 5:
        raise ValueError(f"{text!r} has {len(words)} fields: write minute, hour, day of month, month and day of week")
    cron = " ".join(words)
    return Schedule(text, cron, None, parse_fields(cron))


def _parse_every(text: str, words: list[str]) -> Schedule:
    try:
        every = parse_duration("".join(words[1:]))
    except ValueError as error:
        raise ValueError(f"{text!r}: {error}; write a span as in @every 90m or @every 1h30m") from None
    if every < EVERY_MIN:
        raise ValueError(f"{text!r} is shorter than a minute: Argus starts tasks on the minute at most")
    return Schedule(text, None, every, None)


def occurrences(schedule: Schedule, zone: str, after: datetime, until: datetime) -> Iterator[datetime]:
    """The times with after < t <= until, UTC, ascending, each once. `zone` is an IANA name."""
    if schedule.every is not None:
        at = EPOCH + ((after - EPOCH) // schedule.every + 1) * schedule.every
        while at <= until:
            yield at
            at += schedule.every
        return
    assert schedule.fields is not None
    after_second, until_second = _floor_second(after), _floor_second(until)
    tz = ZoneInfo(zone)
    last = after_second
    for day in _days(schedule.fields, after.astimezone(tz).date(), until.astimezone(tz).date()):
        for second in _seconds_of_day(schedule.fields, tz, day, last):
            # A time moved out of a gap at midnight may meet the next day's: each moment once, and never backwards.
            if second <= last:
                continue
            if second > until_second:
                return
            last = second
            yield datetime.fromtimestamp(second, UTC)


def next_occurrences(schedule: Schedule, zone: str, after: datetime, count: int) -> list[datetime]:
    """The next `count` times after `after`; fewer when there are no more within 50 years."""
    return list(islice(occurrences(schedule, zone, after, after + SEARCH), count))


def _floor_second(at: datetime) -> int:
    return (at - EPOCH) // timedelta(seconds=1)


def _days(fields: CronFields, first: date, last: date) -> Iterator[date]:
    """Matching local days from the day before `first` (its times may be moved past midnight) to `last`."""
    start = first - timedelta(days=1)
    year, month = start.year, start.month
    while (year, month) <= (last.year, last.month):
        for number in days_of_month(fields, year, month):
            day = date(year, month, number)
            if start <= day <= last:
                yield day
        year, month = (year + 1, 1) if month == 12 else (year, month + 1)


@lru_cache(maxsize=1024)
def _times_of_day(hours: tuple[int, ...], minutes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(hour * 3600 + minute * 60 for hour in hours for minute in minutes)


def _seconds_of_day(fields: CronFields, tz: ZoneInfo, day: date, after: int) -> Iterator[int]:
    """Epoch seconds of a local day's times; those up to `after` may be left out."""
    times = _times_of_day(fields.hours, fields.minutes)
    midnight = datetime(day.year, day.month, day.day, tzinfo=tz)
    next_midnight = midnight + timedelta(days=1)
    offset = midnight.utcoffset()
    assert offset is not None
    if offset == next_midnight.utcoffset():
        base = (day.toordinal() - EPOCH_DAY) * DAY_SECONDS - round(offset.total_seconds())
        for index in range(bisect_right(times, after - base), len(times)):
            yield base + times[index]
    elif fields.every_hour:
        yield from _by_the_minute(fields.minutes, tz, midnight, next_midnight)
    else:
        walls = (midnight + timedelta(seconds=time) for time in times)
        yield from sorted({_second_of(wall, fields.plain) for wall in walls})


def _by_the_minute(minutes: tuple[int, ...], tz: ZoneInfo, midnight: datetime, end: datetime) -> Iterator[int]:
    """On a day on which the clock is changed: every minute that the clock on the wall really shows."""
    day, wanted = midnight.date(), frozenset(minutes)
    first = int(midnight.timestamp()) // 60 * 60 - 4 * 3600
    for second in range(first, int(end.timestamp()) + 4 * 3600, 60):
        wall = datetime.fromtimestamp(second, tz)
        if wall.date() == day and wall.minute in wanted:
            yield second


def _second_of(wall: datetime, plain: bool) -> int:
    """The moment a wall-clock time stands for, as Dagster resolves missing and repeated ones."""
    before, later = wall.utcoffset(), wall.replace(fold=1).utcoffset()
    assert before is not None
    assert later is not None
    if before < later and wall.hour in SHIFT_HOURS:  # it does not exist: the end of the gap
        shift = (wall + timedelta(hours=1)).dst() or timedelta()
        return int((wall.replace(minute=0) + shift).timestamp())
    if before > later and (not plain or wall.hour in SHIFT_HOURS):  # it comes twice: the second time
        return int(wall.replace(fold=1).timestamp())
    return int(wall.timestamp())
