"""The overview: every stage and everything that watches, each with its state, its figure and its last day; then tasks
and what waits for a person.

States are those of watch/health.py, asked at this moment; bars come from `health_samples` and the stages' own tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Literal

import psycopg

from argus_memory.db import Database, queries
from argus_memory.errors import Unreachable
from argus_memory.records import TaskList
from argus_memory.settings import Settings
from argus_memory.stages.spaces import EMBED_ATTEMPTS
from argus_memory.tasks.overview import TaskRow, find_overview
from argus_memory.watch.audits import STAGES
from argus_memory.watch.beats import DAGSTER, SENDER, WATCHDOG, Beat, find_beats, is_silent
from argus_memory.watch.health import check_health
from argus_memory.watch.health_judge import Check, Status, age_of, overall
from argus_memory.watch.health_judge_watch import is_starting

HOURS: Final = 24
WITHOUT_DATABASE: Final = "tasks, plots and what waits for a person cannot be read without the database"
RECALL_LEAST: Final = 5  # recalls of a day below which a share says nothing
Group = Literal["memory", "watch", "ground"]

# In the order a turn travels; then who watches; then what all of it stands on.
ROWS: Final[tuple[tuple[str, Group, str], ...]] = (
    ("capture", "memory", "turns arrive from hooks and imports"),
    ("segment", "memory", "conversations are cut into episodes"),
    ("distill", "memory", "episodes become notes"),
    ("embed", "memory", "turns and notes get vectors"),
    ("dedup", "memory", "notes that say the same are settled"),
    ("recall", "memory", "prompts get what is on record"),
    ("watchdog", "watch", "the watchdog in the API"),
    ("dagster-watchdog", "watch", "the watchdog in Dagster"),
    ("canary", "watch", "a probe from hook to recall"),
    ("hooks", "watch", "machines report what they capture"),
    ("outbox", "watch", "messages go out"),
    ("tasks", "watch", "what was due did run"),
    ("backups", "watch", "there is a backup that was restored once"),
    ("database", "ground", "Postgres answers"),
    ("migrations", "ground", "the schema is this version's"),
    ("dagster", "ground", "daemons beat and the code is loaded"),
    ("disk", "ground", "there is room"),
)
_WATCHERS: Final = {"watchdog": WATCHDOG, "dagster-watchdog": DAGSTER, "outbox": SENDER}
_SEVERITY: Final[Sequence[str]] = ("ok", "unknown", "warn", "failed")


@dataclass(frozen=True, slots=True)
class Bar:
    """An hour: its worst status (None: nothing is known of it) and what was done in it (None: nothing is counted)."""

    hours_ago: int
    status: Status | None
    amount: int | None


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the overview; `bars` oldest first."""

    name: str
    group: Group
    meaning: str
    check: Check
    bars: tuple[Bar, ...]

    @property
    def done(self) -> int | None:
        """What the stage did in the last day."""
        amounts = [bar.amount for bar in self.bars if bar.amount is not None]
        return sum(amounts) if amounts else None


@dataclass(frozen=True, slots=True)
class WaitingFor:
    """Things of one kind that only a person moves on."""

    what: str
    count: int
    since: datetime | None


@dataclass(frozen=True, slots=True)
class Overview:
    """`broken`: why the tasks or the lists below them could not be read, if so."""

    rows: tuple[Row, ...]
    tasks: tuple[TaskRow, ...]
    waiting: tuple[WaitingFor, ...]
    is_down: bool
    broken: str | None = None

    @property
    def to_look_at(self) -> tuple[Row, ...]:
        """What is not well, the worst first."""
        wrong = [row for row in self.rows if not row.check.is_well]
        return tuple(sorted(wrong, key=lambda row: -_SEVERITY.index(row.check.status)))

    @property
    def headline(self) -> str:
        """One sentence for who has five seconds."""
        wrong = self.to_look_at
        if self.is_down:
            names = ", ".join(row.name for row in wrong if row.check.status == "failed")
            return f"Argus is down: {names} failed, nothing can be captured"
        if not wrong:
            return "All is well"
        names = ", ".join(row.name for row in wrong)
        return f"{len(wrong)} {'thing needs' if len(wrong) == 1 else 'things need'} a look: {names}"


def find_page(db: Database, settings: Settings, task_list: TaskList, *, now: datetime) -> Overview:
    """The whole page. Never raises for what is wrong: a database that is away is what the page then says."""
    checks = check_health(db, settings, now=now)
    is_down = overall(checks) == "down"
    bars: dict[str, tuple[Bar, ...]] = {}
    tasks: list[TaskRow] = []
    waiting: tuple[WaitingFor, ...] = ()
    broken: str | None = WITHOUT_DATABASE
    if checks["database"].status == "ok":
        try:
            bars = find_bars(db, now=now)
            checks |= _more_checks(db, checks, now)
            tasks = find_overview(db, task_list, now=now)
            waiting = find_waiting(db)
            broken = None
        except (Unreachable, psycopg.Error):
            pass  # it went away in between, and the page says so
    away = Check("unknown", "cannot be asked without the database")
    rows = tuple(
        Row(name, group, meaning, checks.get(name, away), bars.get(name, ())) for name, group, meaning in ROWS
    )
    return Overview(rows, tuple(tasks), waiting, is_down, broken)


def find_row(db: Database, settings: Settings, name: str, *, now: datetime) -> Row | None:
    """One row of the overview; None for a name that has none."""
    known = next((row for row in ROWS if row[0] == name), None)
    if known is None:
        return None
    checks = check_health(db, settings, now=now)
    checks |= _more_checks(db, checks, now)
    return Row(known[0], known[1], known[2], checks[name], find_bars(db, now=now)[name])


