"""Tasks of a folder of their own in a real hub: started on time by Dagster, reported, and caught when killed."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from datetime import timedelta

import pytest

from argus_memory.db import Database
from argus_memory.settings import load_settings
from argus_memory.watch.dagster_launch import ask_dagster, wait_run
from argus_memory.watch.dagster_tasks import launch_task
from tests.acceptance.hub import Hub, new_hub
from tests.helpers import wait_until
from tests.task_stanzas import stanza

pytestmark = pytest.mark.slow

ON_TIME_SECONDS = 75.0  # to the next full minute, and what a run takes to start
NODES = """query { assetNodes { assetKey { path } groupName description jobNames
    assetChecksOrError { ... on AssetChecks { checks { name
        executionForLatestMaterialization { status } } } } } }"""


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    """Four stanzas: one every minute, one that fails, one that is killed, one that is broken."""
    folder = tmp_path_factory.mktemp("tasks")
    stanzas = (
        stanza("minute", command="echo it is $(date +%H:%M)", schedule="* * * * *"),
        stanza("fails", command="echo no bread >&2; exit 3"),
        stanza("slow", command="sleep 300"),
        stanza("broken", schedule="61 * * * *"),
    )
    (folder / "config.ini").write_text("".join(stanzas))
    for name in ("minute", "fails", "slow", "broken"):
        (folder / name).mkdir()
    with new_hub({"ARGUS_TASKS": str(folder)}) as made:
        made.start()
        yield made


@pytest.fixture(scope="module")
def store(hub: Hub) -> Iterator[Database]:
    with Database(hub.argus("dsn").stdout.strip()) as database:
        yield database


def test_a_task_runs_on_its_schedule(hub: Hub, store: Database) -> None:
    """Untouched, the task starts at a full minute; its report and the ledger name the same occurrence and run."""
    row = wait_until(
        lambda: store.fetch_one(
            """select r.*, e.status as decided, e.dagster_run_id as ledger_run from task_runs r
               join expected_runs e on e.task = r.task and e.due_at = r.due_at
               where r.task = 'minute' and r.started_by = 'schedule' and r.finished_at is not null"""
        ),
        seconds=ON_TIME_SECONDS * 2,
        step=0.5,
        what="no run of `minute` was reported",
    )
    assert (row["outcome"], row["decided"], row["exit_code"]) == ("ok", "ok", 0)
    assert row["due_at"].second == 0
    assert row["due_at"] <= row["started_at"] < row["due_at"] + timedelta(seconds=30)
    assert row["dagster_run_id"] == row["ledger_run"]
    assert "it is" in row["stdout_tail"]
    settings = load_settings({"ARGUS_HOME": str(hub.home), "ARGUS_DAGSTER_PORT": str(hub.dagster_port)})
    assert wait_run(settings, row["dagster_run_id"], timeout_seconds=30) == "SUCCESS"


def test_each_stanza_is_seen_in_the_catalogue(hub: Hub, store: Database) -> None:
    """Usable ones with the job of tasks, the broken one with its line, and its check was told without a run."""
    data = ask_dagster(f"http://127.0.0.1:{hub.dagster_port}", NODES, {}, seconds=60)
    nodes = {
        node["assetKey"]["path"][-1]: node for node in data["assetNodes"] if node["assetKey"]["path"][0] == "task"
    }
    assert {name: node["groupName"] for name, node in nodes.items()} == {
        "minute": "tasks",
        "fails": "tasks",
        "slow": "tasks",
        "broken": "tasks_broken",
    }
    assert "run_tasks" in nodes["minute"]["jobNames"]
    assert "config.ini:17" in nodes["broken"]["description"]
    (told,) = wait_until(
        lambda: store.fetch_all(
            """select execution_status as status, run_id from dagster.asset_check_executions
               where check_name = 'config_valid' and asset_key = '["task", "broken"]'"""
        ),
        seconds=60,
        step=0.5,
        what="no check of `broken` was told",
    )
    assert (told["status"], told["run_id"] or None) == ("FAILED", None)


def test_a_task_that_fails_is_red_and_an_alert(hub: Hub, store: Database) -> None:
    """Started by hand it fails: the run is red, the report has its output, and a message waits to be sent."""
    settings = load_settings({"ARGUS_HOME": str(hub.home), "ARGUS_DAGSTER_PORT": str(hub.dagster_port)})
    run_id = launch_task(settings, "fails")
    assert wait_run(settings, run_id, timeout_seconds=60) == "FAILURE"
    (row,) = store.fetch_all("select * from task_runs where task = 'fails'")
    assert (row["outcome"], row["exit_code"], row["dagster_run_id"]) == ("failed", 3, run_id)
    assert "no bread" in row["stderr_tail"]
    assert store.fetch_all("select kind from alerts where subject = 'task:fails' and closed_at is null") == [
        {"kind": "task-failed"}
    ]
    assert store.fetch_one("select count(*)::int as n from deliveries where task = 'fails'") == {"n": 1}


def test_a_killed_worker_is_told(hub: Hub, store: Database) -> None:
    """The worker of a run is killed: its task ends with it, and the report says that it was orphaned."""
    settings = load_settings({"ARGUS_HOME": str(hub.home), "ARGUS_DAGSTER_PORT": str(hub.dagster_port)})
    run_id = launch_task(settings, "slow")
    row = wait_until(
        lambda: store.fetch_one("select rid, pid from task_runs where task = 'slow' and finished_at is null"),
        seconds=60,
        step=0.2,
        what="`slow` did not start",
    )
    os.kill(row["pid"], signal.SIGKILL)
    ended = wait_until(
        lambda: store.fetch_one("select * from task_runs where task = 'slow' and finished_at is not null"),
        seconds=90,
        step=0.5,
        what="the killed run was not closed",
    )
    assert ended["outcome"] == "orphaned"
    assert ended["dagster_run_id"] == run_id
    assert wait_run(settings, run_id, timeout_seconds=90) == "FAILURE"
    assert store.fetch_one("select count(*)::int as n from task_runs where task = 'slow'") == {"n": 1}
    wait_until(
        lambda: store.fetch_all("select id from alerts where subject = 'task:slow' and closed_at is null"),
        seconds=60,
        step=0.5,
        what="no alert of the killed run",
    )
