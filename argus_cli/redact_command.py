"""`argus redact RAW [--text WORDS]`: take a captured item, or words in it, out of the whole store."""

from __future__ import annotations

import argparse
import getpass
import json
from dataclasses import asdict
from datetime import UTC, datetime

from argus_cli.hub import open_database
from argus_cli.write_words import redaction_as_text
from argus_memory.settings import load_settings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "raw", type=int, metavar="RAW", help="the item's id, as `argus search` and `argus note show` tell it"
    )
    add_options(parser)


def add_options(parser: argparse.ArgumentParser) -> None:
    """What `argus note redact` takes too."""
    parser.add_argument("--text", help="these words only, wherever they stand; without it the whole item")
    parser.add_argument("--reason", required=True, help="why; kept with the redaction, without the words")
    parser.add_argument("--replacement", help="what stands in their place (default: [redacted:request])")
    parser.add_argument("--dry-run", action="store_true", help="tell what would change; change nothing")


def run(arguments: argparse.Namespace) -> int:
    return redact_and_tell(arguments, raw_id=arguments.raw)


def redact_and_tell(arguments: argparse.Namespace, *, raw_id: int | None = None, note_id: int | None = None) -> int:
    """Exit 1 where tables wait to be swept or something holds the words still."""
    from argus_memory.upkeep.redacting import redact

    with open_database(load_settings()) as database:
        receipt = redact(
            database,
            raw_id=raw_id,
            note_id=note_id,
            text=arguments.text,
            reason=arguments.reason,
            replacement=arguments.replacement,
            dry_run=arguments.dry_run,
            actor=getpass.getuser(),
            now=datetime.now(UTC),
        )
    if arguments.json:
        print(json.dumps(asdict(receipt), default=str))
    else:
        print(redaction_as_text(receipt))
    return 1 if receipt.unswept or receipt.kept else 0
