"""`argus review list|approve|reject|undo`: merges, agents' decisions and proposals and regenerations that wait for a
person, and what to take back."""

from __future__ import annotations

import argparse
import getpass
import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from argus_cli.hub import open_database
from argus_memory.errors import UsageError
from argus_memory.settings import load_settings

if TYPE_CHECKING:
    from argus_memory.db import Database
    from argus_memory.records import WriteReceipt
    from argus_memory.upkeep.held import HeldDecision
    from argus_memory.upkeep.review import HeldMerge, ReviewReceipt
    from argus_memory.upkeep.review_queue import ReviewQueue, SinceLooked

VERBS = {
    "approve": "let it happen: the merge, the agent's decision, the proposed note, the regeneration",
    "reject": "leave things as they are; a rejected proposal does not come back by itself",
    "undo": "take a merge back: tombstone, validity and confidence; a rejected or auto-approved one waits again",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    json_too = argparse.ArgumentParser(add_help=False)
    json_too.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="machine-readable output")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    verbs.add_parser("list", help="all that waits, and what ARGUS_AUTO_APPROVE let through", parents=[json_too])
    for verb, told in VERBS.items():
        row = verbs.add_parser(verb, help=told, description=told, parents=[json_too])
        row.add_argument("id", help="as listed: 12 a merge, d12 an agent's decision, p12 its proposal")
        if verb == "approve":
            row.add_argument(
                "--dry-run", action="store_true", help="of a redaction that an agent asks for: tell what would go"
            )


def run(arguments: argparse.Namespace) -> int:
    settings = load_settings()
    with open_database(settings) as database:
        if arguments.verb == "list":
            return _list(database, as_json=arguments.json)
        kind, id_ = arguments.id[:1], arguments.id
        if arguments.verb == "approve" and arguments.dry_run:
            return _preview(database, arguments)
        if kind == "p":
            return _settle_proposal(database, arguments)
        if kind == "d":
            return _settle(database, arguments)
        if kind == "r":
            other = {"approve": "--accept", "reject": "--dismiss"}.get(arguments.verb, "--from DAY")
            raise UsageError(f"a regeneration is settled by `argus regenerate {other} {id_[1:]}`")
        from argus_memory.upkeep import review

        decide = {"approve": review.approve, "reject": review.reject, "undo": review.undo}[arguments.verb]
        receipt = decide(database, _number(id_), getpass.getuser(), now=datetime.now(UTC))
    print(json.dumps(asdict(receipt)) if arguments.json else receipt_as_text(receipt))
    return 0


def _list(database: Database, *, as_json: bool) -> int:
    """Print what waits; for a person that counts as having looked, for a script it does not."""
    from argus_memory.upkeep.review_queue import mark_looked, read_queue

    queue = read_queue(database)
    if as_json:
        print(json.dumps(asdict(queue), default=str))
        return 0
    print(queue_as_text(queue))
    if sys.stdout.isatty():
        mark_looked(database, now=datetime.now(UTC))
    return 0


def _settle(database: Database, arguments: argparse.Namespace) -> int:
    """Approve or reject an agent's decision."""
    from argus_memory.upkeep.held import approve_decision, reject_decision

    if arguments.verb == "undo":
        raise UsageError("a decision is taken back by its opposite: `argus note restore`, include or unpin")
    id_, actor, now = _number(arguments.id[1:]), getpass.getuser(), datetime.now(UTC)
    if arguments.verb == "approve":
        receipt = approve_decision(database, id_, actor, now=now)
    else:
        receipt = reject_decision(database, id_, actor, now=now)
    done = "approved" if arguments.verb == "approve" else "rejected"
    more = f"; {receipt.detail}" if receipt.detail and arguments.verb == "approve" else ""
    print(json.dumps(asdict(receipt)) if arguments.json else f"decision {receipt.decision_id}: {done}{more}")
    return 0


def _preview(database: Database, arguments: argparse.Namespace) -> int:
    """What a held redaction would take out."""
    from argus_cli.write_words import redaction_as_text
    from argus_memory.upkeep.held import preview_redaction

    if arguments.id[:1] != "d":
        raise UsageError(f"--dry-run: {arguments.id} is no redaction that an agent asks for (d12)")
    receipt = preview_redaction(database, _number(arguments.id[1:]), getpass.getuser(), now=datetime.now(UTC))
    print(json.dumps(asdict(receipt), default=str) if arguments.json else redaction_as_text(receipt))
    return 0


