"""What is left of a run when the runner, its guard, the database or the machine goes away in the middle."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psutil
import pytest

from argus_memory.db import Connection, Database
from argus_memory.errors import Unreachable
from argus_memory.settings import Settings
from argus_memory.tasks.runner import run_task
from argus_memory.tasks.runs import close_orphans
from tests.helpers import wait_until
from tests.integration.runner.conftest import MakeSpec

SCRIPT = Path(__file__).with_name("run_one.py")
REPOSITORY = Path(__file__).parents[3]
StartRunner = Callable[[str], "subprocess.Popen[bytes]"]
WAIT = "echo $$ > pid.part; mv pid.part pid; echo working; exec sleep 300"


@pytest.fixture
def start_runner(dsn: str, settings: Settings, make_spec: MakeSpec) -> Iterator[StartRunner]:
    started = []

    def start(command: str) -> subprocess.Popen[bytes]:
        argv = [sys.executable, str(SCRIPT), dsn, str(settings.home), str(make_spec().folder), command]
        env = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
        process = subprocess.Popen(argv, env=env, stderr=subprocess.DEVNULL)
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()


def read_pid(path: Path) -> int:
    wait_until(path.exists, what="the task has started")
    return int(path.read_text())


def is_gone(pid: int) -> bool:
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def only_row(db: Database) -> dict[str, Any]:
    (row,) = db.fetch_all("select * from task_runs")
    return row


def test_a_killed_runner_takes_its_task_along_and_is_found_out(
    start_runner: StartRunner, db: Database, settings: Settings, make_spec: MakeSpec
) -> None:
    """kill -9 of the runner: the guard ends the task and leaves the report, which closes the run as orphaned."""
    runner = start_runner(WAIT)
    pid = read_pid(make_spec().folder / "pid")
    runner.kill()
    runner.wait()
    wait_until(lambda: close_orphans(db, settings, now=datetime.now(UTC)) == 1, what="the orphan is closed")
    row = only_row(db)
    assert is_gone(pid)
    assert (row["outcome"], row["signal"], row["stdout_tail"]) == ("orphaned", 15, "working\n")
    assert "runner was gone" in row["reason"]
    alert = db.fetch_one("select subject from alerts where closed_at is null")
    assert alert == {"subject": "task:watering"}
    assert close_orphans(db, settings, now=datetime.now(UTC)) == 0


def test_a_runner_told_to_end_reports_first(start_runner: StartRunner, db: Database, make_spec: MakeSpec) -> None:
    """An ordinary end of the runner's process ends the task, files the report, and then goes on ending."""
    runner = start_runner(WAIT)
    pid = read_pid(make_spec().folder / "pid")
    runner.send_signal(signal.SIGTERM)
    assert runner.wait(timeout=30) != 0
    assert is_gone(pid)
    row = only_row(db)
    assert (row["outcome"], row["reason"]) == ("failed", "it was stopped")


def test_a_killed_guard_is_reported_by_the_runner(start_runner: StartRunner, db: Database, make_spec: MakeSpec) -> None:
    """kill -9 of the guard ends the task, and the runner says what happened."""
    runner = start_runner("echo $PPID > guard.part; mv guard.part guard; " + WAIT)
    folder = make_spec().folder
    guard, pid = read_pid(folder / "guard"), read_pid(folder / "pid")
    os.kill(guard, signal.SIGKILL)
    assert runner.wait(timeout=30) == 0
    wait_until(lambda: is_gone(pid), what="the task is gone")
    row = only_row(db)
    assert row["outcome"] == "failed"
    assert "guard" in row["reason"]


class AwayDatabase(Database):
    """A database that cannot be reached while `is_away` says so."""

    is_away: Callable[[], bool] = staticmethod(lambda: False)

    @contextmanager
    def transaction(self, *, wait: float | None = None) -> Iterator[Connection]:
        if self.is_away():
            raise Unreachable("the database cannot be reached (refused); see `argus status`")
        with super().transaction(wait=wait) as conn:
            yield conn


def test_a_database_that_goes_away_loses_nothing(dsn: str, settings: Settings, make_spec: MakeSpec) -> None:
    """The report, its messages and its alert wait on disk and are filed, once, when the database is back."""
    spec = make_spec(
        'touch away; echo \'{"type": "deliver", "title": "Dry", "text": "bed 4"}\' >> "$ARGUS_TASK_MESSAGES"; exit 5'
    )
    with AwayDatabase(dsn) as db:
        db.is_away = (spec.folder / "away").exists
        result = run_task(db, settings, spec, started_by="person")
        assert (result.outcome, result.exit_code) == ("failed", 5)
        (spec.folder / "away").unlink()
        assert only_row(db)["outcome"] is None
        spool = settings.home / "run" / "tasks" / f"{result.rid}.json"
        os.utime(spool, (0, 0))  # long ago: its runner does not file it any more
        assert close_orphans(db, settings, now=datetime.now(UTC)) == 1
        assert close_orphans(db, settings, now=datetime.now(UTC)) == 0
        assert (only_row(db)["outcome"], only_row(db)["exit_code"]) == ("failed", 5)
        assert only_row(db)["finished_at"] == result.finished_at
        told = db.fetch_all("select kind, title from deliveries order by id")
        assert [row["kind"] for row in told] == ["deliver", "alert"]
        assert told[0]["title"] == "Dry"


