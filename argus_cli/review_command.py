"""`argus review list|approve|reject|undo`: merges that wait for a person, and merges to take back."""

from __future__ import annotations

import argparse
import getpass
import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from argus_cli.hub import open_database
from argus_memory.settings import load_settings

if TYPE_CHECKING:
    from argus_memory.upkeep.review import HeldMerge, ReviewReceipt

VERBS = {
    "approve": "let the newer note overrule the older one",
    "reject": "keep both notes",
    "undo": "take a merge back: tombstone, validity and confidence; a rejected one waits again",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    json_too = argparse.ArgumentParser(add_help=False)
    json_too.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="machine-readable output")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    verbs.add_parser("list", help="merges that wait", parents=[json_too])
    for verb, told in VERBS.items():
        row = verbs.add_parser(verb, help=told, description=told, parents=[json_too])
        row.add_argument("id", type=int, help="the merge's id, as `argus review list` shows it")


def run(arguments: argparse.Namespace) -> int:
    from argus_memory.upkeep import review

    with open_database(load_settings()) as database:
        if arguments.verb == "list":
            held = review.list_held(database)
            print(_list_as_json(held) if arguments.json else list_as_text(held))
            return 0
        decide = {"approve": review.approve, "reject": review.reject, "undo": review.undo}[arguments.verb]
        receipt = decide(database, arguments.id, getpass.getuser(), now=datetime.now(UTC))
    print(json.dumps(asdict(receipt)) if arguments.json else receipt_as_text(receipt))
    return 0


def list_as_text(held: Sequence[HeldMerge]) -> str:
    """Newer above older, with days and confidence; "pending=0" when nothing waits."""
    if not held:
        return "nothing waits for review (pending=0)"
    parts = []
    for merge in held:
        close = "" if merge.similarity is None else f", closeness {merge.similarity:.2f}"
        parts.append(
            f"{merge.id}  {merge.project or 'no project'}, judged by {merge.model}{close}: {merge.reasoning}\n"
            f"    new {merge.note_said_at:%Y-%m-%d} (confidence {merge.note_confidence:.2f})  {merge.note}\n"
            f"    old {merge.other_said_at:%Y-%m-%d} (confidence {merge.other_confidence:.2f})  {merge.other}"
        )
    return "\n".join(parts)


def _list_as_json(held: Sequence[HeldMerge]) -> str:
    return json.dumps({"held": [asdict(merge) for merge in held]}, default=datetime.isoformat)


def receipt_as_text(receipt: ReviewReceipt) -> str:
    changed = [f"tombstoned note {note}" for note in receipt.tombstoned]
    changed += [f"restored note {note}" for note in receipt.restored]
    return f"merge {receipt.id}: {receipt.was} → {receipt.status}" + (f"; {', '.join(changed)}" if changed else "")
