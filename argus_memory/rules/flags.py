"""What a question says besides its words: a time it asks for, a day it names, a person it names. English.

Kept apart from ranking, which only weighs the flags.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta

MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip

# Words that tell when something happened; matched against a turn's lexemes. "may" and "march" are left out of the
# months on purpose: as words they are mostly no month.
TIME_WORDS = (
    "yesterday", "today", "tomorrow", "ago", "last", "next", "week", "weekend", "month", "year", "day",
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "since", "morning", "night",
    "tonight", "recently", "summer", "winter", "spring", "january", "february", "april", "june", "july", "august",
    "september", "october", "november", "december",
)  # fmt: skip

_MONTH = re.compile(
    rf"\b({'|'.join(MONTHS)}|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b\.?", re.IGNORECASE
)
_DAY = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th)?\b")
_YEAR = re.compile(r"\b((?:19|20)\d\d)\b")
_ISO = re.compile(r"\b(\d{4})-(\d\d)(?:-(\d\d))?\b")
_ASKS_TIME = re.compile(r"\b(when|how long|since when|what (?:date|day|month|year|time))\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_][\w'-]*")


@dataclass(frozen=True, slots=True)
class NamedTime:
    """What a question names of a date; None where it says nothing. `days` are all numbers that could be a day."""

    months: frozenset[int]
    days: frozenset[int]
    years: frozenset[int]
    exact: frozenset[date]

    def match(self, said_at: datetime) -> float:
        """1 for the named month (and day), 0.5 when the day differs, 0 otherwise and where nothing is named."""
        if said_at.date() in self.exact:
            return 1.0
        if said_at.month not in self.months or (self.years and said_at.year not in self.years):
            return 0.0
        return 1.0 if not self.days or said_at.day in self.days else 0.5


def find_named_time(question: str, now: datetime) -> NamedTime:
    """Months by name or in 2026-05-08, days beside them, "today" and "yesterday" as of `now`."""
    months: set[int] = set()
    days: set[int] = set()
    years = {int(year) for year in _YEAR.findall(question)}
    for year, month, day in _ISO.findall(question):
        if 1 <= int(month) <= 12:
            months.add(int(month))
            years.add(int(year))
            days |= {int(day)} if day else set()
    named = [match.group(1).lower() for match in _MONTH.finditer(question) if not _is_verb(match, question)]
    months |= {next(i for i, month in enumerate(MONTHS, 1) if month.startswith(name[:3])) for name in named}
    if named:
        days |= {int(day) for day in _DAY.findall(question) if 1 <= int(day) <= 31}
    exact = set()
    lowered = question.lower()
    if re.search(r"\btoday\b", lowered):
        exact.add(now.date())
    if re.search(r"\byesterday\b", lowered):
        exact.add(now.date() - timedelta(days=1))
    return NamedTime(frozenset(months), frozenset(days), frozenset(years), frozenset(exact))


def _is_verb(match: re.Match[str], question: str) -> bool:
    """`may` and `march` in small letters are no months ("what may I…"), nor is a sentence that begins with May."""
    word = match.group(1)
    return word.lower() in ("may", "march", "mar") and (word.islower() or match.start() == 0) and bool(question)


def asks_for_time(question: str) -> bool:
    """Whether it asks when or how long."""
    return _ASKS_TIME.search(question) is not None


def find_name_words(question: str) -> tuple[str, ...]:
    """Words that may be someone's name, in small letters: every word, since people type names in small letters too.

    A possessive's ending is cut; at most 40 different words of at least two letters.
    """
    words = (word.lower().removesuffix("'s").removesuffix("’s") for word in _WORD.findall(question.replace("’", "'")))
    return tuple(dict.fromkeys(word for word in words if len(word) > 1))[:40]
