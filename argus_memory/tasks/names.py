"""What a task is called: in config.ini, as an asset, as a step in Dagster, in alerts."""

from __future__ import annotations

import re
from typing import Final

NAME: Final = re.compile(r"[a-z][a-z0-9-]{0,62}")
NAME_RULE: Final = "a small letter, then small letters, digits and `-`, 63 at most"
ASSET_GROUP: Final = "task"
TASKS_JOB: Final = "run_tasks"  # the one job in Dagster: each of its runs is of the one asset selected
_STEP_PREFIX: Final = "task__"
LIST_FILE: Final = "config.ini"  # also the name under which the file itself is broken


def is_task_name(text: str) -> bool:
    return NAME.fullmatch(text) is not None


def asset_key(name: str) -> list[str]:
    """The parts of the task's asset key: `task/<name>`."""
    return [ASSET_GROUP, name]


def step_name(name: str) -> str:
    """The task's step in Dagster. No two tasks share one: a task's name has no `_`."""
    return _STEP_PREFIX + re.sub(r"[^a-z0-9]", "_", name)


def schedule_name(name: str) -> str:
    return f"{step_name(name)}_schedule"


def alert_subject(name: str) -> str:
    """What alerts about the task, or about config.ini itself, are opened on."""
    return f"task:{name}"


def make_name(text: str, fallback: str) -> str:
    """A task name out of any words: `My Backup!` is `my-backup`; `fallback` where no letter or digit is left."""
    words = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or fallback
    return (words if words[0].isalpha() else f"task-{words}")[:50].rstrip("-")
