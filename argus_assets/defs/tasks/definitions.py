"""The tasks' part of the definitions, from config.ini as it is when this code is loaded.

A stanza that Dagster refuses becomes a broken one; if even that cannot be shown, one broken asset stands for all. The
memory's definitions load beside it in every case.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import dagster as dg

from argus_assets.defs.tasks.checks import build_checks
from argus_assets.defs.tasks.intervals import build_intervals
from argus_assets.defs.tasks.job import build_job
from argus_assets.defs.tasks.loading import load_task_list
from argus_assets.defs.tasks.sensors import build_failed_runs, build_watch
from argus_assets.defs.tasks.stanza import TaskParts, build_broken, build_task, refused
from argus_memory.records import BrokenTask, TaskList, TaskSpec
from argus_memory.tasks.names import LIST_FILE


def build_tasks(task_list: TaskList, build: Callable[[TaskSpec], TaskParts] = build_task) -> dg.Definitions:
    """Definitions of every stanza, each built on its own; never raises."""
    parts, broken = build_each(task_list.tasks, build)
    usable = TaskList(tuple(part.spec for part in parts), (*task_list.broken, *broken))
    try:
        return _merged(parts, usable)
    except Exception as error:  # noqa: BLE001  shown as a broken asset; memory must load
        return _merged((), TaskList((), (*usable.broken, _not_loaded(task_list, error))))


def build_each(
    specs: Sequence[TaskSpec], build: Callable[[TaskSpec], TaskParts]
) -> tuple[list[TaskParts], list[BrokenTask]]:
    """The parts of each stanza that Dagster takes, and what it says of the others."""
    parts: list[TaskParts] = []
    broken: list[BrokenTask] = []
    for spec in specs:
        try:
            parts.append(build(spec))
        except Exception as error:  # noqa: BLE001  whatever it is, it is this stanza's alone
            broken.append(refused(spec, error))
    return parts, broken


def _merged(parts: Sequence[TaskParts], task_list: TaskList) -> dg.Definitions:
    checks = build_checks(task_list)
    job = build_job([part.spec.name for part in parts])
    intervals = build_intervals([part.spec for part in parts], job)
    return dg.Definitions(
        assets=[*(part.asset for part in parts), *(build_broken(each) for each in task_list.broken)],
        jobs=[job] if job else [],
        schedules=[part.schedule for part in parts if part.schedule],
        sensors=[build_watch(task_list), build_failed_runs(task_list), *([intervals] if intervals else [])],
        asset_checks=[checks] if checks else [],
    )


def _not_loaded(task_list: TaskList, error: Exception) -> BrokenTask:
    file = next((spec.file for spec in task_list.tasks), Path(LIST_FILE))
    reason = " ".join(str(error).split())[:300] or type(error).__name__
    return BrokenTask("not-loaded", file, 1, f"no task could be loaded ({reason})", "mend it, then `argus reload`")


tasks = build_tasks(load_task_list())
