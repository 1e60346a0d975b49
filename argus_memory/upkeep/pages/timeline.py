"""The timeline as a page: events of notes, how many a day, and those of no known project. Reading changes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo
from typing import Any, Final, LiteralString

from argus_memory.db import Database, queries
from argus_memory.upkeep.history import check_window, just_after, names_of
from argus_memory.upkeep.pages.keyset import Slice, Sort, Wanted, compose, cut, page_params

SORTS: Final = (
    Sort("newest", "Newest first", "e.at", id="e.id"),
    Sort("oldest", "Oldest first", "e.at", descending=False, id="e.id"),
)
# What the triggers of note_events write, without `shown`.
EVENTS: Final = (
    "created", "reinforced", "weakened", "confirmed", "reworded", "revised", "dated", "refined", "superseded",
    "merged", "corrected", "redistilled", "held", "approved", "rejected", "auto-approved", "undone", "pinned",
    "unpinned", "excluded", "included", "forgotten", "restored", "redacted", "moved", "exported", "removed",
)  # fmt: skip
DAYS: Final = 30  # of the plot


@dataclass(frozen=True, slots=True)
class Filters:
    """`project` by any name it had."""

    since: datetime
    until: datetime
    project: str | None = None
    event: str | None = None
    actor: str | None = None


@dataclass(frozen=True, slots=True)
class Day:
    """Events of a day of the viewer's zone, by kind."""

    day: date
    kinds: Mapping[str, int]

    @property
    def total(self) -> int:
        return sum(self.kinds.values())


@dataclass(frozen=True, slots=True)
class TimelinePage:
    """`events`: rows with the note's text right after each; `days`: the last DAYS before the window's end, oldest
    first; `unattributed`: events of the window whose note belongs to no known project."""

    events: Slice[Mapping[str, Any]]
    days: tuple[Day, ...]
    unattributed: int
    projects: tuple[str, ...]


def find_projects(db: Database) -> tuple[str, ...]:
    """Names to choose from."""
    return tuple(row["name"] for row in db.fetch_all(queries("pages_timeline").project_names))


def find_timeline(db: Database, filters: Filters, *, wanted: Wanted, zone: tzinfo, now: datetime) -> TimelinePage:
    """Raises NotFound for a project that does not exist, UsageError for a window that ends before it begins."""
    check_window(filters.since, filters.until)
    q, h = queries("pages_timeline"), queries("history")
    last = min(filters.until, just_after(now))
    first = max(filters.since, last - timedelta(days=DAYS))
    with db.transaction() as conn:
        names = names_of(conn, filters.project)
        of_project: LiteralString = "true" if names is None else "e.project = any(%(projects)s)"
        params: dict[str, Any] = {
            "since": filters.since, "until": filters.until, "event": filters.event, "actor": filters.actor,
            "projects": names, "events": [filters.event] if filters.event else None,
        }  # fmt: skip
        listing = compose(q.events.replace("{of_project}", of_project), wanted)
        rows = conn.execute(listing, page_params(params, wanted), prepare=False).fetchall()
        total = conn.execute(q.count_events.replace("{of_project}", of_project), params, prepare=False).fetchone()
        page = cut(rows, total["total"] if total else 0, wanted)
        ids = [row["id"] for row in page.rows]
        entries = {row["id"]: row for row in conn.execute(h.timeline_entries, {"ids": ids})}
        unattributed = conn.execute(h.unattributed, params, prepare=False).fetchone()
        by_day = conn.execute(
            q.events_by_day.replace("{of_project}", of_project),
            {**params, "since": first, "until": last, "zone": getattr(zone, "key", "UTC")},
            prepare=False,
        ).fetchall()
    counts: dict[date, dict[str, int]] = {}
    for row in by_day:
        counts.setdefault(row["day"], {})[row["event"]] = row["number"]
    return TimelinePage(
        Slice([entries[row["id"]] for row in page.rows if row["id"] in entries], page.total, page.next),
        _days(counts, first.astimezone(zone).date(), last.astimezone(zone).date()) if last > first else (),
        unattributed["events"] if unattributed else 0,
        find_projects(db),
    )


def _days(counts: Mapping[date, Mapping[str, int]], first: date, last: date) -> tuple[Day, ...]:
    """Every day, those without an event too."""
    every = [first + timedelta(days=n) for n in range((last - first).days + 1)]
    return tuple(Day(day, counts.get(day, {})) for day in every)
