"""`argus timeline [--project P] [--since DAY] [--until DAY]`: what happened to notes, newest first."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from argus_cli.history_words import one_line
from argus_cli.hub import open_database
from argus_memory.rules.event_words import detail_words
from argus_memory.rules.moments import ACCEPTED, parse_moment
from argus_memory.settings import load_settings

if TYPE_CHECKING:
    from argus_memory.upkeep.history import Timeline


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--project", help="only this project, under any name it had")
    parser.add_argument("--since", metavar="DAY", help=f"from this day on: {ACCEPTED}".replace("%", "%%"))
    parser.add_argument("--until", metavar="DAY", help="up to the end of this day; without it up to now")
    parser.add_argument("--event", metavar="WORDS", help="only these kinds, as superseded,forgotten")
    parser.add_argument("--limit", type=int, default=100, help="1 to 1000, 100 by default")


def run(arguments: argparse.Namespace) -> int:
    from argus_memory.upkeep import history

    now = datetime.now(UTC)
    words = [word.strip() for word in (arguments.event or "").split(",") if word.strip()]
    since = parse_moment(arguments.since, name="--since", now=now) if arguments.since else history.EVER
    until = history.just_after(now)
    if arguments.until:
        until = parse_moment(arguments.until, name="--until", now=now, end=True)
    with open_database(load_settings()) as database:
        found = history.read_timeline(
            database,
            since=since,
            until=until,
            project=arguments.project,
            events=words or None,
            limit=arguments.limit,
        )
    print(json.dumps(asdict(found), default=str, ensure_ascii=False) if arguments.json else as_text(found))
    return 0


def as_text(found: Timeline) -> str:
    """A line an event; then what was left off, and what belongs to no known project."""
    lines = []
    for entry in found.entries:
        project = "" if found.project else f" [{entry['project'] or 'no project'}]"
        other = f" → note {entry['other_id']}" if entry["other_id"] else ""
        more = detail_words(entry["event"], entry["detail"])
        lines.append(
            f"{entry['at']:%Y-%m-%d %H:%M}  {entry['event']:<11} note {entry['note_id']}{other}{project}, by"
            f" {entry['actor']}: {one_line(entry['text'])}{more}"
        )
    if not lines:
        lines.append("nothing happened in this time" + (f" in project {found.project}" if found.project else ""))
    if found.more:
        lines.append(f"(older ones are left off: --limit, or --until {found.entries[-1]['at']:%Y-%m-%d})")
    if found.unattributed:
        beside = "are not shown: they belong" if found.project else "of this time belong"
        lines.append(f"({found.unattributed} events {beside} to no known project)")
    return "\n".join(lines)
