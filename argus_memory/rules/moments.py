"""A day or moment as a person writes it: `2026-03-01`, `march`, `yesterday`, `90d`. Pure; days are UTC's."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from argus_memory.errors import UsageError
from argus_memory.rules.flags import MONTHS

ACCEPTED: Final = "2026-03-01, 2026-03-01T14:30, 2026-03, march, today, yesterday, 90d, 12h or 6w (so long ago)"
_AGO: Final = re.compile(r"(\d{1,4})\s*([hdw])(?:\s+ago)?")
_MONTH: Final = re.compile(r"(\d{4})-(\d\d)")
_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d")
_UNIT: Final = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


def parse_moment(text: str, *, name: str, now: datetime, end: bool = False) -> datetime:
    """The moment in UTC; of a whole day or month its beginning, or with `end` the beginning of the one after it.

    A month's name is the latest one that has begun. Raises UsageError that begins with `name`.
    """
    word = text.strip().lower()
    today = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    try:
        if word in ("today", "yesterday"):
            day = today - timedelta(days=word == "yesterday")
            return day + timedelta(days=1) if end else day
        if match := _AGO.fullmatch(word):
            return now.astimezone(UTC) - int(match[1]) * _UNIT[match[2]]
        if match := _MONTH.fullmatch(word):
            return _month(datetime(int(match[1]), int(match[2]), 1, tzinfo=UTC), end)
        if len(word) >= 3 and (found := [n for n, month in enumerate(MONTHS, 1) if month.startswith(word)]):
            year = today.year if found[0] <= today.month else today.year - 1
            return _month(datetime(year, found[0], 1, tzinfo=UTC), end)
        moment = datetime.fromisoformat(text.strip())
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
        return moment + timedelta(days=1) if end and _DAY.fullmatch(word) else moment
    except (ValueError, OverflowError):
        raise UsageError(f"{name}: {text!r} is no day or moment; accepted: {ACCEPTED}") from None


def parse_as_of(text: str | None, *, name: str, now: datetime) -> datetime | None:
    """The last moment of what is named, but not after `now` unless all of it is; None without a word."""
    if not text:
        return None
    first = parse_moment(text, name=name, now=now)
    after = parse_moment(text, name=name, now=now, end=True)
    last = after - timedelta(microseconds=1) if after > first else first
    return min(last, now) if first <= now else last


def _month(first: datetime, end: bool) -> datetime:
    return (first + timedelta(days=32)).replace(day=1) if end else first
