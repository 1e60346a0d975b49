"""What a run reports, whatever its command does: real processes, real rows."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import psutil
import psycopg
import pytest

from argus_cli.embedded_postgres import EmbeddedPostgres
from argus_memory.db import Database
from argus_memory.settings import Settings
from tests.helpers import wait_until
from tests.integration.runner.conftest import MakeSpec, Run

ROW = "select * from task_runs order by id desc limit 1"
DAEMON = """
import os, sys, time
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
null = os.open(os.devnull, os.O_RDWR)
for fd in (0, 1, 2): os.dup2(null, fd)
open("daemon.pid.part", "w").write(str(os.getpid()))
os.rename("daemon.pid.part", "daemon.pid")
time.sleep(300)
"""


@pytest.fixture(scope="module")
def dsn(postgres: EmbeddedPostgres) -> Iterator[str]:
    """One database for all of them: each looks at its own run alone."""
    with psycopg.connect(postgres.dsn("postgres", "postgres"), autocommit=True) as admin:
        admin.execute("create database argus_run_task template argus_template owner argus strategy wal_log")
        try:
            yield postgres.dsn("argus", "argus_run_task")
        finally:
            admin.execute("drop database if exists argus_run_task with (force)")


def last_row(db: Database) -> dict[str, Any]:
    row = db.fetch_one(ROW)
    assert row is not None
    return row


def test_a_run_is_reported_with_everything_about_it(run: Run, db: Database) -> None:
    """Exit code, both tails, byte counts, duration and outcome stand on the row and in the result."""
    result = run("echo said; echo complained >&2; sleep 0.1")
    row = last_row(db)
    assert (result.outcome, result.exit_code, result.signal) == ("ok", 0, None)
    assert (row["outcome"], row["exit_code"], row["stdout_tail"], row["stderr_tail"]) == ("ok", 0, "said\n", "complained\n")
    assert (row["stdout_bytes"], row["stderr_bytes"]) == (5, 11)
    assert timedelta(seconds=0.1) <= row["finished_at"] - row["started_at"] < timedelta(seconds=5)
    assert row["rid"] is not None
    assert row["pid"] is not None


def test_a_missing_command_says_so(run: Run) -> None:
    """Exit code 127 is a failure that names the missing command."""
    result = run("no-such-program --now")
    assert (result.outcome, result.exit_code) == ("failed", 127)
    assert "not found" in (result.reason or "")
    assert "no-such-program" in result.stderr_tail


def test_a_missing_folder_says_so(run: Run, tmp_path: Path, db: Database) -> None:
    """A folder that is not there is a failed run with that reason, not an exception."""
    result = run("true", folder=tmp_path / "nowhere")
    assert (result.outcome, result.exit_code) == ("failed", None)
    assert "nowhere is not there" in (last_row(db)["reason"])


def test_a_command_that_no_process_can_hold_is_reported(run: Run) -> None:
    """Where the system refuses to make the process the run failed, with the system's words."""
    result = run("true " + "x" * 3_000_000)
    assert result.outcome == "failed"
    assert "could not be started" in (result.reason or "")


def test_a_flood_of_output_is_counted_and_cut(run: Run) -> None:
    """64 MB of output are counted to the byte, and only the end is kept."""
    result = run("yes 0123456789abcde | head -c 67108864; echo the end")
    assert (result.outcome, result.stdout_bytes) == ("ok", 67108864 + 8)
    assert result.stdout_tail.endswith("the end\n")
    assert len(result.stdout_tail) <= 16 * 1024


def test_a_task_over_its_time_is_ended(run: Run) -> None:
    """Past max_runtime it gets SIGTERM and is reported as timed out."""
    result = run("sleep 100", max_runtime=timedelta(seconds=0.3))
    assert result.outcome == "timed-out"
    assert "max_runtime" in (result.reason or "")
    assert result.signal == 15


