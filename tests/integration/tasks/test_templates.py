"""What `argus task new` makes runs as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from argus_memory.db import Database
from argus_memory.settings import Settings
from argus_memory.tasks.config import read_task_list
from argus_memory.tasks.new_task import make_task
from argus_memory.tasks.runner import run_task


@pytest.mark.parametrize("shell", [False, True])
def test_a_new_code_task_runs_and_reports(db: Database, settings: Settings, tmp_path: Path, shell: bool) -> None:
    """Made, read and run without an edit: it ends ok, with its metric and its summary on the run."""
    make_task(tmp_path, "water", "code", schedule=None, shell=shell, description=None)
    (task,) = read_task_list(tmp_path, default_zone="UTC").tasks
    result = run_task(db, settings, task, started_by="person")
    assert (result.outcome, result.stderr_tail) == ("ok", "")
    assert result.metrics == {"things_done": 1.0}


def test_the_shipped_list_is_without_fault() -> None:
    """Every stanza of tasks/config.ini can be used, on any machine."""
    task_list = read_task_list(Path(__file__).parents[3] / "tasks", default_zone="UTC")
    assert task_list.broken == ()
    assert "heartbeat" in [task.name for task in task_list.tasks]
