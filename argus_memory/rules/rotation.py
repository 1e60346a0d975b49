"""Which backups to keep: the newest of each of the last days, weeks and months. Pure."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Kept:
    """How many of each are kept; a period without a backup does not count."""

    days: int = 7
    weeks: int = 4
    months: int = 6


def choose_kept(made: Mapping[Key, datetime], kept: Kept) -> set[Key]:
    """The backups to keep, of those by name and time; the newest one always is."""
    newest_first = sorted(made, key=lambda name: made[name], reverse=True)
    chosen: set[Key] = set(newest_first[:1])
    chosen |= _newest_of(newest_first, kept.days, (made[name].date() for name in newest_first))
    chosen |= _newest_of(newest_first, kept.weeks, (made[name].isocalendar()[:2] for name in newest_first))
    chosen |= _newest_of(newest_first, kept.months, ((made[n].year, made[n].month) for n in newest_first))
    return chosen


def _newest_of(names: Iterable[Key], periods: int, period_of: Iterable[Hashable]) -> set[Key]:
    newest: dict[Hashable, Key] = {}
    for name, period in zip(names, period_of, strict=True):
        if period not in newest and len(newest) < periods:
            newest[period] = name
    return set(newest.values())
