"""`argus task resume NAME`: end a pause; what is due from now on is started and expected again."""

from __future__ import annotations

import argparse
import getpass
from datetime import UTC, datetime

from argus_cli.hub import open_database
from argus_cli.task_words import as_json
from argus_memory.settings import Settings
from argus_memory.tasks.registry import resume_task


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME")


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    now = datetime.now(UTC)
    with open_database(settings) as database:
        resume_task(database, arguments.name, actor=getpass.getuser(), now=now)
    print(as_json({"task": arguments.name, "resumed_at": now}) if arguments.json else f"{arguments.name} goes on")
    return 0