def _settle_proposal(database: Database, arguments: argparse.Namespace) -> int:
    """Make an agent's proposal a note, or turn it down for good."""
    from argus_memory.upkeep.proposals import accept_proposal, reject_proposal, undo_auto

    verbs: dict[str, Callable[..., WriteReceipt]] = {
        "approve": accept_proposal,
        "reject": reject_proposal,
        "undo": undo_auto,
    }
    receipt = verbs[arguments.verb](database, _number(arguments.id[1:]), getpass.getuser(), now=datetime.now(UTC))
    done = {
        "approve": f"note {receipt.note_id}",
        "reject": "rejected: it does not come back by itself",
        "undo": "it waits again",
    }[arguments.verb]
    print(json.dumps(asdict(receipt)) if arguments.json else f"proposal {arguments.id[1:]}: {done}")
    return 0


def _number(text: str) -> int:
    if not text.isdecimal():
        raise UsageError(f"{text!r} is no id: `argus review list` shows them")
    return int(text)


def queue_as_text(queue: ReviewQueue) -> str:
    """What waits, each kind under its own letter, then the counts; "pending=0" when nothing waits."""
    parts = [_merge(merge) for merge in queue.held] + [_asked(one) for one in queue.decisions]
    for each in queue.proposals:
        gone = f" ({each['disputed_gone']} meanwhile)" if each["disputed_gone"] else ""
        against = f"\n    disputes note {each['disputes']}{gone}  {each['disputed']}" if each["disputes"] else ""
        why = f" ({each['reason']})" if each["reason"] else ""
        parts.append(f"p{each['id']}  {each['actor']} proposes{why}\n    {each['content']}{against}")
    for each in queue.regenerations:
        parts.append(
            f"r{each['id']}  regeneration of {each['first_day']} to {each['last_day']}: {each['loss']:.0%} of the"
            f" notes would be lost\n    `argus regenerate show {each['id']}`, then --accept or --dismiss {each['id']}"
        )
    waiting = ", ".join(f"{name}={count}" for name, count in queue.counts.items() if count)
    parts.append(f"waiting: {waiting}" if waiting else "nothing waits for review (pending=0)")
    return "\n".join([*parts, *_since(queue.since)])


def _merge(merge: HeldMerge) -> str:
    close = "" if merge.similarity is None else f", closeness {merge.similarity:.2f}"
    again = " (you took it back from the switch)" if merge.auto_at else ""
    pinned = ", pinned" if merge.other_pinned else ""
    gone = [(merge.note_id, merge.note_gone), (merge.other_id, merge.other_gone)]
    moot = "".join(f"\n    note {note} was {how} meanwhile: reject this" for note, how in gone if how)
    return (
        f"{merge.id}  {merge.verdict}, {merge.project or 'no project'}, judged by {merge.model}{close}:"
        f" {merge.reasoning}{again}\n"
        f"    note {merge.note_id}  {merge.note_said_at:%Y-%m-%d} (confidence {merge.note_confidence:.2f}) "
        f" {merge.note}\n"
        f"    disputes note {merge.other_id}  {merge.other_said_at:%Y-%m-%d} (confidence"
        f" {merge.other_confidence:.2f}{pinned})  {merge.other}{moot}"
    )


def _asked(one: HeldDecision) -> str:
    why = f", because: {one.reason}" if one.reason else ""
    into = f"\n    new: {one.new_text}" if one.new_text else ""
    if one.decision == "redact":
        into = f"\n    take out for good: {one.new_text or 'all of the item that it quotes'}"
        into += f"\n    `argus review approve d{one.id} --dry-run` tells what would go"
    return f"d{one.id}  {one.actor} asks to {one.decision} note {one.note_id}{why}\n    {one.content}{into}"


def _since(since: SinceLooked) -> list[str]:
    when = f"since you looked ({since.looked_at:%Y-%m-%d %H:%M})" if since.looked_at else "nobody looked before"
    new = since.new_merges + since.new_proposals + since.new_decisions
    lines = [f"{when}: {new} new"]
    if since.auto_approved:
        lines.append(f"approved by itself meanwhile: {since.auto_approved}")
        for each in since.auto:
            id_ = f"p{each['id']}" if each["what"] == "proposal" else str(each["id"])
            lines.append(f"    {each['auto_at']:%Y-%m-%d}  {each['content']}  (`argus review undo {id_}`)")
    return lines


def receipt_as_text(receipt: ReviewReceipt) -> str:
    changed = [f"tombstoned note {note}" for note in receipt.tombstoned]
    changed += [f"restored note {note}" for note in receipt.restored]
    return f"merge {receipt.id}: {receipt.was} → {receipt.status}" + (f"; {', '.join(changed)}" if changed else "")
