"""What has become due since the last pass, as rows of the ledger."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import islice

from psycopg.rows import DictRow

from argus_memory.db import Database, queries
from argus_memory.rules.cron import next_occurrences, occurrences, parse_schedule

# Dagster needs a moment to start a schedule that was just loaded: nothing due in this span is expected.
REGISTRATION_MARGIN = timedelta(seconds=90)
# After a long absence a task of every minute has half a million rows a year to come: so many a pass and schedule.
ENTER_MAX = 5_000
INSTANT = timedelta(microseconds=1)

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Entries:
    """entered: new rows. unreadable: schedules nobody can read, a sentence each."""

    entered: int
    unreadable: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Due:
    """The occurrences of one schedule that are not entered yet, and up to where they are complete."""

    id: int
    dues: tuple[datetime, ...]
    until: datetime


def enter_due(db: Database, *, now: datetime, by: str) -> Entries:
    """Enter every occurrence up to `now` of every schedule in the time it was in force; rows that are there stay."""
    q = queries("ledger")
    found: list[_Due] = []
    unreadable: list[str] = []
    for row in db.fetch_all(q.unentered_schedules):
        try:
            due = _find_due(row, now)
        except (ValueError, KeyError, OSError) as error:  # a zone the system no longer has is a KeyError
            unreadable.append(f"the schedule of task {row['task']} cannot be read: {error}")
            log.error("the schedule of task %s cannot be read (%s); run argus reload", row["task"], error)
            continue
        if due is not None:
            found.append(due)
    if not found:
        return Entries(0, tuple(unreadable))
    pairs = [(due.id, at) for due in found for at in due.dues]
    with db.transaction() as conn:
        params = {"schedules": [p[0] for p in pairs], "dues": [p[1] for p in pairs], "now": now, "by": by}
        entered = len(conn.execute(q.enter_occurrences, params).fetchall()) if pairs else 0
        conn.execute(q.note_entered, {"ids": [d.id for d in found], "untils": [d.until for d in found]})
    return Entries(entered, tuple(unreadable))


def _find_due(row: DictRow, now: datetime) -> _Due | None:
    """None where there is nothing to note."""
    start = row["from_at"] + REGISTRATION_MARGIN
    after = max(start, row["entered_until"]) if row["entered_until"] else start
    closed = row["until_at"] is not None and row["until_at"] <= now
    # An occurrence at the moment of a change belongs to the schedule that comes.
    until = row["until_at"] - INSTANT if closed else now
    first = next_due(row["schedule"], row["timezone"], after)
    if first is None or first > until:
        return _Due(row["id"], (), row["until_at"]) if closed else None
    dues = tuple(
        islice(occurrences(parse_schedule(row["schedule"]), row["timezone"], first - INSTANT, until), ENTER_MAX)
    )
    whole = len(dues) < ENTER_MAX
    return _Due(row["id"], dues, row["until_at"] if closed and whole else dues[-1])


@lru_cache(maxsize=4096)
def next_due(schedule: str, zone: str, after: datetime) -> datetime | None:
    """The first occurrence after `after`; kept, because every pass asks the same until it is due."""
    found = next_occurrences(parse_schedule(schedule), zone, after, 1)
    return found[0] if found else None
