"""`argus task export-ofelia`: the tasks as a config.ini that stock Ofelia reads; exit 1: some had to be left out."""

from __future__ import annotations

import argparse
import sys

from argus_cli.task_import import zone_of
from argus_cli.task_words import as_json, load_list
from argus_memory.settings import Settings
from argus_memory.tasks.export_ofelia import export_ofelia, why_not


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--timezone", metavar="ZONE", help="TZ of Ofelia's container")


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    task_list = load_list(settings)
    text = export_ofelia(task_list.tasks, zone=zone_of(arguments, settings))
    left_out = {task.name: reason for task in task_list.tasks if (reason := why_not(task))}
    left_out |= {broken.name: broken.sentence for broken in task_list.broken}
    if arguments.json:
        print(as_json({"config": text, "left_out": left_out}))
    else:
        print(text, end="")
        for name, reason in left_out.items():
            print(f"argus: {name} is left out: {reason}", file=sys.stderr)
    return 1 if left_out else 0