def find_bars(db: Database, *, now: datetime) -> dict[str, tuple[Bar, ...]]:
    """The last HOURS hours of every row, by three queries."""
    q = queries("pages_overview")
    params = {"now": now, "hours": HOURS, "stages": list(STAGES), "name": None}
    with db.transaction() as conn:
        statuses = conn.execute(q.status_hours, params).fetchall()
        work = conn.execute(q.work_hours, params).fetchall()
        gaps = conn.execute(q.gap_hours, params).fetchall()
    amounts = {(row["stage"], row["hours_ago"]): row["amount"] for row in work}
    away = {(row["watcher"], row["hours_ago"]) for row in gaps}
    shown: dict[str, tuple[Bar, ...]] = {}
    for name, _, _ in ROWS:
        # Of the watchdogs the common check is sampled; the hours in which one was away are its own.
        sampled = "watchdogs" if name in ("watchdog", "dagster-watchdog") else name
        known = carry([row for row in statuses if row["name"] == sampled])
        counted = name in (*STAGES, "capture", "recall")
        shown[name] = tuple(
            Bar(
                hour,
                "failed" if (_WATCHERS.get(name), hour) in away else _own(name, known.get(hour)),
                amounts.get((name, hour), 0) if counted else None,
            )
            for hour in range(HOURS - 1, -1, -1)
        )
    return shown


def carry(rows: Sequence[Mapping[str, Any]]) -> dict[int, Status]:
    """hours ago → the worst status of that hour; an hour without a sample goes on as the one before ended.

    A check is sampled where it changes and once an hour, so that two silent hours in a row mean that nobody looked.
    """
    by_hour = {row["hours_ago"]: row for row in rows}
    found: dict[int, Status] = {}
    for hour in range(HOURS - 1, -1, -1):
        before, own = by_hour.get(hour + 1), by_hour.get(hour)
        if own is not None:
            found[hour] = own["worst"]
        elif before is not None:
            found[hour] = before["last"]
    return found


def _own(name: str, status: Status | None) -> Status | None:
    """Both watchdogs share one check: a failure of the other is none of this one's."""
    if name in ("watchdog", "dagster-watchdog") and status in ("warn", "failed"):
        return "ok"
    return status


def _more_checks(db: Database, checks: Mapping[str, Check], now: datetime) -> dict[str, Check]:
    """The rows that health does not ask about one by one."""
    beats = find_beats(db)
    row = db.fetch_one(queries("pages_overview").recall_facts, {"now": now})
    assert row is not None
    found = {name: judge_watcher(beats, name, now) for name in ("watchdog", "dagster-watchdog")}
    found["recall"] = judge_recall(**row, now=now)
    shared = checks["watchdogs"]
    if shared.status == "warn":  # a step of a pass cannot be done; the check says which
        found["watchdog"] = shared
    return found


def judge_watcher(beats: Mapping[str, Beat], name: str, now: datetime) -> Check:
    """Whether one watchdog lives."""
    beat = beats.get(_WATCHERS[name])
    if beat is None:
        if (WATCHDOG not in beats and DAGSTER not in beats) or is_starting(beats, now):
            return Check("unknown", "has not beaten yet", idle=True)
        return Check("failed", "has never beaten")
    if is_silent(beat, now):
        if name == "dagster-watchdog" and is_starting(beats, now):
            return Check("unknown", "the hub has just started, it has not beaten yet", beat.at, idle=True)
        return Check("failed", f"last beat {age_of(beat.at, now)}", beat.at)
    took = f", a pass takes {beat.pass_ms:.0f} ms" if beat.pass_ms is not None else ""
    return Check("ok", f"last beat {age_of(beat.at, now)}{took}", beat.since)


def judge_recall(
    recalls: int, degraded: int, empty: int, p95_ms: float | None, last_at: datetime | None, *, now: datetime
) -> Check:
    """Whether recalls use both tracks; that many find nothing is no fault."""
    if last_at is None:
        return Check("unknown", "nothing was asked for yet", idle=True)
    if not recalls:
        return Check("ok", f"none in 24 hours, the last {age_of(last_at, now)}", last_at)
    speed = f", 19 of 20 within {p95_ms:.0f} ms" if p95_ms is not None else ""
    told = f"{recalls:,} in 24 hours, {empty:,} with nothing on record{speed}"
    if recalls >= RECALL_LEAST and degraded * 2 > recalls:
        return Check("warn", f"{told}; {degraded:,} by keywords alone, since the embedder was away", last_at)
    return Check("ok", told, last_at)


def find_waiting(db: Database) -> tuple[WaitingFor, ...]:
    """What waits, leaving out kinds of which nothing does."""
    rows = db.fetch_all(queries("pages_overview").waiting_for_a_person, {"attempts": EMBED_ATTEMPTS})
    return tuple(WaitingFor(row["what"], row["waiting"], row["since"]) for row in rows if row["waiting"])


def next_first(tasks: Sequence[TaskRow], now: datetime) -> list[TaskRow]:
    """Broken and failed ones first, then by when they are due."""
    far = now + timedelta(days=36_500)

    def rank(task: TaskRow) -> tuple[int, datetime, str]:
        wrong = task.state == "broken" or (task.last is not None and task.last.outcome not in (None, "ok", "skipped"))
        return (0 if wrong else 1, task.next_due or far, task.name)

    return sorted(tasks, key=rank)
