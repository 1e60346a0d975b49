"""`argus remember TEXT`: note a fact as it is said, without a model."""

from __future__ import annotations

import argparse
import getpass
import json
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from argus_cli.hub import open_database
from argus_cli.write_words import write_as_text
from argus_memory.records import CATEGORIES
from argus_memory.settings import load_settings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", nargs="+", help="one fact, as it is to be recalled")
    parser.add_argument("--category", choices=CATEGORIES, default="fact", help="default: fact")
    parser.add_argument("--project", help="default: the project of the folder you are in; `global` for all")


def run(arguments: argparse.Namespace) -> int:
    from argus_memory.upkeep.receiving import remember
    from argus_memory.upkeep.writing import Writer

    settings = load_settings()
    writer = Writer(getpass.getuser(), cwd=str(Path.cwd()))
    with open_database(settings) as database:
        receipt = remember(
            database,
            settings,
            " ".join(arguments.text),
            writer,
            now=datetime.now(UTC),
            category=arguments.category,
            project=arguments.project,
        )
    print(json.dumps(asdict(receipt)) if arguments.json else write_as_text(receipt))
    return 1 if receipt.outcome == "refused" else 0
