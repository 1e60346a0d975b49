"""Tasks, schedules, runs and Dagster's tables as the ledger's tests need them."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

from psycopg.types.json import Jsonb

from argus_memory.db import Database
from argus_memory.settings import Settings
from argus_memory.watch.ledger import LedgerChange, TaskWatch, watch_tasks

START = datetime(2027, 3, 1, 0, 0, tzinfo=UTC)  # when the tests' schedules come into force
GRACE = timedelta(minutes=5)


def clock(text: str, day: int = 1) -> datetime:
    """`10:05` or `10:05:30` of the tests' day, or another day of that month."""
    return datetime.fromisoformat(f"2027-03-{day:02d}T{text}").replace(tzinfo=UTC)


def add_task(
    db: Database,
    name: str = "backup",
    *,
    schedule: str = "0 * * * *",
    zone: str = "UTC",
    from_at: datetime = START,
    grace: timedelta = GRACE,
    max_runtime: timedelta = timedelta(minutes=30),
    mode: str = "run",
    no_overlap: bool = False,
) -> None:
    """A task with one schedule in force; a second call closes the first schedule and opens another."""
    with db.transaction() as conn:
        conn.execute(
            "insert into tasks (name, handler, spec, first_seen_at, changed_at) values (%(n)s, 'code', %(s)s, %(at)s, %(at)s)"
            " on conflict (name) do nothing",
            {"n": name, "s": Jsonb({"no_overlap": no_overlap}), "at": from_at},
        )
        conn.execute(
            "update task_schedules set until_at = %(at)s where task = %(n)s and until_at is null",
            {"n": name, "at": from_at},
        )
        conn.execute(
            "insert into task_schedules (task, schedule, timezone, start_grace, max_runtime, mode, failures_before_alert,"
            " from_at) values (%(n)s, %(c)s, %(z)s, %(g)s, %(m)s, %(mode)s, 1, %(at)s)",
            {"n": name, "c": schedule, "z": zone, "g": grace, "m": max_runtime, "mode": mode, "at": from_at},
        )


def add_run(
    db: Database,
    due_at: datetime | None,
    started_at: datetime,
    *,
    task: str = "backup",
    finished_at: datetime | None = None,
    outcome: str | None = None,
    retries_left: int = 0,
    started_by: str = "schedule",
    attempt: int = 0,
    reason: str | None = None,
) -> int:
    with db.transaction() as conn:
        row = conn.execute(
            "insert into task_runs (rid, task, started_by, due_at, attempt, started_at, beat_at, finished_at, outcome,"
            " retries_left, reason) values (%(rid)s, %(task)s, %(by)s, %(due)s, %(attempt)s, %(at)s, %(at)s, %(end)s,"
            " %(outcome)s, %(left)s, %(reason)s) returning id",
            {
                "rid": uuid.uuid4(), "task": task, "by": started_by, "due": due_at, "attempt": attempt,
                "at": started_at, "end": finished_at, "outcome": outcome, "left": retries_left, "reason": reason,
            },
        ).fetchone()  # fmt: skip
        assert row is not None
        return int(row["id"])


def end_run(db: Database, run_id: int, finished_at: datetime, outcome: str = "ok") -> None:
    execute(
        db, "update task_runs set finished_at = %(at)s, outcome = %(o)s where id = %(id)s",
        at=finished_at, o=outcome, id=run_id,
    )  # fmt: skip


def add_pause(db: Database, from_at: datetime, until_at: datetime | None, task: str = "backup") -> None:
    execute(
        db, "insert into task_pauses (task, from_at, until_at, actor) values (%(t)s, %(f)s, %(u)s, 'anna')",
        t=task, f=from_at, u=until_at,
    )  # fmt: skip


def add_gap(db: Database, from_at: datetime, until_at: datetime, watcher: str = "watchdog") -> None:
    execute(
        db, "insert into watcher_gaps (watcher, from_at, until_at) values (%(w)s, %(f)s, %(u)s)",
        w=watcher, f=from_at, u=until_at,
    )  # fmt: skip


def make_dagster_tables(db: Database) -> None:
    """The two tables of Dagster's that the ledger reads, with the columns it reads."""
    with db.transaction() as conn:
        conn.execute("create schema dagster")
        conn.execute(
            "create table dagster.runs (id bigserial primary key, run_id text unique, status text,"
            " create_timestamp timestamp)"
        )
        conn.execute("create table dagster.run_tags (id bigserial primary key, run_id text, key text, value text)")


def add_dagster_run(db: Database, due_at: datetime, status: str, created_at: datetime, task: str = "backup") -> str:
    run_id = str(uuid.uuid4())
    with db.transaction() as conn:
        conn.execute(
            "insert into dagster.runs (run_id, status, create_timestamp) values (%(r)s, %(s)s, %(c)s)",
            {"r": run_id, "s": status, "c": created_at.replace(tzinfo=None)},
        )
        for key, value in (("argus/task", task), ("argus/due_at", due_at.isoformat(timespec="seconds"))):
            conn.execute(
                "insert into dagster.run_tags (run_id, key, value) values (%(r)s, %(k)s, %(v)s)",
                {"r": run_id, "k": key, "v": value},
            )
    return run_id


def execute(db: Database, query: Any, **params: Any) -> None:
    with db.transaction() as conn:
        conn.execute(query, params)


def watch(db: Database, settings: Settings, now: datetime, by: Any = "watchdog") -> TaskWatch:
    return watch_tasks(db, settings, now=now, by=by)


def moves(watched: TaskWatch) -> list[tuple[str, str, str]]:
    """(due, from, to) of each change."""
    return [(f"{each.due_at:%H:%M}", each.from_status, each.to_status) for each in watched.changes]


def only(watched: TaskWatch) -> LedgerChange:
    assert len(watched.changes) == 1, watched
    return watched.changes[0]


def ledger(db: Database, task: str = "backup") -> dict[str, str]:
    """Status by due time, `10:00` on the first day and `02 10:00` later."""
    rows = db.fetch_all("select due_at, status from expected_runs where task = %(t)s order by due_at", {"t": task})
    return {
        (f"{r['due_at']:%d %H:%M}" if r["due_at"].day != 1 else f"{r['due_at']:%H:%M}"): r["status"] for r in rows
    }


def alerts(db: Database) -> list[tuple[str, str, bool]]:
    """(kind, subject, open) of every alert, in the order they were opened."""
    rows = db.fetch_all("select kind, subject, closed_at is null as open from alerts order by id")
    return [(row["kind"], row["subject"], row["open"]) for row in rows]


def told(db: Database) -> list[tuple[str, str]]:
    """(kind, title) of every message in the outbox."""
    return [(row["kind"], row["title"]) for row in db.fetch_all("select kind, title from deliveries order by id")]
