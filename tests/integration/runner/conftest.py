"""A stanza and its folder, and a way to run it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from argus_memory.db import Database
from argus_memory.records import RunResult, TaskSpec
from argus_memory.settings import Settings
from argus_memory.tasks.runner import run_task

MakeSpec = Callable[..., TaskSpec]
Run = Callable[..., RunResult]


@pytest.fixture
def make_spec(tmp_path: Path) -> MakeSpec:
    """`make_spec(command, **fields)`: a code task called watering in a folder of its own."""
    folder = tmp_path / "tasks" / "watering"
    folder.mkdir(parents=True)

    def make(command: str | None = "true", **fields: Any) -> TaskSpec:
        given: dict[str, Any] = {
            "name": "watering", "handler": "code", "folder": folder, "file": folder.parent / "config.ini", "line": 1,
            **fields,
        }  # fmt: skip
        return TaskSpec(command=command, **given)

    return make


@pytest.fixture
def run(db: Database, settings: Settings, make_spec: MakeSpec) -> Run:
    """`run(command, **fields of the stanza, options={…of run_task})`."""

    def start(command: str | None = "true", options: dict[str, Any] | None = None, **fields: Any) -> RunResult:
        return run_task(db, settings, make_spec(command, **fields), **{"started_by": "person", **(options or {})})

    return start
