"""`argus diff SUBJECT --since DAY [--until DAY]`: what changed about a subject between two moments."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from argus_cli.history_words import one_line
from argus_cli.hub import open_database
from argus_memory.rules.moments import ACCEPTED, parse_moment
from argus_memory.settings import load_settings

if TYPE_CHECKING:
    from argus_memory.rules.timeline import Change
    from argus_memory.upkeep.history import SubjectDiff

HEADS = {
    "added": "new",
    "changed": "changed",
    "removed": "gone",
    "passed": "came and went",
    "corroborated": "heard again",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("subject", nargs="+", metavar="SUBJECT", help="words that the notes must hold")
    parser.add_argument("--since", metavar="DAY", required=True, help=f"compare with: {ACCEPTED}".replace("%", "%%"))
    parser.add_argument("--until", metavar="DAY", help="up to the end of this day; without it up to now")
    parser.add_argument("--project", help="only this project, under any name it had")


def run(arguments: argparse.Namespace) -> int:
    from argus_memory.upkeep import history

    now = datetime.now(UTC)
    until = history.just_after(now)
    if arguments.until:
        until = parse_moment(arguments.until, name="--until", now=now, end=True)
    with open_database(load_settings()) as database:
        found = history.read_diff(
            database,
            " ".join(arguments.subject),
            since=parse_moment(arguments.since, name="--since", now=now),
            until=until,
            project=arguments.project,
        )
    print(json.dumps(asdict(found), default=str, ensure_ascii=False) if arguments.json else as_text(found))
    return 0


def as_text(found: SubjectDiff) -> str:
    """A paragraph a kind of change, each line with its day; of a changed fact both texts."""
    parts = []
    for name, head in HEADS.items():
        lines: tuple[Change, ...] = getattr(found, name)
        if lines:
            parts.append(f"{head}:")
            parts += [line_as_text(line) for line in lines]
    if not parts:
        parts.append(f"nothing changed about {found.subject!r} since {found.since:%Y-%m-%d}")
    if found.left_off:
        parts.append(f"({found.left_off} more notes about it changed in this time and were not compared)")
    if found.unattributed:
        beside = "more belong" if found.project else "of these belong"
        parts.append(f"({found.unattributed} {beside} to no known project)")
    return "\n".join(parts)


def line_as_text(line: Change) -> str:
    """`  2026-03-04  superseded  note 3 → 9: old text → new text (garden, by argus)`"""
    other = f" → {line.other_id}" if line.other_id else ""
    text = " → ".join(one_line(part) for part in (line.before, line.after) if part)
    where = f"{line.project or 'no project'}, by {line.actor}"
    return f"  {line.at:%Y-%m-%d}  {line.event:<10}  note {line.note_id}{other}: {text} ({where})"
