"""When a limit is over, out of what an engine says about it. Pure: `now` and the zone are parameters.

    1749924000, 1749924000000                               epoch, also behind a `|`
    2026-04-28T22:03:00Z
    try again in 2 days 3 hours 5 minutes · resets_in_seconds: 3600
    resets 3:45pm · resets 4pm (Europe/Berlin) · try again at 12:16 PM · resets at 15:45
    resets Mon 12:00am
    resets Oct 6, 1pm (Europe/Vienna) · try again at Apr 28th, 2026 10:03 PM

A time of day without a date is the next one; one that passed less than PASSED ago is taken for now, because the
message was written before it was read.
"""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final
from zoneinfo import ZoneInfo

PASSED: Final = timedelta(minutes=5)
FARTHEST: Final = timedelta(days=62)  # a reset further away than that was misread
_EPOCH_MIN: Final = 1_000_000_000
_MILLISECONDS_FROM: Final = 100_000_000_000

_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_LEAD: Final = r"(?:resets?(?:ting)?|try again|available again|retry)\s*(?:at|on|after|:)?\s*"
_CLOCK: Final = r"(?P<hour>\d{1,2})(?:[:.](?P<minute>\d{2}))?(?::\d{2})?\s*(?P<half>[ap]\.?m\b\.?)?"
_ZONE: Final = r"(?:\s*\(?(?P<zone>UTC|GMT|[A-Z][A-Za-z_]+(?:/[A-Za-z0-9_+-]+)+)\)?)?"
_DATE: Final = (
    rf"(?P<month>{'|'.join(_MONTHS)})[a-z]*\.?\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?"
    r"(?:,?\s+(?P<year>20\d\d))?(?:,|\s+at)?\s+"
)
_WEEKDAY: Final = rf"(?:(?P<weekday>{'|'.join(_DAYS)})[a-z]*\.?,?\s+(?:at\s+)?)"
_SPOKEN: Final = re.compile(rf"{_LEAD}(?:{_DATE}|{_WEEKDAY})?{_CLOCK}{_ZONE}", re.IGNORECASE)
_ISO: Final = re.compile(r"\b20\d\d-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?")
_EPOCH: Final = re.compile(r"(?<![\d.])(\d{10}|\d{13})(?![\d.])")
_SPAN: Final = re.compile(
    r"(?:try again|resets?|retry|available again)\s+(?:in|after)\s+((?:(?:about\s+)?\d+(?:\.\d+)?\s*"
    r"(?:days?|d|hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s)\b[\s,]*(?:and\s+)?)+)",
    re.IGNORECASE,
)
_PART: Final = re.compile(r"(\d+(?:\.\d+)?)\s*([dhms])", re.IGNORECASE)
_UNITS: Final = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}


def from_epoch(value: object) -> datetime | None:
    """Seconds or milliseconds since 1970 as a time; None for anything that is not one of this age."""
    if isinstance(value, str) and re.fullmatch(r"\d{10,13}(?:\.\d+)?", value):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    seconds = value / 1000 if value >= _MILLISECONDS_FROM else value
    if not _EPOCH_MIN <= seconds < 4 * _EPOCH_MIN:
        return None
    return datetime.fromtimestamp(seconds, UTC)


def parse_reset(text: str, now: datetime, zone: tzinfo) -> datetime | None:
    """The UTC time a text names as the end of a limit, at least `now` - PASSED and at most FARTHEST away.

    `zone` is that of times which name none: the engine's own. None when no such time is named.
    """
    for found in (_from_span(text, now), _from_iso(text, zone), _from_number(text), _from_spoken(text, now, zone)):
        if found is not None and now - PASSED <= found <= now + FARTHEST:
            return found
    return None


def _from_span(text: str, now: datetime) -> datetime | None:
    spoken = _SPAN.search(text)
    if spoken is None:
        return None
    seconds = sum(float(number) * _UNITS[unit.lower()] for number, unit in _PART.findall(spoken.group(1)))
    return now + timedelta(seconds=min(seconds, FARTHEST.total_seconds() + 1))


def _from_iso(text: str, zone: tzinfo) -> datetime | None:
    found = _ISO.search(text)
    if found is None:
        return None
    try:
        value = datetime.fromisoformat(found.group())
        return _utc(value if value.tzinfo else value.replace(tzinfo=zone))
    except (ValueError, OverflowError):
        return None


def _from_number(text: str) -> datetime | None:
    found = _EPOCH.search(text)
    return from_epoch(found.group()) if found else None


def _from_spoken(text: str, now: datetime, zone: tzinfo) -> datetime | None:
    """The first spoken time of the text that is one."""
    for spoken in _SPOKEN.finditer(text):
        clock = _clock(spoken)
        if clock is None:
            continue
        hour, minute = clock
        here = now.astimezone(_named_zone(spoken["zone"]) or zone)
        try:
            if spoken["month"]:
                return _on_date(spoken, here, hour, minute)
            return _next(here, hour, minute, spoken["weekday"])
        except (ValueError, OverflowError):
            continue
    return None


def _clock(spoken: re.Match[str]) -> tuple[int, int] | None:
    """24-hour clock; None for a bare number ("try again 3 times") and for what no clock shows."""
    hour, minute, half = int(spoken["hour"]), int(spoken["minute"] or 0), (spoken["half"] or "").lower()
    if not half and spoken["minute"] is None:
        return None
    if half:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half.startswith("p") else 0)
    return (hour, minute) if hour < 24 and minute < 60 else None


def _named_zone(name: str | None) -> tzinfo | None:
    if not name:
        return None
    if name.upper() in ("UTC", "GMT"):
        return UTC
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return None


def _next(here: datetime, hour: int, minute: int, weekday: str | None) -> datetime:
    """The next such time of day, on that weekday where one is named; wall clock of `here`'s zone."""
    earliest = _utc(here) - PASSED
    day = here.date() - timedelta(days=1)
    wanted = None if weekday is None else _DAYS.index(weekday[:3].lower())
    while True:
        at = _utc(datetime(day.year, day.month, day.day, hour, minute, tzinfo=here.tzinfo))
        if at >= earliest and wanted in (None, day.weekday()):
            return at
        day += timedelta(days=1)


def _on_date(spoken: re.Match[str], here: datetime, hour: int, minute: int) -> datetime:
    month, day = _MONTHS.index(spoken["month"][:3].lower()) + 1, int(spoken["day"])
    if spoken["year"]:
        return _utc(datetime(int(spoken["year"]), month, day, hour, minute, tzinfo=here.tzinfo))
    years = [year for year in (here.year - 1, here.year, here.year + 1) if day <= monthrange(year, month)[1]]
    for year in years:  # around the turn of a year
        at = _utc(datetime(year, month, day, hour, minute, tzinfo=here.tzinfo))
        if at >= _utc(here) - PASSED:
            return at
    raise ValueError("no such day ahead")


def _utc(value: datetime) -> datetime:
    return value.astimezone(UTC)
