"""`argus review list|approve|reject|undo`: merges and agents' decisions that wait for a person, and merges to take
back."""

from __future__ import annotations

import argparse
import getpass
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from argus_cli.hub import open_database
from argus_memory.errors import UsageError
from argus_memory.settings import load_settings

if TYPE_CHECKING:
    from argus_memory.db import Database
    from argus_memory.upkeep.held import HeldDecision
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
        row.add_argument("id", help="as listed: 12 a merge, d12 an agent's decision, p12 its proposal")


def run(arguments: argparse.Namespace) -> int:
    from argus_memory.upkeep import review
    from argus_memory.upkeep.held import list_held_decisions

    with open_database(load_settings()) as database:
        if arguments.verb == "list":
            from argus_memory.upkeep.proposals import list_proposals

            held, asked = review.list_held(database), list_held_decisions(database)
            proposed = list_proposals(database)
            print(_list_as_json(held, asked, proposed) if arguments.json else list_as_text(held, asked, proposed))
            return 0
        if arguments.id.startswith("p"):
            return _settle_proposal(database, arguments)
        if arguments.id.startswith("d"):
            return _settle(database, arguments)
        decide = {"approve": review.approve, "reject": review.reject, "undo": review.undo}[arguments.verb]
        receipt = decide(database, _number(arguments.id), getpass.getuser(), now=datetime.now(UTC))
    print(json.dumps(asdict(receipt)) if arguments.json else receipt_as_text(receipt))
    return 0


def _settle(database: Database, arguments: argparse.Namespace) -> int:
    """Approve or reject an agent's decision."""
    from argus_memory.upkeep.held import approve_decision, reject_decision

    if arguments.verb == "undo":
        raise UsageError("a decision is taken back by its opposite: `argus note restore`, include or unpin")
    id_, actor, now = _number(arguments.id[1:]), getpass.getuser(), datetime.now(UTC)
    if arguments.verb == "approve":
        from argus_memory.upkeep.proposals import carry_correction

        receipt = approve_decision(database, id_, actor, now=now, others={"correct": carry_correction})
    else:
        receipt = reject_decision(database, id_, actor, now=now)
    done = "approved" if arguments.verb == "approve" else "rejected"
    print(json.dumps(asdict(receipt)) if arguments.json else f"decision {receipt.decision_id}: {done}")
    return 0


def _settle_proposal(database: Database, arguments: argparse.Namespace) -> int:
    """Make an agent's proposal a note, or turn it down for good."""
    from argus_memory.upkeep.proposals import accept_proposal, reject_proposal

    if arguments.verb == "undo":
        raise UsageError("a proposal is taken back by its note (`argus note forget`), a reject by `argus remember`")
    do = accept_proposal if arguments.verb == "approve" else reject_proposal
    receipt = do(database, _number(arguments.id[1:]), getpass.getuser(), now=datetime.now(UTC))
    done = f"note {receipt.note_id}" if arguments.verb == "approve" else "rejected: it does not come back by itself"
    print(json.dumps(asdict(receipt)) if arguments.json else f"proposal {arguments.id[1:]}: {done}")
    return 0


def _number(text: str) -> int:
    if not text.isdecimal():
        raise UsageError(f"{text!r} is no id: `argus review list` shows them")
    return int(text)


def list_as_text(
    held: Sequence[HeldMerge], asked: Sequence[HeldDecision] = (), proposed: Sequence[Mapping[str, Any]] = ()
) -> str:
    """Newer above older, with days and confidence; "pending=0" when nothing waits."""
    if not held and not asked and not proposed:
        return "nothing waits for review (pending=0)"
    parts = []
    for merge in held:
        close = "" if merge.similarity is None else f", closeness {merge.similarity:.2f}"
        parts.append(
            f"{merge.id}  {merge.project or 'no project'}, judged by {merge.model}{close}: {merge.reasoning}\n"
            f"    new {merge.note_said_at:%Y-%m-%d} (confidence {merge.note_confidence:.2f})  {merge.note}\n"
            f"    old {merge.other_said_at:%Y-%m-%d} (confidence {merge.other_confidence:.2f})  {merge.other}"
        )
    for one in asked:
        why = f", because: {one.reason}" if one.reason else ""
        parts.append(f"d{one.id}  {one.actor} asks to {one.decision} note {one.note_id}{why}\n    {one.content}")
    for each in proposed:
        against = f"\n    disputes note {each['disputes']}  {each['disputed']}" if each["disputes"] else ""
        why = f" ({each['reason']})" if each["reason"] else ""
        parts.append(f"p{each['id']}  {each['actor']} proposes{why}\n    {each['content']}{against}")
    return "\n".join(parts)


def _list_as_json(
    held: Sequence[HeldMerge], asked: Sequence[HeldDecision], proposed: Sequence[Mapping[str, Any]]
) -> str:
    data = {
        "held": [asdict(merge) for merge in held],
        "decisions": [asdict(one) for one in asked],
        "proposals": [dict(each) for each in proposed],
    }
    return json.dumps(data, default=datetime.isoformat)


def receipt_as_text(receipt: ReviewReceipt) -> str:
    changed = [f"tombstoned note {note}" for note in receipt.tombstoned]
    changed += [f"restored note {note}" for note in receipt.restored]
    return f"merge {receipt.id}: {receipt.was} → {receipt.status}" + (f"; {', '.join(changed)}" if changed else "")
