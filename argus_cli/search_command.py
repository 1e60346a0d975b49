"""`argus search QUERY`: notes and verbatim turns, best first; nothing is recorded."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from argus_cli.hub import open_database
from argus_memory.rules.moments import parse_as_of
from argus_memory.settings import load_settings

if TYPE_CHECKING:
    from argus_memory.stages.search import Hit

SHOWN_CHARS = 300


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("query", nargs="+", metavar="QUERY", help="what to look for, in words")
    parser.add_argument("--project", help="only this project")
    parser.add_argument("--limit", type=int, default=20, help="1 to 200, 20 by default")
    parser.add_argument("--type", default="note,turn", help="note, turn or both (note,turn)")
    parser.add_argument("--as-of", metavar="DAY", help="what was known and held at the end of that day")


def run(arguments: argparse.Namespace) -> int:
    from argus_memory.stages.search import search
    from argus_memory.stages.spaces import open_embedder

    settings, now = load_settings(), datetime.now(UTC)
    with open_database(settings) as database:
        hits = search(
            database,
            settings,
            open_embedder(database, settings),
            q=" ".join(arguments.query),
            project=arguments.project,
            limit=arguments.limit,
            types=[word.strip() for word in arguments.type.split(",") if word.strip()],
            now=now,
            as_of=parse_as_of(arguments.as_of, name="--as-of", now=now),
        )
    if arguments.json:
        print(json.dumps({"results": [hit.as_json() for hit in hits], "degraded": hits.degraded}, ensure_ascii=False))
    else:
        print(as_text(hits, hits.degraded))
    return 0


def as_text(hits: Sequence[Hit], degraded: str | None = None) -> str:
    """Two lines a hit: what it is, and how it begins."""
    lines = []
    for hit in hits:
        told = (f"{hit.at:%Y-%m-%d}", hit.project, f"score {hit.score:.2f}", _withheld(hit))
        where = ", ".join(part for part in told if part)
        text = " ".join(hit.text.split())
        text = text if len(text) <= SHOWN_CHARS else text[: SHOWN_CHARS - 1] + "…"
        lines.append(f"{hit.type} {hit.id}  ({where})\n    {text}")
    if not lines:
        lines.append("nothing found")
    if degraded:
        lines.append(f"({degraded})")
    return "\n".join(lines)


def _withheld(hit: Hit) -> str | None:
    return f"withheld from recall: {hit.withheld}" if hit.withheld else None
