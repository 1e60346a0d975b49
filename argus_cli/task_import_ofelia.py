"""`argus task import-ofelia FILE`: a verdict for each job of an Ofelia config.ini; exit 1: some need a look."""

from __future__ import annotations

import argparse

from argus_cli.task_import import add_common_arguments, finish, read_source, zone_of
from argus_memory.settings import Settings
from argus_memory.tasks.import_ofelia import import_ofelia
from argus_memory.tasks.list_file import names_in


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_common_arguments(parser, "Ofelia's config.ini")


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    taken = names_in(settings.tasks_folder)
    text = read_source(arguments.file)
    return finish(arguments, settings, import_ofelia(text, zone=zone_of(arguments, settings), taken=taken))
