"""A config.ini of its own for a test, and the definitions made of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import dagster as dg

from argus_assets.defs.tasks.definitions import build_tasks
from argus_assets.defs.tasks.stanza import TaskParts, build_task
from argus_assets.resources import MemoryResource
from argus_memory.records import TaskList, TaskSpec
from argus_memory.tasks.config import read_task_list


def stanza(name: str, **keys: str) -> str:
    """The text of a stanza; a code task that prints its name unless told otherwise. `env__A` is `env.A`."""
    values = {"handler": "code", **({} if "prompt" in keys else {"command": f"echo {name}"}), **keys}
    return f"[{name}]\n" + "".join(f"{key.replace('__', '.')} = {value}\n" for key, value in values.items()) + "\n"


def task_list(folder: Path, *stanzas: str) -> TaskList:
    """What a config.ini of these stanzas says; each stanza has its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    text = "".join(stanzas)
    (folder / "config.ini").write_text(text, "utf-8")
    for line in text.splitlines():
        if line.startswith("["):
            (folder / line.strip("[]")).mkdir(exist_ok=True)
    return read_task_list(folder, default_zone="UTC")


def definitions(tasks: TaskList, build: Callable[[TaskSpec], TaskParts] = build_task) -> dg.Definitions:
    """As argus_assets.definitions merges them, without memory."""
    shared = dg.Definitions(resources={"memory": MemoryResource()}, executor=dg.in_process_executor)
    return dg.Definitions.merge(build_tasks(tasks, build), shared)