def test_a_task_that_ignores_sigterm_is_killed(run: Run) -> None:
    """After the grace comes SIGKILL, for the task and everything below it."""
    result = run(
        "trap '' TERM; while :; do sleep 0.05; done",
        max_runtime=timedelta(seconds=0.2),
        options={"stop_grace": timedelta(seconds=0.3)},
    )
    assert (result.outcome, result.signal, result.exit_code) == ("timed-out", 9, 137)
    assert "ignored SIGTERM" in (result.reason or "")


def test_what_forks_away_is_ended_and_told(run: Run, make_spec: MakeSpec) -> None:
    """A daemon in a session of its own does not outlive its run, and the report says that it was ended."""
    folder = make_spec().folder
    (folder / "daemon.py").write_text(DAEMON)
    result = run("python daemon.py; while [ ! -e daemon.pid ]; do sleep 0.01; done")
    assert result.outcome == "ok"
    assert "1 process it left behind was ended" in (result.reason or "")
    assert not psutil.pid_exists(int((folder / "daemon.pid").read_text()))


def test_what_ends_by_itself_soon_is_let(run: Run) -> None:
    """A short process in the background may finish; nothing is said of it and its output counts."""
    result = run("(sleep 0.2; echo later) & echo now")
    assert (result.outcome, result.reason, result.stdout_tail) == ("ok", None, "now\nlater\n")


def test_a_killed_task_names_the_signal(run: Run) -> None:
    """kill -9 is 137 and signal 9, and no exit code of the task's own."""
    result = run("kill -9 $$")
    assert (result.outcome, result.exit_code, result.signal) == ("failed", 137, 9)
    assert "SIGKILL" in (result.reason or "")


def test_exit_code_137_is_explained(run: Run) -> None:
    """A shell's 137 is reported as it is, with what it usually means."""
    result = run("exit 137")
    assert (result.outcome, result.exit_code, result.signal) == ("failed", 137, None)
    assert "SIGKILL" in (result.reason or "")


def test_a_task_may_close_its_output_and_go_on(run: Run, make_spec: MakeSpec) -> None:
    """Closed stdout and stderr are no end: the run lasts until its process ends."""
    result = run("exec 1>&- 2>&-; sleep 0.2; echo done > marker")
    assert result.outcome == "ok"
    assert (make_spec().folder / "marker").exists()


def test_bytes_that_are_no_text_are_kept_readable(run: Run) -> None:
    """Invalid UTF-8 and NUL become replacement characters, the bytes are counted as they were."""
    result = run(r"printf 'a\377\000b'")
    assert result.stdout_tail == "a\ufffd\ufffdb"
    assert result.stdout_bytes == 4


@pytest.mark.parametrize(
    ("command", "fields"),
    [
        ('echo "token $ARGUS_MCP_TOKEN"', {}),
        ('echo "password: hunter-and-gatherer-9"', {}),
        ('echo "it is $GARDEN_PASSWORD"', {"env": {"GARDEN_PASSWORD": "rosesandthistles"}}),
    ],
)
def test_secrets_never_reach_the_row(run: Run, db: Database, command: str, fields: dict[str, Any]) -> None:
    """Argus's tokens, a stanza's secrets and what looks like one are masked, and the row counts them."""
    result = run(command, **fields)
    kept = str(last_row(db))
    assert "[redacted:" in result.stdout_tail
    for secret in ("mcp-token-for-tests-only", "hunter-and-gatherer-9", "rosesandthistles"):
        assert secret not in kept
    assert last_row(db)["redactions"]


