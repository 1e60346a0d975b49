"""Until when something is to be done, as a day, where a sentence names one. Pure; English and ISO dates."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from typing import Final

_DAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_ISO: Final = re.compile(r"\b(20\d\d)-(\d\d)-(\d\d)\b")
_MONTH_DAY: Final = re.compile(
    r"\b(?:by|until|till|before|on|due)\s(?:the\s)?(?:(?P<d1>\d{1,2})(?:st|nd|rd|th)?\s(?:of\s)?(?P<m1>[a-z]{3,9})"
    r"|(?P<m2>[a-z]{3,9})\s(?P<d2>\d{1,2})(?:st|nd|rd|th)?)\b",
    re.IGNORECASE,
)
_WEEKDAY: Final = re.compile(
    r"\b(?:by|until|till|before|on|due|this|next)\s(?:next\s)?(" + "|".join(_DAYS) + r")\b", re.IGNORECASE
)
_IN: Final = re.compile(r"\bin\s(\d{1,3}|a|an|two|three)\s(day|week|month)s?\b", re.IGNORECASE)
_NUMBER: Final = {"a": 1, "an": 1, "two": 2, "three": 3}
_SPAN: Final = {"day": 1, "week": 7, "month": 30}


def find_due(text: str, said_at: datetime) -> date | None:
    """The day the text names; relative words are counted from the day it was said. None where it names none."""
    said = said_at.date()
    if iso := _ISO.search(text):
        return _date(int(iso[1]), int(iso[2]), int(iso[3]))
    if match := _MONTH_DAY.search(text):
        return _month_day(match["m1"] or match["m2"], int(match["d1"] or match["d2"]), said)
    if match := _WEEKDAY.search(text):
        ahead = (_DAYS.index(match[1].lower()) - said.weekday()) % 7 or 7
        return said + timedelta(days=ahead)
    if re.search(r"\btomorrow\b", text, re.IGNORECASE):
        return said + timedelta(days=1)
    if re.search(r"\b(?:today|tonight)\b", text, re.IGNORECASE):
        return said
    if re.search(r"\bnext week\b", text, re.IGNORECASE):
        return said + timedelta(days=7)
    if re.search(r"\bend of (?:the|this) month\b", text, re.IGNORECASE):
        first = (said.replace(day=28) + timedelta(days=4)).replace(day=1)
        return first - timedelta(days=1)
    if match := _IN.search(text):
        many = _NUMBER.get(match[1].lower()) or int(match[1])
        return said + timedelta(days=many * _SPAN[match[2].lower()])
    return None


def _month_day(month: str, day: int, said: date) -> date | None:
    short = month.lower()[:3]
    if short not in _MONTHS or not _is_month(month):
        return None
    found = _date(said.year, _MONTHS.index(short) + 1, day)
    if found is not None and found < said:  # "by March 3" said in November
        return _date(said.year + 1, found.month, found.day)
    return found


def _is_month(word: str) -> bool:
    full = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
            "november", "december")  # fmt: skip
    return any(name.startswith(word.lower()) for name in full)


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None
