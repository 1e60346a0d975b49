"""`argus reload`: take up changes of tasks/config.ini and of the code, without a restart; exit 1: a stanza is broken.

Dagster reads the list first and only then is it written down: what Dagster does not have yet must not be expected.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from datetime import UTC, datetime

from argus_cli.hub import hub_runs, open_database
from argus_cli.task_words import as_json, load_list
from argus_memory.errors import Unreachable
from argus_memory.records import TaskList
from argus_memory.settings import load_settings
from argus_memory.tasks.registry import Registered, register_tasks
from argus_memory.watch.dagster_reload import Reloaded, reload_code


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(command="reload")


def run(arguments: argparse.Namespace) -> int:
    settings = load_settings()
    if not settings.database_url and not hub_runs(settings):
        raise Unreachable("no hub runs on this home; `argus up` reads the list when it starts")
    task_list = load_list(settings)
    reloaded = reload_code(settings)
    with open_database(settings) as database:
        registered = register_tasks(database, settings, task_list, now=datetime.now(UTC), by="reload")
    missing = find_missing(task_list, reloaded)
    if arguments.json:
        told = {**asdict(registered), "seconds": round(reloaded.seconds, 2), "missing": missing}
        print(as_json({**told, "problems": [broken.sentence for broken in task_list.broken]}))
    else:
        print(as_text(registered, reloaded))
    for broken in task_list.broken:
        print(f"argus: {broken.name} cannot be used: {broken.sentence}", file=sys.stderr)
    if missing:
        print(f"argus: Dagster cannot run {', '.join(missing)}; see its page of code locations", file=sys.stderr)
    return 1 if task_list.broken or missing else 0


def find_missing(task_list: TaskList, reloaded: Reloaded) -> list[str]:
    """Usable tasks that Dagster should have now, and has not."""
    return [
        task.name
        for task in task_list.tasks
        if task.enabled and task.mode == "run" and task.name not in reloaded.tasks
    ]


def as_text(registered: Registered, reloaded: Reloaded) -> str:
    kinds = ("added", "removed", "changed", "newly_broken", "mended")
    lines = [
        f"{kind.replace('_', ' '):<13}{', '.join(names)}" for kind in kinds if (names := getattr(registered, kind))
    ]
    if not lines:
        lines = ["nothing changed"]
    counted = f"{registered.tasks} tasks, {len(registered.broken)} broken"
    lines.append(f"{counted}; Dagster has them after {reloaded.seconds:.1f} s and starts new schedules within 30 s")
    return "\n".join(lines)
