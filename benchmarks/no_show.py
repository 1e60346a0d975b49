"""What a watchdog's pass over the tasks takes with a year of ledger behind it (reach: 50 ms), and when it alarms.

    python -m benchmarks.no_show [--tasks 200] [--repeats 40] [--years 10000]

Starts a Postgres of its own and writes a year of hourly occurrences of each task into the ledger by one statement
(their events are left out, the triggers are off), then times `watch_tasks` on it: a pass with nothing new, one in
which every task has become due, one in which every task is missed and told, and one with a run for each. The alarm is
found by passes every 15 s after a task was due that never runs. --years N also runs the property test's long mode:
N simulated task-years of schedules and judgements.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta

import psycopg

from argus_memory.db import Database
from argus_memory.settings import Settings
from argus_memory.watch.ledger import TaskWatch, watch_tasks
from benchmarks.machine import describe_machine
from benchmarks.scratch_store import ScratchStore, scratch_store

PASS_EVERY = timedelta(seconds=15)
GRACE = timedelta(minutes=5)
NOW = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) + timedelta(minutes=58)
YEAR = timedelta(days=365)

TASKS = """
insert into tasks (name, handler, spec, first_seen_at, changed_at)
select 'task-' || n, 'code', '{"no_overlap": true}', %(from)s, %(from)s from generate_series(1, %(tasks)s) n
"""
SCHEDULES = """
insert into task_schedules (task, schedule, timezone, start_grace, max_runtime, mode, failures_before_alert, from_at,
                            entered_until)
select 'task-' || n, '0 * * * *', 'Europe/Berlin', %(grace)s, '30 min', 'run', 1, %(from)s, %(now)s
from generate_series(1, %(tasks)s) n
"""
RUNS = """
insert into task_runs (rid, task, started_by, due_at, started_at, beat_at, finished_at, outcome)
select gen_random_uuid(), 'task-' || n, 'schedule', due, due, due, due + interval '1 min', 'ok'
from generate_series(1, %(tasks)s) n,
     generate_series(date_trunc('hour', %(now)s::timestamptz) - interval '364 days', %(now)s, interval '1 hour') due
"""
LEDGER = """
insert into expected_runs (task, due_at, start_by, max_runtime, schedule, timezone, mode, status, status_at, decided_by,
                           task_run_id)
select task, due_at, due_at + %(grace)s, '30 min', '0 * * * *', 'Europe/Berlin', 'run',
       case when id %% 500 = 0 and due_at < %(now)s - interval '1 day' then 'missed' else 'ok' end, due_at, 'runner', id
from task_runs
"""


def fill(store: ScratchStore, tasks: int) -> int:
    """A year of hourly runs that ended well, and their ledger; one in 500 was missed."""
    params = {"tasks": tasks, "now": NOW, "from": NOW - YEAR, "grace": GRACE}
    with psycopg.connect(store.superuser_dsn) as conn:
        conn.execute("set session_replication_role = replica")
        for statement in (TASKS, SCHEDULES, RUNS, LEDGER):
            conn.execute(statement, params)
    with psycopg.connect(store.superuser_dsn, autocommit=True) as conn:
        conn.execute("analyze")
        row = conn.execute("select count(*) from expected_runs").fetchone()
    assert row is not None
    return int(row[0])


def timed(db: Database, settings: Settings, now: datetime) -> tuple[float, TaskWatch]:
    began = time.perf_counter()
    watched = watch_tasks(db, settings, now=now, by="watchdog")
    return (time.perf_counter() - began) * 1000, watched


def bare_round_trip(db: Database) -> float:
    began = time.perf_counter()
    db.fetch_one("select 1 as one")
    return (time.perf_counter() - began) * 1000


def run_all(db: Database) -> None:
    """Each task's open occurrence gets a run that ended well."""
    with db.transaction() as conn:
        conn.execute(
            "insert into task_runs (rid, task, started_by, due_at, started_at, beat_at, finished_at, outcome)"
            " select gen_random_uuid(), task, 'schedule', due_at, due_at, due_at, due_at + interval '1 min', 'ok'"
            " from expected_runs where status = 'expected'"
        )


def find_alarm(db: Database, settings: Settings, due: datetime) -> tuple[timedelta, float, TaskWatch]:
    """How long after the end of the grace the alerts stand in the outbox, by passes at their pace; that pass."""
    now = due - timedelta(seconds=7)
    while True:
        now += PASS_EVERY
        took, watched = timed(db, settings, now)
        if watched.raised:
            return now - (due + GRACE), took, watched


def measure(store: ScratchStore, tasks: int, repeats: int) -> None:
    db, settings = store.db, store.settings
    timed(db, settings, NOW)
    bare = [bare_round_trip(db) for _ in range(repeats)]
    print(f"bare round trip:    median {statistics.median(bare):.1f} ms, min {min(bare):.1f} ms")
    idle = sorted(timed(db, settings, NOW + timedelta(milliseconds=step))[0] for step in range(repeats))
    print(
        f"nothing new:        median {statistics.median(idle):.1f} ms, p95 {idle[int(len(idle) * 0.95)]:.1f} ms, min {idle[0]:.1f} ms"
    )
    due = NOW.replace(minute=0) + timedelta(hours=1)
    took, watched = timed(db, settings, due + timedelta(seconds=10))
    print(f"all become due:     {took:.0f} ms, {watched.entered} entered")
    waiting = sorted(timed(db, settings, due + timedelta(seconds=20 + step))[0] for step in range(repeats))
    print(
        f"{tasks} open rows:      median {statistics.median(waiting):.1f} ms, p95 {waiting[int(len(waiting) * 0.95)]:.1f} ms, min {waiting[0]:.1f} ms"
    )
    run_all(db)
    took, watched = timed(db, settings, due + timedelta(seconds=90))
    print(f"all ran:            {took:.0f} ms, {len(watched.changes)} moved")
    second = due + timedelta(hours=1)
    alarm, took, watched = find_alarm(db, settings, second)
    print(
        f"alarm of a no-show: {alarm.total_seconds():.0f} s after the grace (reach: 60 s), passes every {PASS_EVERY.seconds} s"
    )
    print(f"all missed at once: {took:.0f} ms, {len(watched.changes)} moved, {watched.raised} new alerts")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=40)
    parser.add_argument("--years", type=int, default=0, help="task-years of the property test's long mode")
    asked = parser.parse_args()
    print(describe_machine())
    with scratch_store() as store:
        began = time.perf_counter()
        rows = fill(store, asked.tasks)
        print(f"{asked.tasks} hourly tasks, {rows:,} rows of ledger written in {time.perf_counter() - began:.0f} s")
        measure(store, asked.tasks, asked.repeats)
    if asked.years:
        began = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "tests/unit/no_show/test_task_years.py"],
            env={**os.environ, "ARGUS_TEST_TASK_YEARS": str(asked.years)},
            check=True,
        )
        print(f"{asked.years:,} task-years in {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
