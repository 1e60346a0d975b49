"""Every task at a glance: what config.ini says of it, and what the database knows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Literal

from psycopg.rows import DictRow

from argus_memory.db import Database, queries
from argus_memory.records import TaskList, TaskSpec
from argus_memory.rules.cron import next_occurrences, parse_schedule
from argus_memory.tasks.registry import Pause, find_pauses

TaskState = Literal["scheduled", "observed", "paused", "by hand", "disabled", "broken"]


@dataclass(frozen=True, slots=True)
class LastRun:
    """outcome None: it still runs."""

    rid: str
    outcome: str | None
    started_at: datetime
    finished_at: datetime | None
    started_by: str
    reason: str | None


@dataclass(frozen=True, slots=True)
class TaskRow:
    """One task. next_due is UTC, None where nothing is due; `loaded` False: the hub has not read this stanza yet.

    problem: why it is broken, with file, line and cure; last None: it has never run.
    """

    name: str
    state: TaskState
    handler: str | None = None
    schedule: str | None = None
    timezone: str | None = None
    next_due: datetime | None = None
    last: LastRun | None = None
    pause: Pause | None = None
    problem: str | None = None
    loaded: bool = True

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def find_overview(db: Database, task_list: TaskList, *, now: datetime) -> list[TaskRow]:
    """A row for each stanza, by name; three questions, however many tasks there are."""
    q = queries("tasks")
    names = [*(task.name for task in task_list.tasks), *(broken.name for broken in task_list.broken)]
    last = {str(row["task"]): _last_run(row) for row in db.fetch_all(q.latest_runs, {"names": names})}
    known = {str(row["name"]): row["problem"] for row in db.fetch_all(q.known_tasks)}
    pauses = find_pauses(db, now=now)
    rows = [_row(task, known, last.get(task.name), pauses.get(task.name), now) for task in task_list.tasks]
    rows += [
        TaskRow(
            broken.name,
            "broken",
            problem=broken.sentence,
            last=last.get(broken.name),
            pause=pauses.get(broken.name),
            loaded=bool(known.get(broken.name)),
        )
        for broken in task_list.broken
    ]
    return sorted(rows, key=lambda row: row.name)


def state_of(task: TaskSpec, pause: Pause | None) -> TaskState:
    if not task.enabled:
        return "disabled"
    if pause is not None:
        return "paused"
    if task.schedule is None:
        return "by hand"
    return "observed" if task.mode == "observe" else "scheduled"


def next_due(task: TaskSpec, after: datetime, count: int = 1) -> list[datetime]:
    """The next times the stanza's schedule names, UTC; none without a schedule."""
    if task.schedule is None:
        return []
    return next_occurrences(parse_schedule(task.schedule), task.timezone, after, count)


def _row(
    task: TaskSpec, known: Mapping[str, str | None], last: LastRun | None, pause: Pause | None, now: datetime
) -> TaskRow:
    after = max(now, pause.until_at) if pause is not None and pause.until_at is not None else now
    held = not task.enabled or (pause is not None and pause.until_at is None)
    due = [] if held else next_due(task, after)
    return TaskRow(
        task.name,
        state_of(task, pause),
        handler=task.handler,
        schedule=task.schedule,
        timezone=task.timezone,
        next_due=due[0] if due else None,
        last=last,
        pause=pause,
        loaded=task.name in known and known[task.name] is None,
    )


def _last_run(row: DictRow) -> LastRun:
    return LastRun(
        row["rid"], row["outcome"], row["started_at"], row["finished_at"], row["started_by"], row["reason"]
    )
