"""Two watchdogs on a real hub: with one stopped, the other tells, in time and once; and it tells when it is over.

What is stopped gets SIGSTOP, and the supervisor with it, which would start it again within two minutes. Of the two
minutes that a silence has to last, all but the last seconds are taken off in the database: the tests wait for no clock.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.acceptance.hub import Hub, new_hub
from tests.helpers import wait_until

GRACE = timedelta(seconds=10)
IN_TIME = timedelta(seconds=60)  # of the issue, after the grace
TASKS = """
[tick]
handler = code
command = true
schedule = * * * * *
start_grace = 10s

[elsewhere]
handler = code
command = true
schedule = * * * * *
start_grace = 10s
mode = observe
"""


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    """A hub with a task that Dagster starts each minute, and one that another scheduler would report."""
    tasks = tmp_path_factory.mktemp("tasks")
    for name in ("tick", "elsewhere"):
        (tasks / name).mkdir()
    Path(tasks / "config.ini").write_text(TASKS)
    tasks.chmod(0o755)
    with new_hub({"ARGUS_TASKS": str(tasks), "ARGUS_TIMEZONE": "UTC"}) as made:
        made.start()
        yield made


@pytest.fixture(scope="module")
def store(hub: Hub) -> Iterator[psycopg.Connection[Any]]:
    """The hub's database. Schedules count from now on, not from a margin after the start."""
    dsn = hub.argus("dsn").stdout.strip()
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("update task_schedules set from_at = now() - interval '90 seconds'")
        yield connection


@contextmanager
def stopped(*pids: int) -> Iterator[None]:
    """These processes hold still."""
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in reversed(pids):
            os.kill(pid, signal.SIGCONT)


def find_alerts(store: psycopg.Connection[Any], kind: str, subject: str) -> list[Any]:
    return store.execute(
        "select a.opened_at, a.opened_by, a.closed_at, (select array_agg(d.kind order by d.id) from deliveries d"
        " where d.alert_id = a.id and d.kind <> 'reminder') from alerts a where kind = %s and subject = %s",
        (kind, subject),
    ).fetchall()


def test_a_dead_daemon_is_told_by_the_api(hub: Hub, store: psycopg.Connection[Any]) -> None:
    """The daemon holds still before a run is due: no-show and watcher:dagster, in time, once each, and both end."""
    pids = hub.pids()
    wait_until(
        lambda: (
            store.execute(
                "select count(*) = 2 from watcher_beats where watcher in ('watchdog', 'dagster')"
            ).fetchone()
            == (True,)
        ),
        seconds=90,
        step=0.5,
        what="both watchdogs beat",
    )
    with stopped(pids["supervisor"], pids["daemon"]):
        silent_from = datetime.now(UTC)
        store.execute("update watcher_beats set since = since - interval '10 minutes' where watcher = 'watchdog'")
        store.execute("update watcher_beats set at = at - interval '2 minutes' where watcher = 'dagster'")
        store.execute("update dagster.daemon_heartbeats set timestamp = timestamp - interval '2 minutes'")
        (side,) = wait_until(
            lambda: find_alerts(store, "watcher", "watcher:dagster"), seconds=40, step=0.5, what="watcher:dagster"
        )
        assert side[1:] == ("watchdog", None, ["alert"])
        missed: Any = (
            "select due_at, status_at, decided_by from expected_runs"
            " where task = 'tick' and status = 'missed' and due_at > %s"
        )
        row = wait_until(
            lambda: store.execute(missed, (silent_from,)).fetchone(), seconds=140, step=0.5, what="tick is missed"
        )
        due_at, judged_at, judged_by = row
        assert judged_by == "watchdog"
        assert judged_at - due_at <= GRACE + IN_TIME
        print(f"measured: daemon stopped: no-show after the grace: {judged_at - due_at - GRACE}")  # noqa: T201
        (show,) = find_alerts(store, "no-show", "task:tick")
        assert show[1:] == ("watchdog", None, ["alert"])
    wait_until(
        lambda: all(
            [row[2] is not None for row in find_alerts(store, kind, subject)] == [True]
            for kind, subject in (("watcher", "watcher:dagster"), ("no-show", "task:tick"))
        ),
        seconds=180,
        step=0.5,
        what="both alerts end",
    )
    for kind, subject in (("watcher", "watcher:dagster"), ("no-show", "task:tick")):
        assert [row[3] for row in find_alerts(store, kind, subject)] == [["alert", "recovery"]]


def test_a_dead_api_is_told_by_dagster(hub: Hub, store: psycopg.Connection[Any]) -> None:
    """The API holds still: Dagster judges what is due, and tells that the watchdog is silent, once, and its return."""
    pids = hub.pids()
    with stopped(pids["supervisor"], pids["api"]):
        silent_from = datetime.now(UTC)
        store.execute("update watcher_beats set since = since - interval '10 minutes' where watcher = 'dagster'")
        store.execute("update watcher_beats set at = at - interval '2 minutes' where watcher = 'watchdog'")
        (side,) = wait_until(
            lambda: find_alerts(store, "watcher", "watcher:watchdog"), seconds=75, step=0.5, what="watcher:watchdog"
        )
        assert side[1:] == ("dagster", None, ["alert"])
        missed: Any = (
            "select due_at, status_at, decided_by from expected_runs"
            " where task = 'elsewhere' and status = 'missed' and due_at > %s"
        )
        row = wait_until(
            lambda: store.execute(missed, (silent_from,)).fetchone(), seconds=140, step=0.5, what="a run is missed"
        )
        due_at, judged_at, judged_by = row
        assert judged_by == "dagster"
        assert judged_at - due_at <= GRACE + IN_TIME
        print(f"measured: API stopped: no-show after the grace: {judged_at - due_at - GRACE}")  # noqa: T201
    wait_until(
        lambda: [row[2] is not None for row in find_alerts(store, "watcher", "watcher:watchdog")] == [True],
        seconds=75,
        step=0.5,
        what="the alert ends",
    )
    assert [row[3] for row in find_alerts(store, "watcher", "watcher:watchdog")] == [["alert", "recovery"]]
    assert [row[2] for row in find_alerts(store, "no-show", "task:elsewhere")] == [None]  # one, open all the time
