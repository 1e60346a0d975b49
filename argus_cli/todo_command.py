"""`argus todo list|show|done|drop|reopen`: to-dos noticed in memory, the evidence behind them, a person's word."""

from __future__ import annotations

import argparse
import getpass
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from argus_cli.arguments import row_count
from argus_cli.hub import open_database
from argus_memory.settings import load_settings

if TYPE_CHECKING:
    from argus_memory.upkeep.task_items import Decision, TaskItems

VERBS: Final[Mapping[str, tuple[Decision, str]]] = {
    "done": ("verified", "it is done: your word counts as the proof"),
    "drop": ("dropped", "it is not to be done any more"),
    "reopen": ("open", "it is still to be done"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    json_too = argparse.ArgumentParser(add_help=False)
    json_too.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="machine-readable output")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    listed = verbs.add_parser("list", help="what is not settled, soonest due first", parents=[json_too])
    listed.add_argument("--all", action="store_true", help="settled and dropped ones as well")
    listed.add_argument("--project", metavar="P", help="of this project alone")
    listed.add_argument("--limit", type=row_count, default=50, metavar="N", help="at most N (50)")
    shown = verbs.add_parser("show", help="one to-do with every step and its evidence", parents=[json_too])
    shown.add_argument("id", type=int, help="as `argus todo list` shows it")
    for verb, (_, told) in VERBS.items():
        row = verbs.add_parser(verb, help=told, description=told, parents=[json_too])
        row.add_argument("id", type=int, help="as `argus todo list` shows it")


def run(arguments: argparse.Namespace) -> int:
    from argus_memory.upkeep import task_items

    with open_database(load_settings()) as database:
        if arguments.verb == "list":
            statuses = task_items.EVERY if arguments.all else task_items.UNSETTLED
            found = task_items.list_task_items(
                database, statuses=statuses, project=arguments.project, limit=arguments.limit
            )
            _say(arguments.json, {"items": found.items, "total": found.total, "counts": found.counts}, as_text(found))
            return 0
        if arguments.verb == "show":
            item = task_items.get_task_item(database, arguments.id)
            _say(arguments.json, item, item_as_text(item))
            return 0
        to, _ = VERBS[arguments.verb]
        before = task_items.decide_task_item(
            database, arguments.id, to, actor=getpass.getuser(), now=datetime.now(UTC)
        )
    _say(arguments.json, {"id": arguments.id, "from": before, "to": to}, f"to-do {arguments.id}: {before} → {to}")
    return 0


def as_text(found: TaskItems) -> str:
    """A line each, then how many there are of every status."""
    counts = ", ".join(f"{n} {status}" for status, n in sorted(found.counts.items())) or "none was noticed yet"
    if not found.items:
        return f"no to-do waits ({counts})"
    lines = [
        f"{row['id']:>5}  {row['status']:<12} {row['due_on'] or '':<10}  {row['text']}"
        f"  [{row['project'] or 'no project'}, {row['said_at']:%Y-%m-%d}]"
        for row in found.items
    ]
    return "\n".join([*lines, f"{len(found.items)} of {found.total} shown; in all {counts}"])


def item_as_text(item: Mapping[str, Any]) -> str:
    """The to-do, the words that named it, and each step with what proves it."""
    due = f", due {item['due_on']}" if item["due_on"] else ""
    lines = [
        f"{item['id']}  {item['text']}",
        f"    {item['status']}{due}, {item['project'] or 'no project'}, said {item['said_at']:%Y-%m-%d %H:%M} UTC",
        f"    named by: {item['source_ref']}",
    ]
    for event in item["events"]:
        proof = f"{event['evidence']} {event['evidence_id']}" if event["evidence_id"] else event["evidence"]
        said = f": {event['quote']}" if event["quote"] else ""
        lines.append(f"    {event['at']:%Y-%m-%d %H:%M}  → {event['to_status']} by {proof}{said}")
    return "\n".join(lines)


def _say(as_json: bool, value: Any, text: str) -> None:
    if as_json:
        import orjson

        print(orjson.dumps(value, default=str).decode())
    else:
        print(text)
