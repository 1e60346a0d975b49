"""`argus task new NAME --handler code|llm|agent`: a folder that runs, and its stanza in config.ini."""

from __future__ import annotations

import argparse

from argus_cli.task_words import as_json
from argus_memory.settings import Settings
from argus_memory.tasks.new_task import make_task


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME")
    parser.add_argument("--handler", choices=("code", "llm", "agent"), default="code", help="code by default")
    parser.add_argument("--schedule", help="`30 7 * * 1-5`, @daily or `@every 90m`; without: started by a person")
    parser.add_argument("--shell", action="store_true", help="a shell script instead of a Python one")
    parser.add_argument("--description", help="words for the pages")


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    made = make_task(
        settings.tasks_folder,
        arguments.name,
        arguments.handler,
        schedule=arguments.schedule,
        shell=arguments.shell,
        description=arguments.description,
    )
    if arguments.json:
        print(as_json({"name": made.name, "folder": made.folder, "files": made.files, "stanza": made.stanza}))
    else:
        print(f"made {made.folder} ({', '.join(made.files)}) and its stanza:\n\n{made.stanza}")
        print(f"Next: edit it, `argus task check {made.name}`, `argus reload`, `argus task run {made.name}`.")
    return 0
