"""The five fields of a cron expression, read as Dagster 1.13.27 reads them (its croniter); pure.

What Dagster takes and a person cannot mean is refused here with a sentence, so that both always agree on what is
left: `*` beside other values, a range from a value to itself (croniter: every value), `H`/`R` (hashed or random).
"""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass
from functools import lru_cache

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
MONTH_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)  # the most a month can have
LAST = 0  # "the last one" of a weekday in a month


@dataclass(frozen=True, slots=True)
class Field:
    """Where a field stands, what it is called, its lowest and highest value, and the names of values."""

    name: str
    low: int
    high: int
    names: tuple[str, ...] = ()
    first_name: int = 0


MINUTE = Field("minute", 0, 59)
HOUR = Field("hour", 0, 23)
DAY = Field("day of month", 1, 31)
MONTH = Field("month", 1, 12, MONTHS, 1)
WEEKDAY = Field("day of week", 0, 6, WEEKDAYS, 0)


@dataclass(frozen=True, slots=True)
class CronFields:
    """What each field allows; None: everything (`*`).

    last_day: `L` in the day field; nth: (weekday, n) of `mon#2`, n LAST for `L5`; `every_hour`: the hour is `*`, then
    hours that do not exist are left out and repeated ones come twice; `plain`: one of Dagster's own daily, weekly and
    monthly kinds, which treat a repeated time at other hours than 1 to 3 differently.
    """

    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: frozenset[int] | None
    last_day: bool
    months: frozenset[int] | None
    weekdays: frozenset[int] | None
    nth: frozenset[tuple[int, int]]
    every_hour: bool
    plain: bool


def parse_fields(text: str) -> CronFields:
    """Five fields → CronFields; raises ValueError with a sentence."""
    minute, hour, day, month, weekday = text.lower().split()
    minutes, hours = _parse(MINUTE, minute), _parse(HOUR, hour)
    months = _parse(MONTH, month)
    last_day = "l" in day.split(",")
    days = _parse(DAY, ",".join(part for part in day.split(",") if part != "l")) if day != "l" else frozenset()
    weekday, nth = _take_nth(weekday)
    weekdays = _parse(WEEKDAY, weekday)
    # Every value named is the same as `*`, except where the day fields are joined by "or".
    if days is not None and len(days) == 31 and not last_day and "*" in weekday:
        days = None
    if weekdays is not None and len(weekdays) == 7 and "*" in day:
        weekdays = None
    literal = (weekdays or frozenset()) - {value for value, _ in nth}
    if nth and literal and weekdays is not None and len(weekdays) != 7:
        raise ValueError(f"day of week {weekday!r} mixes plain days with `#` or `L` ones: use two tasks")
    one_time = len(minutes or ()) == 1 and len(hours or ()) == 1
    one_day = days is not None and len(days) == 1 and max(days) <= 28 and not last_day
    fields = CronFields(
        minutes=tuple(sorted(minutes if minutes is not None else range(60))),
        hours=tuple(sorted(hours if hours is not None and len(hours) < 24 else range(24))),
        days=days,
        last_day=last_day,
        months=months if months is None or len(months) < 12 else None,
        weekdays=weekdays,
        nth=nth,
        every_hour=hours is None or len(hours) == 24,
        plain=one_time
        and not nth
        and (months is None or len(months) == 12)
        and ((one_day and weekdays is None) or (days is None and not last_day)),
    )
    _refuse_never(fields, text)
    return fields