@pytest.mark.parametrize("end", ["exit 0", "exit 3"])
def test_what_a_stanza_takes_from_the_hub_is_masked_whatever_its_name(
    run: Run, db: Database, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    """A `${VARIABLE}` is a secret of the hub, alone or inside a value; the home that every path holds is none."""
    monkeypatch.setenv("GARDEN_STORE", "roses/and/thistles/4711")
    env = {"WHERE": "${GARDEN_STORE}", "URL": "store:${GARDEN_STORE}:x", "NOTES": "${HOME}/notes"}
    result = run(f'echo "$WHERE, $URL, $NOTES"; {end}', env=env)
    assert "roses/and/thistles/4711" not in str(last_row(db))
    assert "roses" not in str(db.fetch_all("select title, detail from alerts"))
    assert "/notes" in result.stdout_tail


def test_a_key_that_no_table_takes_loses_no_message_and_no_report(run: Run, db: Database) -> None:
    """NULs, lone surrogates and secrets in a key: the key becomes a digest, the message goes out once."""
    keys = ("k\\u0000", "k\\ud83d", "mcp-token-for-tests-only")
    lines = [f'{{"type":"deliver","text":"t{n}","key":"{key}"}}' for n, key in enumerate(keys)]
    says = "; ".join(f"""echo '{line}' >> "$ARGUS_TASK_MESSAGES\"""" for line in lines)
    before = len(db.fetch_all("select id from deliveries where kind = 'deliver'"))
    assert run(f"{says}; {says}").outcome == "ok"
    rows = db.fetch_all("select key, body from deliveries where kind = 'deliver' order by id")[before:]
    assert [row["body"] for row in rows] == ["t0", "t1", "t2"]
    assert "mcp-token" not in str(rows)


def test_a_task_sees_its_own_environment_only(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stanza's env and the run's variables are there; the admin token and the rest of ours are not."""
    monkeypatch.setenv("ARGUS_ADMIN_TOKEN", "the-admins-own-token")
    monkeypatch.setenv("SOME_SERVICE_KEY", "x")
    result = run("env | cut -d= -f1 | sort | tr '\\n' ' '; python -c 'import argus_memory'", env={"BEDS": "4"})
    names = result.stdout_tail.split()
    assert {"BEDS", "ARGUS_TASK", "ARGUS_TASK_RID", "ARGUS_TASK_MESSAGES", "ARGUS_TASK_SPEC", "ARGUS_MCP_TOKEN"} <= set(names)
    assert not {"ARGUS_ADMIN_TOKEN", "ARGUS_CAPTURE_TOKEN", "ARGUS_DATABASE_URL", "SOME_SERVICE_KEY"} & set(names)
    assert result.outcome == "ok"


def test_nothing_is_left_of_a_filed_run(run: Run, settings: Settings) -> None:
    """Once the row is closed the run's files are gone."""
    run("echo x")
    assert list((settings.home / "run" / "tasks").iterdir()) == []


def test_where_no_process_can_be_made_the_run_failed(run: Run, db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """When even the guard cannot be started, the row is closed with the system's words."""
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    result = run("true")
    assert (result.outcome, last_row(db)["outcome"]) == ("failed", "failed")
    assert "could not be started" in (result.reason or "")


def test_a_full_disk_does_not_cost_the_report(run: Run, settings: Settings) -> None:
    """Where the guard cannot keep its report on disk the runner hears it whole."""
    result = run('rm -r "$ARGUS_HOME/run/tasks"; echo the end; exit 4')
    assert (result.outcome, result.exit_code, result.stdout_tail) == ("failed", 4, "the end\n")


def test_the_beat_moves_while_the_task_runs(
    run: Run, db: Database, make_spec: MakeSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    """beat_at is later than the start while the task is at work."""
    monkeypatch.setattr("argus_memory.tasks.runner.BEAT_EVERY", 0.1)
    monkeypatch.setattr("argus_memory.tasks.runner.LOOK_EVERY", 0.05)
    question = "select 1 from task_runs where beat_at > started_at and finished_at is null"
    seen = make_spec().folder / "seen"

    def watch() -> None:
        wait_until(lambda: db.fetch_one(question), what="a beat")
        seen.touch()

    thread = threading.Thread(target=watch)
    thread.start()
    result = run("until [ -e seen ]; do sleep 0.02; done", max_runtime=timedelta(seconds=30))
    thread.join()
    assert result.outcome == "ok"
