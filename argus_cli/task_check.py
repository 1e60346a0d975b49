"""`argus task check`: read config.ini as the hub will, without one; exit 1 when something is broken."""

from __future__ import annotations

import argparse
import os
from datetime import UTC, datetime
from typing import Any

from argus_cli.task_words import as_json, load_list, local_time
from argus_memory.errors import NotFound
from argus_memory.records import TaskList, TaskSpec
from argus_memory.settings import Settings, read_env_file
from argus_memory.tasks.config_env import references
from argus_memory.tasks.names import LIST_FILE
from argus_memory.tasks.overview import next_due

SHOWN = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="NAME", help="this task alone")


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    now = datetime.now(UTC)
    task_list = load_list(settings)
    if arguments.name:
        known = {task.name for task in task_list.tasks} | {broken.name for broken in task_list.broken}
        if arguments.name not in known:
            raise NotFound(f"there is no task {arguments.name} in {settings.tasks_folder / LIST_FILE}")
        task_list = TaskList(
            tuple(task for task in task_list.tasks if task.name == arguments.name),
            tuple(task for task in task_list.broken if task.name == arguments.name),
        )
    times = {task.name: next_due(task, now, SHOWN) for task in task_list.tasks}
    notes = {task.name: find_notes(task, settings) for task in task_list.tasks}
    if arguments.json:
        print(as_json(_report(task_list, times, notes)))
    else:
        print(as_text(task_list, times, notes, str(settings.tasks_folder / LIST_FILE)))
    return 1 if task_list.broken else 0


def find_notes(task: TaskSpec, settings: Settings) -> list[str]:
    """What is no mistake of the stanza, and still worth a look."""
    notes = []
    known = {**read_env_file(settings.env_file), **os.environ}
    if missing := [name for name in references(task.env) if name not in known]:
        notes.append(f"{', '.join(missing)} is set neither here nor in $ARGUS_HOME/env; the hub has to have it")
    channels = {pair.partition("=")[0].strip() for pair in settings.telegram_chats} | {"main", "webhook", "ntfy"}
    if task.channel and task.channel not in channels:
        notes.append(f"channel {task.channel} is not in ARGUS_TELEGRAM_CHATS")
    return notes


def as_text(task_list: TaskList, times: dict[str, list[datetime]], notes: dict[str, list[str]], file: str) -> str:
    lines: list[str] = []
    for task in task_list.tasks:
        how = task.schedule or "started by a person"
        state = "" if task.enabled else ", disabled"
        observed = ", observed only" if task.mode == "observe" else ""
        lines.append(f"{task.name}  {task.handler}  {how}  {task.timezone}{state}{observed}")
        lines += [f"    {local_time(at, task.timezone)}  ({at:%Y-%m-%d %H:%M} UTC)" for at in times[task.name]]
        lines += [f"    note: {note}" for note in notes[task.name]]
    lines += [f"{broken.name}  broken  {broken.sentence}" for broken in task_list.broken]
    lines.append(f"{len(task_list.tasks)} can be used, {len(task_list.broken)} broken: {file}")
    return "\n".join(lines)


def _report(task_list: TaskList, times: dict[str, list[datetime]], notes: dict[str, list[str]]) -> dict[str, Any]:
    return {
        "tasks": [
            {
                "name": task.name,
                "handler": task.handler,
                "schedule": task.schedule,
                "timezone": task.timezone,
                "enabled": task.enabled,
                "mode": task.mode,
                "next": times[task.name],
                "notes": notes[task.name],
            }
            for task in task_list.tasks
        ],
        "broken": [
            {"name": b.name, "file": b.file, "line": b.line, "problem": b.problem, "cure": b.cure}
            for b in task_list.broken
        ],
    }
