"""A new user's way, with real processes: new, check, reload, run, break, and a schedule that fires."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.acceptance.hub import Hub, new_hub
from tests.helpers import wait_until


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    (tmp_path / "tasks").mkdir()
    with new_hub({"ARGUS_TASKS": str(tmp_path / "tasks"), "ARGUS_TIMEZONE": "Europe/Vienna"}) as made:
        made.start()
        yield made


def call(hub: Hub, *words: str, code: int = 0) -> str:
    done = hub.argus(*words)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def rows(hub: Hub, query: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(call(hub, "dsn").strip()) as connection:
        return connection.execute(query).fetchall()  # type: ignore[call-overload,no-any-return]


@pytest.mark.slow
def test_from_new_to_a_run_on_time(hub: Hub, tmp_path: Path) -> None:
    """A task made while the hub runs is taken up by a reload, runs at once when asked and every minute by itself; a
    stanza that breaks is told and its neighbour goes on; nothing is restarted."""
    before = hub.pids()
    call(hub, "task", "new", "water", "--shell", "--schedule", "* * * * *")
    assert "1 can be used, 0 broken" in call(hub, "task", "check")
    assert "call `argus reload`" in call(hub, "task", "run", "water", code=3)
    text = call(hub, "reload")
    assert "added        water" in text
    assert "ok after" in call(hub, "task", "run", "water")
    file = tmp_path / "tasks" / "config.ini"
    file.write_text(file.read_text() + "\n[bad]\nshedule = @daily\n")
    assert "bad cannot be used: config.ini:7: unknown key `shedule`; write `schedule`" in call(hub, "reload", code=1)
    assert rows(hub, "select subject from alerts where closed_at is null and kind = 'task-broken'") == [("task:bad",)]
    wait_until(
        lambda: rows(hub, "select 1 from task_runs where task = 'water' and started_by = 'schedule' and outcome = 'ok'"),
        seconds=120, step=2, what="a run by the schedule",
    )  # fmt: skip
    listed = json.loads(call(hub, "task", "list", "--json", code=1))
    assert {row["name"]: row["state"] for row in listed["tasks"]} == {"water": "scheduled", "bad": "broken"}
    assert hub.pids() == before
