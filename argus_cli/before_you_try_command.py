"""`argus before-you-try PLAN`: procedures and ways that led nowhere, across all projects; a row of the ledger."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from argus_cli.history_words import one_line
from argus_cli.hub import open_database
from argus_memory.settings import load_settings

if TYPE_CHECKING:
    from argus_memory.stages.before_you_try import Warnings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("plan", nargs="+", metavar="PLAN", help="what you are about to try, in words")
    parser.add_argument("--limit", type=int, default=8, help="1 to 50, 8 by default")


def run(arguments: argparse.Namespace) -> int:
    from argus_memory.stages.before_you_try import before_you_try
    from argus_memory.stages.spaces import open_embedder

    settings = load_settings()
    with open_database(settings) as database:
        found = before_you_try(
            database, settings, open_embedder(database, settings), plan=" ".join(arguments.plan),
            now=datetime.now(UTC), limit=arguments.limit,
        )  # fmt: skip
    print(json.dumps(asdict(found), default=str, ensure_ascii=False) if arguments.json else as_text(found))
    return 0


def as_text(found: Warnings) -> str:
    """Dead ends first, each with its day, its project and where it was said."""
    ordered = sorted(found.notes, key=lambda note: note.id not in found.dead_ends)
    lines = []
    for note in ordered:
        kind = "dead end" if note.id in found.dead_ends else "procedure"
        day = f"{note.said_at:%Y-%m-%d}" if note.said_at else "unknown day"
        lines.append(f"{kind}  note {note.id}  ({day}, {note.project or 'no project'})\n    {note.content}")
        lines.append(f"    from item {note.raw_id}: {one_line(note.source_ref)}")
    if not lines:
        lines.append("nothing on record: nobody told of trying this")
    if found.degraded:
        lines.append(f"({found.degraded})")
    return "\n".join(lines)
