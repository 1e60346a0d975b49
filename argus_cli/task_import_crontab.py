"""`argus task import-crontab FILE`: a verdict for each job of a crontab; exit 1: some need a look."""

from __future__ import annotations

import argparse
import getpass

from argus_cli.task_import import add_common_arguments, finish, read_source, zone_of
from argus_memory.settings import Settings
from argus_memory.tasks.import_crontab import import_crontab
from argus_memory.tasks.list_file import names_in


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_common_arguments(parser, "a crontab, for instance of `crontab -l`")
    parser.add_argument("--system", action="store_true", help="the form of /etc/crontab: a user before the command")


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    imported = import_crontab(
        read_source(arguments.file),
        zone=zone_of(arguments, settings),
        user=getpass.getuser(),
        system=arguments.system,
        taken=names_in(settings.tasks_folder),
    )
    return finish(arguments, settings, imported)