def test_a_run_is_not_started_without_its_row(dsn: str, settings: Settings, make_spec: MakeSpec) -> None:
    """Without a database nothing is started, and the caller hears why."""
    spec = make_spec("touch started")
    with AwayDatabase(dsn) as db:
        db.is_away = lambda: True
        with pytest.raises(Unreachable):
            run_task(db, settings, spec, started_by="person")
    assert not (spec.folder / "started").exists()


INSERT = """
insert into task_runs (rid, task, started_by, host, pid, pid_started_at, started_at, beat_at)
values (gen_random_uuid(), 'watering', 'schedule', %(host)s, %(pid)s, %(pid_started_at)s, %(at)s, %(at)s)
"""


def test_runs_of_before_a_restart_are_orphaned(db: Database, settings: Settings) -> None:
    """A run whose process number now belongs to another process, or to none, is orphaned; a live one is not."""
    now = datetime.now(UTC)
    own = psutil.Process()
    started = datetime.fromtimestamp(own.create_time(), UTC)
    parent = psutil.Process(os.getppid())
    host = os.uname().nodename
    rows = [
        {"host": host, "pid": own.pid, "pid_started_at": started},
        {"host": host, "pid": parent.pid, "pid_started_at": datetime.fromtimestamp(parent.create_time(), UTC)},
        {"host": host, "pid": parent.pid, "pid_started_at": started - timedelta(days=3)},
        {"host": host, "pid": 2**22 - 1, "pid_started_at": started},
    ]
    with db.transaction() as conn:
        for row in rows:
            conn.execute(INSERT, {**row, "at": now})
    assert close_orphans(db, settings, now=now) == 2
    outcomes = [row["outcome"] for row in db.fetch_all("select outcome from task_runs order by id")]
    assert outcomes == [None, None, "orphaned", "orphaned"]


def test_a_silent_run_of_another_machine_is_orphaned_after_a_while(db: Database, settings: Settings) -> None:
    """Another machine's processes cannot be seen: its runs count as lost after ten minutes without a beat."""
    now = datetime.now(UTC)
    with db.transaction() as conn:
        for minutes in (1, 11):
            at = now - timedelta(minutes=minutes)
            conn.execute(INSERT, {"host": "elsewhere.example", "pid": 1, "pid_started_at": at, "at": at})
    assert close_orphans(db, settings, now=now) == 1
    rows = db.fetch_all("select outcome from task_runs order by id")
    assert [row["outcome"] for row in rows] == [None, "orphaned"]


@pytest.mark.parametrize("content", ["", "{", '{"exit_code": 0}', "[]", '{"exit_code": 1e99}', '{"stdout": 5}'])
def test_a_damaged_report_hides_nothing(db: Database, settings: Settings, content: str) -> None:
    """Whatever stands in the spool, the run is closed and is not taken for a good one unless it says so."""
    now = datetime.now(UTC)
    with db.transaction() as conn:
        conn.execute(INSERT, {"host": os.uname().nodename, "pid": 2**22 - 1, "pid_started_at": now, "at": now})
    spool = settings.home / "run" / "tasks" / f"{only_row(db)['rid']}.json"
    spool.parent.mkdir(parents=True)
    spool.write_text(content)
    assert close_orphans(db, settings, now=now) == 1
    assert only_row(db)["outcome"] == ("ok" if content == '{"exit_code": 0}' else "orphaned")


def test_what_cannot_be_stored_does_not_keep_a_run_open(db: Database, settings: Settings) -> None:
    """A report and messages that the database refuses close the run all the same, and the next orphan is not held up."""
    now = datetime.now(UTC)
    with db.transaction() as conn:
        for _ in range(2):
            conn.execute(INSERT, {"host": os.uname().nodename, "pid": 2**22 - 1, "pid_started_at": now, "at": now})
    folder = settings.home / "run" / "tasks"
    for row in db.fetch_all("select rid from task_runs"):
        (folder / str(row["rid"])).mkdir(parents=True)
        (folder / f"{row['rid']}.json").write_text('{"exit_code": 99999999999}')
    assert close_orphans(db, settings, now=now) == 2
    assert {row["outcome"] for row in db.fetch_all("select outcome from task_runs")} == {"orphaned"}
    assert list(folder.iterdir()) == []


def test_a_strange_file_among_the_reports_hinders_no_orphan(db: Database, settings: Settings) -> None:
    """A file without a run's name, a folder, a dead link: left alone, and the lost run is closed."""
    now = datetime.now(UTC)
    with db.transaction() as conn:
        conn.execute(INSERT, {"host": os.uname().nodename, "pid": 2**22 - 1, "pid_started_at": now, "at": now})
    folder = settings.home / "run" / "tasks"
    (folder / "00000000-0000-0000-0000-000000000000.json").mkdir(parents=True)
    (folder / "notes.json").write_text("{")
    (folder / "link.json").symlink_to("/nowhere")
    for path in (folder / "notes.json", folder):
        os.utime(path, (1, 1))
    assert close_orphans(db, settings, now=now) == 1
    assert only_row(db)["outcome"] == "orphaned"
