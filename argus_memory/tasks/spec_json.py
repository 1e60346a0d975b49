"""A stanza as JSON, for the programs of a task: ARGUS_TASK_SPEC names the file. Durations are seconds."""

from __future__ import annotations

import json
from dataclasses import fields
from datetime import timedelta
from pathlib import Path
from typing import Any

from argus_memory.records import TaskSpec

_DURATIONS = ("start_grace", "max_runtime")
_PATHS = ("folder", "file")
_TUPLES = ("engines", "model")


def spec_to_json(spec: TaskSpec) -> dict[str, Any]:
    """Every field by its name; folders as text, durations as seconds."""
    return {field.name: _plain(getattr(spec, field.name)) for field in fields(spec)}


def spec_from_json(data: dict[str, Any]) -> TaskSpec:
    """The same back; fields this version does not know are left out. Raises TypeError where one is missing."""
    known = {field.name for field in fields(TaskSpec)}
    values = {name: value for name, value in data.items() if name in known}
    values |= {name: timedelta(seconds=values[name]) for name in _DURATIONS if name in values}
    values |= {name: Path(values[name]) for name in _PATHS if name in values}
    values |= {name: tuple(values[name]) for name in _TUPLES if name in values}
    return TaskSpec(**values)


def read_spec(path: Path) -> TaskSpec:
    """The stanza in the file that ARGUS_TASK_SPEC names."""
    return spec_from_json(json.loads(path.read_text(encoding="utf-8")))


def read_secrets(path: Path) -> tuple[str, ...]:
    """What the stanza took from the hub's variables, kept beside it for whoever files the run's words."""
    return tuple(str(value) for value in json.loads(path.read_text(encoding="utf-8")).get("secrets", ()))


def _plain(value: Any) -> Any:
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, tuple):
        return list(value)
    return dict(value) if isinstance(value, dict) or hasattr(value, "keys") else value
