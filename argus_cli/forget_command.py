"""`argus forget --source, --session, --project, --since`: undo a whole arrival, counted first, restorable."""

from __future__ import annotations

import argparse
import getpass
import json
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from argus_cli.counts import count
from argus_cli.hub import open_database
from argus_memory.rules.moments import ACCEPTED, parse_moment
from argus_memory.settings import load_settings

if TYPE_CHECKING:
    from argus_memory.upkeep.arrivals import ArrivalReceipt


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--source", metavar="S", help="what came from this source, claude-code for instance")
    parser.add_argument("--session", metavar="ID", help="what was said in this session")
    parser.add_argument("--project", metavar="P", help="what belongs to this project")
    told = f"what was captured from then on: {ACCEPTED}".replace("%", "%%")
    parser.add_argument("--since", metavar="DAY", help=told)
    parser.add_argument("--yes", action="store_true", help="do it; without it only counted")
    parser.add_argument("--reason", metavar="TEXT", help="why; kept with every decision")
    parser.add_argument("--list", action="store_true", help="arrivals that were forgotten")
    parser.add_argument("--restore", type=int, metavar="ARRIVAL", help="bring a forgotten arrival back whole")


def run(arguments: argparse.Namespace) -> int:
    from argus_memory.upkeep import arrivals

    now, actor = datetime.now(UTC), getpass.getuser()
    since = parse_moment(arguments.since, name="--since", now=now) if arguments.since else None
    arrival = arrivals.Arrival(arguments.source, arguments.session, arguments.project, since)
    with open_database(load_settings()) as database:
        if arguments.list:
            rows = arrivals.list_arrivals(database)
            _say(arguments.json, {"arrivals": rows}, "\n".join(map(_line, rows)) or "no arrival was forgotten")
            return 0
        if arguments.restore is not None:
            back = arrivals.restore_arrival(database, arguments.restore, actor, now=now)
            left = f"; {back.left} notes were changed since and stay as they are" if back.left else ""
            text = f"arrival {back.id} restored: {_words(back)}{left}"
            _say(arguments.json, asdict(back), text)
            return 0
        if not arguments.yes:
            counted = arrivals.count_arrival(database, arrival)
            text = f"{_words(counted)} would be forgotten; --yes does it"
            _say(arguments.json, asdict(counted), text)
            return 0
        done = arrivals.forget_arrival(database, arrival, actor, now=now, reason=arguments.reason)
    text = (
        f"forgot {_words(done)}, withheld now, as arrival {done.id};"
        f" `argus forget --restore {done.id}` brings them back"
    )
    _say(arguments.json, asdict(done), text)
    return 0


def _line(row: Mapping[str, Any]) -> str:
    named = ", ".join(f"{name} {row[name]}" for name in ("source", "session", "project", "since") if row[name])
    state = f"restored {row['restored_at']:%Y-%m-%d} by {row['restored_by']}" if row["restored_at"] else "forgotten"
    counts = f"{row['notes']} notes, {row['raw_items']} items"
    return f"{row['id']}  {row['at']:%Y-%m-%d %H:%M}  {named}: {counts}; {state}"


def _say(as_json: bool, data: Mapping[str, Any], text: str) -> None:
    print(json.dumps(data, default=str, ensure_ascii=False) if as_json else text)


def _words(receipt: ArrivalReceipt) -> str:
    return f"{count(receipt.notes, 'note')} and {count(receipt.raw_items, 'captured item')}"
