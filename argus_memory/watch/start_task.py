"""Starting a task by hand, the one way: the command line, the API, the pages and agents all come through here."""

from __future__ import annotations

from argus_memory.errors import NotFound, Unreachable, UsageError
from argus_memory.records import TaskList, TaskSpec
from argus_memory.settings import Settings
from argus_memory.tasks.config import default_zone_of, read_task_list
from argus_memory.watch.dagster_tasks import find_tasks, launch_task


def load_tasks(settings: Settings) -> TaskList:
    """What config.ini says now."""
    return read_task_list(settings.tasks_folder, default_zone=default_zone_of(settings))


def find_task(settings: Settings, name: str) -> TaskSpec:
    """The usable stanza of this name; raises UsageError for a broken one, NotFound where there is none."""
    task_list = load_tasks(settings)
    for broken in task_list.broken:
        if broken.name == name:
            raise UsageError(f"task {name} is broken: {broken.sentence}")
    for task in task_list.tasks:
        if task.name == name:
            return task
    raise NotFound(f"there is no task {name} in {settings.tasks_folder / 'config.ini'}; `argus task list` shows them")


def require_runnable(task: TaskSpec) -> None:
    """Raises UsageError for a task that has nothing to run here."""
    if task.command is None and task.prompt is None:
        raise UsageError(f"task {task.name} is started by another scheduler (mode = observe) and has no command here")


def start_task(settings: Settings, task: TaskSpec, *, why: str | None = None) -> str:
    """Launch one run of it and return Dagster's id of the run; `why` becomes a tag of it.

    Raises UsageError for one that is started elsewhere, Unreachable that says whether the hub is down or has not read
    the stanza yet.
    """
    require_runnable(task)
    tags = {"argus/kind": "task", "argus/task": task.name, "argus/handler": task.handler}
    if why is not None:
        tags["argus/why"] = why
    try:
        known = find_tasks(settings.dagster_url)
    except Unreachable as error:
        raise Unreachable(f"no hub to run {task.name} in ({error}); start it with `argus up`") from error
    if task.name not in known:
        raise Unreachable(f"the hub has not read task {task.name} yet: call `argus reload`")
    return launch_task(settings, task.name, tags=tags)
