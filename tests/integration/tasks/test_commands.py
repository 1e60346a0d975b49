"""`argus task …` and `argus reload`, as a person calls them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from argus_memory.db import Database
from argus_memory.settings import Settings
from argus_memory.tasks.config import read_task_list
from argus_memory.tasks.registry import find_pauses, register_tasks
from argus_memory.tasks.runner import run_task
from tests.integration.tasks.calls import BROKEN, LIST, Shown, make_list, told, told_json
from tests.stubs.dagster_server import DagsterServer


@pytest.fixture(autouse=True)
def folder(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A list of four tasks, this test's database, a home without a hub, a port without Dagster."""
    monkeypatch.setenv("ARGUS_HOME", str(settings.home))
    monkeypatch.setenv("ARGUS_DATABASE_URL", str(settings.database_url))
    return make_list(tmp_path, monkeypatch)


@pytest.fixture
def registered(db: Database, settings: Settings, folder: Path) -> None:
    task_list = read_task_list(folder, default_zone="Europe/Vienna")
    register_tasks(db, settings, task_list, now=datetime.now(UTC), by="test")


def test_list_says_how_every_task_is(
    db: Database, settings: Settings, folder: Path, registered: None, capsys: Shown
) -> None:
    """State, schedule, next time in its zone and in UTC, last run, pause, and the broken one with its sentence."""
    weather = next(t for t in read_task_list(folder, default_zone="UTC").tasks if t.name == "weather")
    run_task(db, settings, weather, started_by="person")
    told(capsys, "task", "pause", "backup", "--for", "2h", "--reason", "moving")
    (folder / "config.ini").write_text(LIST + BROKEN)
    text = told(capsys, "task", "list", code=1)
    lines = {line.split()[0]: line for line in text.splitlines()}
    assert "paused" in lines["backup"]
    assert "(moving)" in lines["backup"]
    assert "+0" in lines["backup"]
    assert "last failed 0 s ago" in lines["weather"] or "last failed 1 s ago" in lines["weather"]
    assert "UTC)" in lines["weather"]
    assert "never ran" in lines["by-hand"]
    assert "config.ini:14: unknown key `shedule`; write `schedule`" in lines["bad"]
    assert "5 tasks: 1 broken, 1 by hand, 1 observed, 1 paused, 1 scheduled" in text
    assert "not read by the hub yet (bad): `argus reload`" in text
    found = told_json(capsys, "task", "list", code=1)
    assert found["counts"] == {"broken": 1, "by hand": 1, "observed": 1, "paused": 1, "scheduled": 1}
    assert {row["name"]: row["last"] and row["last"]["outcome"] for row in found["tasks"]}["weather"] == "failed"


def test_a_pause_is_begun_and_ended(db: Database, registered: None, capsys: Shown) -> None:
    """`pause` until a time in the operator's zone, `resume` ends it; both refuse what makes no sense."""
    end = datetime.now(UTC) + timedelta(days=2)
    assert "is paused until" in told(capsys, "task", "pause", "backup", "--until", f"{end:%Y-%m-%d}T18:00")
    held = find_pauses(db, now=datetime.now(UTC))["backup"]
    assert held.until_at is not None
    assert held.until_at.hour in (16, 17)  # Vienna is one or two hours ahead
    assert "backup goes on" in told(capsys, "task", "resume", "backup")
    assert "is not paused" in told(capsys, "task", "resume", "backup", code=2)
    assert "is not a time" in told(capsys, "task", "pause", "backup", "--until", "tomorrow", code=2)
    assert "is not a duration" in told(capsys, "task", "pause", "backup", "--for", "a while", code=2)
    assert "which is over" in told(capsys, "task", "pause", "backup", "--until", "2020-01-01", code=2)
    assert "no task nothing" in told(capsys, "task", "pause", "nothing", code=2)


def test_runs_are_shown_latest_first(
    db: Database, settings: Settings, folder: Path, registered: None, capsys: Shown
) -> None:
    """Outcome, how long, by whom; a task that never ran says so, and one nobody knows is refused."""
    weather = next(t for t in read_task_list(folder, default_zone="UTC").tasks if t.name == "weather")
    run_task(db, settings, weather, started_by="person")
    assert "failed" in told(capsys, "task", "runs", "weather")
    assert [row["exit_code"] for row in told_json(capsys, "task", "runs", "weather")["runs"]] == [3]
    assert "has never run (runs=0)" in told(capsys, "task", "runs", "backup")
    assert "no task nothing" in told(capsys, "task", "runs", "nothing", code=2)