@lru_cache(maxsize=8192)
def days_of_month(fields: CronFields, year: int, month: int) -> tuple[int, ...]:
    """The days of a month the fields allow. Day of month and day of week, both restricted: one of them is enough."""
    if fields.months is not None and month not in fields.months:
        return ()
    first, length = calendar.monthrange(year, month)
    by_day = fields.days is not None or fields.last_day
    found = []
    for day in range(1, length + 1):
        in_days = not by_day or day in (fields.days or ()) or (fields.last_day and day == length)
        weekday = (first + day) % 7  # monthrange counts from Monday = 0, cron from Sunday = 0
        if fields.nth:
            # With `#` or `L` of a weekday croniter lets the day of month go, unless the weekday field is full.
            in_nth = (weekday, (day + 6) // 7) in fields.nth or ((weekday, LAST) in fields.nth and day + 7 > length)
            matches = in_nth and (fields.weekdays is not None or in_days)
        elif by_day and fields.weekdays is not None:
            matches = in_days or weekday in fields.weekdays
        else:
            matches = in_days and (fields.weekdays is None or weekday in fields.weekdays)
        if matches:
            found.append(day)
    return tuple(found)


def _refuse_never(fields: CronFields, text: str) -> None:
    """A date that no year has, as 30 February, is refused."""
    if fields.last_day or not fields.days or fields.weekdays is not None or fields.nth:
        return
    months = fields.months or frozenset(range(1, 13))
    if all(min(fields.days) > MONTH_DAYS[month - 1] for month in months):
        raise ValueError(f"{text!r} never comes: no such month has a day {min(fields.days)}")


def _take_nth(text: str) -> tuple[str, frozenset[tuple[int, int]]]:
    """`mon#2,L5` → `mon,5` and {(1, 2), (5, LAST)}."""
    plain: list[str] = []
    nth: set[tuple[int, int]] = set()
    for part in text.split(","):
        if match := re.fullmatch(r"([a-z0-9]+(?:-[a-z]+)?)#(\d+)", part):
            which = int(match[2])
            if not 1 <= which <= 5:
                raise ValueError(f"day of week {part!r}: `#` takes 1 to 5")
            values = _parse_part(WEEKDAY, match[1])
            nth |= {(value, which) for value in values}
            plain.append(",".join(str(value) for value in sorted(values)))
        elif match := re.fullmatch(r"l(\d)", part):
            (value,) = _parse_part(WEEKDAY, match[1])
            nth.add((value, LAST))
            plain.append(str(value))
        else:
            plain.append(part)
    return ",".join(plain), frozenset(nth)


def _parse(field: Field, text: str) -> frozenset[int] | None:
    """The values of one field, None for all of them."""
    if text == "*" or (text == "?" and field in (DAY, WEEKDAY)):
        return None
    values: set[int] = set()
    for part in text.split(","):
        values |= _parse_part(field, part)
    if len(values) == field.high - field.low + 1 and field not in (DAY, WEEKDAY):
        return None
    return frozenset(values)


def _parse_part(field: Field, part: str) -> set[int]:
    """One value, range or step of a field."""
    body, slash, step_text = part.partition("/")
    step = 1
    if slash:
        if not re.fullmatch(r"[0-9]{1,4}", step_text) or int(step_text) == 0:
            raise ValueError(f"{field.name} {part!r}: the step after `/` is a whole number from 1")
        step = int(step_text)
    if body == "*":
        if not slash:
            raise ValueError(f"{field.name}: `*` stands alone, not in a list")
        return set(range(field.low, field.high + 1, step))
    low_text, dash, high_text = body.partition("-")
    low = _value(field, low_text, part)
    if not dash and not slash:
        return {low}
    high = field.high
    if dash:
        high = 31 if field is DAY and high_text == "l" else _value(field, high_text, part)
        if low_text == high_text:
            raise ValueError(f"{field.name} {part!r}: a range from a value to itself; write the value or `*`")
    return _range(field, low, high, step)


def _range(field: Field, low: int, high: int, step: int) -> set[int]:
    """low to high; a range that goes back (`fri-mon`) passes the end, the step counted on from there."""
    if low == high:
        return set(range(field.low, field.high + 1, step))  # 0-7: Sunday to Sunday, the whole week
    if low < high:
        return set(range(low, high + 1, step))
    rest = list(range(low, field.high + 1, step))
    skip = 0
    left = field.high - rest[-1]
    size = field.high - field.low + 1
    if rest[-1] - field.low + step > size and left < step:
        skip = step - left
    return {*rest, *range(field.low + skip, high + 1, step)}


def _value(field: Field, text: str, part: str) -> int:
    """A number or a name; 7 is Sunday too."""
    if text in field.names:
        return field.names.index(text) + field.first_name
    if not re.fullmatch(r"[0-9]{1,4}", text):
        names = f" or {field.names[0]} to {field.names[-1]}" if field.names else ""
        raise ValueError(f"{field.name} {part!r}: takes {field.low} to {field.high}{names}")
    value = 0 if field is WEEKDAY and int(text) == 7 else int(text)
    if not field.low <= value <= field.high:
        raise ValueError(f"{field.name} {part!r}: {text} is outside {field.low} to {field.high}")
    return value
