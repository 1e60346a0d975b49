"""Both watchdogs at once on one database: every change is made once and told once."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import psycopg

from argus_memory.db import Database
from argus_memory.settings import Settings
from argus_memory.watch.ledger import TaskWatch, Watcher, watch_tasks
from tests.helpers import wait_until
from tests.integration.no_show.ledger_rows import add_run, add_task, alerts, clock, ledger, told, watch

BOTH: tuple[Watcher, Watcher] = ("watchdog", "dagster")


def watch_at_once(db: Database, settings: Settings, now: datetime, watchers: int = 2) -> list[TaskWatch]:
    """Start that many watchdogs at the same moment."""
    gate = threading.Barrier(watchers)

    def one(number: int) -> TaskWatch:
        gate.wait(timeout=20)
        return watch_tasks(db, settings, now=now, by=BOTH[number % 2])

    with ThreadPoolExecutor(watchers) as pool:
        return list(pool.map(one, range(watchers)))


def test_two_watchdogs_at_the_same_moment_tell_once(db: Database, settings: Settings) -> None:
    """Of any number of passes at once each row is entered, moved and told by one, whichever it is."""
    tasks = [f"task-{number}" for number in range(20)]
    for task in tasks:
        add_task(db, task, schedule="*/10 * * * *")
    now = clock("00:10")
    for step in range(4):
        now += timedelta(minutes=6, seconds=1)
        passes = watch_at_once(db, settings, now, watchers=4)
        moved = [(each.task, each.due_at, each.to_status) for one in passes for each in one.changes]
        assert len(moved) == len(set(moved)), step
    assert sum(kind == "alert" for kind, _ in told(db)) == len(tasks)
    assert len(alerts(db)) == len(tasks)
    rows = db.fetch_all("select task, due_at, count(*) as n from expected_runs group by 1, 2 having count(*) > 1")
    assert rows == []
    events = db.fetch_all(
        "select expected_run_id, to_status, count(*) from expected_run_events group by 1, 2 having count(*) > 1"
    )
    assert events == []


def test_two_watchdogs_tell_a_recovery_once(db: Database, settings: Settings) -> None:
    """The end of an alert is told by one of them."""
    add_task(db)
    watch(db, settings, clock("01:06"))
    add_run(db, clock("02:00"), clock("02:00:05"))
    watch_at_once(db, settings, clock("02:00:10"), watchers=4)
    assert [kind for kind, _ in told(db)] == ["alert", "recovery"]


def test_a_row_that_somebody_holds_is_left_for_the_next_pass(db: Database, settings: Settings) -> None:
    """While a run's own transaction holds its row, a watchdog does not wait, and what the run wrote stands."""
    add_task(db)
    watch(db, settings, clock("01:00:10"))
    with psycopg.connect(db.dsn) as runner:
        runner.execute("update expected_runs set status = 'started', decided_by = 'runner' where status = 'expected'")
        assert watch(db, settings, clock("01:06")).changes == ()
    assert ledger(db) == {"01:00": "started"}
    assert alerts(db) == []


def test_a_watchdog_that_waits_for_the_other_finds_its_work_done(db: Database, settings: Settings) -> None:
    """The second pass enters nothing while the first one's transaction is open, and nothing after it."""
    add_task(db)
    now = clock("01:00:10")
    with ThreadPoolExecutor(1) as pool, psycopg.connect(db.dsn) as first:
        first.execute(
            "insert into expected_runs (task, due_at, start_by, max_runtime, schedule, timezone, mode, status_at, decided_by)"
            " values ('backup', %(due)s, %(due)s::timestamptz + interval '5 min', '1h', '0 * * * *', 'UTC', 'run', now(), 'dagster')",
            {"due": clock("01:00")},
        )
        second = pool.submit(watch_tasks, db, settings, now=now, by="watchdog")
        with psycopg.connect(db.dsn, autocommit=True) as other:
            wait_until(
                lambda: other.execute(
                    "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
                ).fetchone(),
                what="the second watchdog waits for the first",
            )
        first.commit()
        assert second.result(timeout=20).entered == 0
    assert ledger(db) == {"01:00": "expected"}