@pytest.mark.parametrize(("name", "code", "outcome", "said"), [("backup", 0, "ok", "saved"), ("weather", 1, "failed", "wet")])
def test_run_goes_through_dagster_and_shows_the_end(
    db: Database,
    settings: Settings,
    folder: Path,
    registered: None,
    capsys: Shown,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    code: int,
    outcome: str,
    said: str,
) -> None:
    """The task's asset is launched with its tags; outcome and output of that run are printed."""
    task = next(t for t in read_task_list(folder, default_zone="UTC").tasks if t.name == name)
    with DagsterServer() as server:
        server.tasks = [name]
        monkeypatch.setenv("ARGUS_DAGSTER_PORT", str(server.port))
        server.on_launch = lambda run: run_task(db, settings, task, started_by="person", dagster_run_id=run)
        text = told(capsys, "task", "run", name, code=code)
        (launched,) = server.launched
    assert text.splitlines()[0].startswith(f"{outcome} after")
    assert said in text
    assert launched["selector"]["jobName"] == "run_tasks"
    assert launched["selector"]["assetSelection"] == [{"path": ["task", name]}]
    assert {tag["key"]: tag["value"] for tag in launched["executionMetadata"]["tags"]} == {
        "argus/kind": "task", "argus/task": name, "argus/handler": "code",
    }  # fmt: skip


def test_run_says_why_it_cannot(folder: Path, capsys: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    """No hub, a stanza the hub has not read, a broken one, an unknown one, one of another scheduler."""
    assert "start it with `argus up`" in told(capsys, "task", "run", "backup", code=3)
    with DagsterServer() as server:
        server.tasks = ["other"]
        monkeypatch.setenv("ARGUS_DAGSTER_PORT", str(server.port))
        assert "call `argus reload`" in told(capsys, "task", "run", "backup", code=3)
    (folder / "config.ini").write_text(LIST + BROKEN)
    assert "bad is broken: config.ini:14" in told(capsys, "task", "run", "bad", code=2)
    assert "no task nothing" in told(capsys, "task", "run", "nothing", code=2)
    assert "another scheduler" in told(capsys, "task", "run", "elsewhere", code=2)


def test_reload_says_what_changed(
    db: Database, folder: Path, capsys: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dagster reads the list, then it is written down: what is new, changed, gone and broken is named."""
    with DagsterServer() as server:
        monkeypatch.setenv("ARGUS_DAGSTER_PORT", str(server.port))
        server.tasks = ["backup", "weather", "by-hand"]
        assert "added        backup, weather, by-hand, elsewhere" in told(capsys, "reload")
        text = told(capsys, "reload")
        assert "nothing changed" in text
        assert "4 tasks, 0 broken; Dagster has them after" in text
        (folder / "config.ini").write_text(LIST.replace("0 3", "0 4").replace("[by-hand]\ncommand = true\n", "") + BROKEN)
        text = told(capsys, "reload", code=1)
        assert server.reloads == 3
    assert "removed      by-hand" in text
    assert "changed      backup" in text
    assert "newly broken bad" in text
    assert "bad cannot be used: config.ini:12: unknown key" in text
    rows = db.fetch_all("select schedule from task_schedules where task = 'backup' order by id")
    assert [row["schedule"] for row in rows] == ["0 3 * * *", "0 4 * * *"]


def test_reload_names_what_dagster_has_not(capsys: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    """A usable task that Dagster cannot run is a fault; an observed one need not be there."""
    with DagsterServer() as server:
        monkeypatch.setenv("ARGUS_DAGSTER_PORT", str(server.port))
        server.tasks = ["backup", "weather"]
        assert told_json(capsys, "reload", code=1)["missing"] == ["by-hand"]


def test_nothing_is_expected_that_dagster_did_not_load(
    db: Database, capsys: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Code that does not load, and no Dagster at all: exit 3 with the reason, and no row is written."""
    assert "cannot be reached" in told(capsys, "reload", code=3)
    with DagsterServer() as server:
        monkeypatch.setenv("ARGUS_DAGSTER_PORT", str(server.port))
        server.code_error = "SyntaxError: invalid syntax"
        assert "SyntaxError: invalid syntax" in told(capsys, "reload", code=3)
    assert db.fetch_all("select name from tasks") == []
