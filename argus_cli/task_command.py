"""`argus task …`: the recurring tasks of tasks/config.ini. Each verb is a module task_<verb>.py."""

from __future__ import annotations

import argparse
import importlib
from dataclasses import dataclass
from types import ModuleType

from argus_memory.settings import load_settings


@dataclass(frozen=True, slots=True)
class Verb:
    name: str
    module: str  # below argus_cli, with add_arguments(parser) and run(arguments, settings) -> exit code
    help: str


VERBS: tuple[Verb, ...] = (
    Verb("list", "task_list", "every task: state, schedule, next due, last run"),
    Verb("check", "task_check", "read config.ini without a hub; the next five times of each task; exit 1: broken"),
    Verb("new", "task_new", "make a task's folder and its stanza"),
    Verb("run", "task_run", "run a task once through Dagster, and show how it ended"),
    Verb("runs", "task_runs", "the recent runs of a task"),
    Verb("pause", "task_pause", "start and expect nothing of a task for a while"),
    Verb("resume", "task_resume", "end a pause"),
    Verb("import-ofelia", "task_import_ofelia", "a verdict for each job of an Ofelia config.ini, and stanzas"),
    Verb("import-crontab", "task_import_crontab", "a verdict for each line of a crontab, and stanzas"),
    Verb("export-ofelia", "task_export_ofelia", "the tasks as a config.ini that Ofelia reads"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    json_too = argparse.ArgumentParser(add_help=False)
    json_too.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="machine-readable output")
    json_too.add_argument("--debug", action="store_true", default=argparse.SUPPRESS, help="tracebacks with errors")
    rows = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    for verb in VERBS:
        row = rows.add_parser(verb.name, help=verb.help, description=verb.help, parents=[json_too])
        _load(verb).add_arguments(row)


def run(arguments: argparse.Namespace) -> int:
    verb = next(verb for verb in VERBS if verb.name == arguments.verb)
    return int(_load(verb).run(arguments, load_settings()))


def _load(verb: Verb) -> ModuleType:
    return importlib.import_module(f"argus_cli.{verb.module}")
