"""Tasks as pages: the due ledger as a strip of days, runs with what they said, and to-dos with their evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

from psycopg.rows import DictRow

from argus_memory.db import Connection, Database, queries
from argus_memory.errors import NotFound
from argus_memory.records import BrokenTask, TaskList, TaskSpec
from argus_memory.tasks.overview import TaskRow, find_overview, next_due
from argus_memory.upkeep.pages.keyset import Slice, Sort, Wanted, fetch_page

LIST_DAYS: Final = 30  # of the strip in the list
YEAR_DAYS: Final = 365  # of the strip of one task
PLOTTED: Final = 60  # runs
NEXT_SHOWN: Final = 5
RUN_SORTS: Final = (
    Sort("newest", "Started", "s.started_at"),
    Sort("oldest", "Started", "s.started_at", descending=False),
    Sort("longest", "Took", "coalesce(extract(epoch from s.finished_at - s.started_at), -1)::float8", "number"),
    Sort("dearest", "Cost", "coalesce(s.cost_usd, -1)::float8", "number"),
)
OUTCOMES: Final = ("ok", "failed", "timed-out", "skipped", "overrunning", "orphaned")
TODO_SORTS: Final = (
    Sort("newest", "Noticed", "s.said_at"),
    Sort("due", "Due", "coalesce(s.due_on::timestamptz, 'infinity')", "time", descending=False),
)
TODO_STATUSES: Final = ("open", "claimed-done", "stale", "verified", "dropped")
# What a day counts as, the worst first.
WORST: Final = (
    ("missed", "failed"), ("failed", "failed"), ("overrunning", "warn"), ("late", "warn"),
    ("skipped-overlap", "warn"), ("started", "running"), ("queued", "running"), ("ok", "ok"),
    ("paused", "unknown"), ("expected", "faint"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Day:
    """What was due on a day: status → how many; empty where nothing was."""

    day: date
    counts: Mapping[str, int]

    @property
    def tone(self) -> str:
        return next((tone for status, tone in WORST if self.counts.get(status)), "none")

    @property
    def words(self) -> str:
        told = ", ".join(f"{self.counts[status]} {status}" for status, _ in WORST if self.counts.get(status))
        return f"{self.day}: {told or 'nothing due'}"


@dataclass(frozen=True, slots=True)
class Tasks:
    """`strips`: task → its last days, the oldest first."""

    rows: Sequence[TaskRow]
    strips: Mapping[str, Sequence[Day]]


@dataclass(frozen=True, slots=True)
class OneTask:
    """`row` and `spec` None: it is no stanza any more; `known`: what the database holds of it."""

    name: str
    row: TaskRow | None
    spec: TaskSpec | None
    broken: BrokenTask | None
    known: DictRow | None
    next: Sequence[datetime]
    strip: Sequence[Day]
    runs: Slice[DictRow]
    plotted: Sequence[DictRow]
    alerts: Sequence[DictRow]
    pauses: Sequence[DictRow]


def find_tasks(db: Database, task_list: TaskList, zone: ZoneInfo, *, now: datetime) -> Tasks:
    """Five questions, however many tasks and runs there are."""
    rows = find_overview(db, task_list, now=now)
    with db.transaction() as conn:
        strips = _strips(conn, None, LIST_DAYS, zone, now)
    empty = _empty(LIST_DAYS, zone, now)
    return Tasks(rows, {row.name: strips.get(row.name, empty) for row in rows})


def find_one(
    db: Database, task_list: TaskList, name: str, outcome: str | None, zone: ZoneInfo, *, wanted: Wanted,
    now: datetime,
) -> OneTask:  # fmt: skip
    """Raises NotFound for a name that neither config.ini nor the database knows."""
    q = queries("pages_tasks")
    spec = next((task for task in task_list.tasks if task.name == name), None)
    broken = next((each for each in task_list.broken if each.name == name), None)
    only = TaskList(tuple(filter(None, (spec,))), tuple(filter(None, (broken,))))
    row = next(iter(find_overview(db, only, now=now)), None)
    params = {"task": name, "outcome": outcome}
    with db.transaction() as conn:
        known = conn.execute(q.known, params).fetchone()
        if row is None and known is None:
            raise NotFound(f"there is no task {name[:60]!r}")
        return OneTask(
            name, row, spec, broken, known,
            next_due(spec, now, NEXT_SHOWN) if spec is not None and spec.enabled else (),
            _strips(conn, name, YEAR_DAYS, zone, now).get(name) or _empty(YEAR_DAYS, zone, now),
            fetch_page(conn, q.runs, q.count_runs, params, wanted),
            conn.execute(q.last_runs, {"task": name, "limit": PLOTTED}).fetchall()[::-1],
            conn.execute(q.task_alerts, {"subject": f"task:{name}"}).fetchall(),
            conn.execute(q.task_pauses, params).fetchall(),
        )  # fmt: skip


def find_run(db: Database, name: str, id_: int) -> tuple[DictRow, Sequence[DictRow]]:
    """A run with all it said, and the attempts of engines in it. Raises NotFound."""
    q = queries("pages_tasks")
    with db.transaction() as conn:
        row = conn.execute(q.run, {"task": name, "id": id_}).fetchone()
        if row is None:
            raise NotFound(f"task {name[:60]!r} has no run {id_}")
        return row, conn.execute(q.run_calls, {"rid": row["rid"]}).fetchall()


def follow_run(db: Database, name: str) -> DictRow | None:
    """The newest run's id, outcome (None: it runs) and times; None where it never ran."""
    return db.fetch_one(queries("pages_tasks").run_state, {"task": name})


def find_todos(db: Database, filters: dict[str, Any], *, wanted: Wanted) -> Slice[DictRow]:
    """Without a status those that are not settled."""
    q = queries("pages_tasks")
    with db.transaction() as conn:
        return fetch_page(conn, q.todos, q.count_todos, filters, wanted)


def _strips(conn: Connection, task: str | None, days: int, zone: ZoneInfo, now: datetime) -> dict[str, list[Day]]:
    first = now.astimezone(zone).date() - timedelta(days=days - 1)
    since = datetime.combine(first, time(), zone).astimezone(UTC)
    params = {"zone": zone.key, "since": since, "until": now + timedelta(days=1), "task": task}
    counts: dict[str, dict[date, dict[str, int]]] = {}
    for row in conn.execute(queries("pages_tasks").days, params, prepare=False):
        counts.setdefault(row["task"], {}).setdefault(row["day"], {})[row["status"]] = row["n"]
    calendar = _empty(days, zone, now)
    return {name: [Day(each.day, found.get(each.day, {})) for each in calendar] for name, found in counts.items()}


def _empty(days: int, zone: ZoneInfo, now: datetime) -> list[Day]:
    today = now.astimezone(zone).date()
    return [Day(today - timedelta(days=back), {}) for back in range(days - 1, -1, -1)]
