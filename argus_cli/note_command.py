"""`argus note show|history|expand` and the decisions on a note: pin, exclude, forget, restore, reconfirm."""

from __future__ import annotations

import argparse
import getpass
import json
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, cast

from argus_cli.counts import count
from argus_cli.history_words import history_as_text, one_line
from argus_cli.hub import open_database
from argus_cli.redact_command import add_options, redact_and_tell
from argus_cli.write_words import write_as_text
from argus_memory.settings import load_settings

if TYPE_CHECKING:
    from argus_memory.db import Database
    from argus_memory.records import WriteReceipt
    from argus_memory.upkeep.decisions import Verb
    from argus_memory.upkeep.fading import NoteLife
    from argus_memory.upkeep.reads import NoteRead

READS: Final[Mapping[str, str]] = {
    "show": "the note, its standing and where it comes from",
    "history": "everything that ever happened to the note, and who did it",
    "expand": "the captured item that the note quotes, verbatim",
}
DECISIONS: Final[Mapping[str, tuple[str, str]]] = {
    "pin": ("pin", "keep it from being merged, superseded or redistilled away without review"),
    "unpin": ("unpin", "let it be treated as any other note"),
    "exclude": ("exclude", "keep it, but show it in no recall"),
    "include": ("include", "show it in recall again"),
    "forget": ("forget", "take it away for good: it does not come back by itself, also reworded"),
    "restore": ("restore", "bring a forgotten note back"),
    "reconfirm": ("confirm", "say that it still holds"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    json_too = argparse.ArgumentParser(add_help=False)
    json_too.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="machine-readable output")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    for verb, told in (*READS.items(), *((verb, told) for verb, (_, told) in DECISIONS.items())):
        row = verbs.add_parser(verb, help=told, description=told, parents=[json_too])
        row.add_argument("id", type=int, help="the note's id, as recall and search show it")
        if verb in DECISIONS:
            row.add_argument("--reason", metavar="TEXT", help="why; kept with the decision")
    told = "put other words in its place; the old note is kept as superseded"
    row = verbs.add_parser("correct", help=told, description=told, parents=[json_too])
    row.add_argument("id", type=int, help="the note's id")
    row.add_argument("text", nargs="+", help="what holds instead")
    row.add_argument("--reason", metavar="TEXT", help="why; kept with the decision")
    told = "take what it quotes, or words in it, out of the whole store"
    row = verbs.add_parser("redact", help=told, description=told, parents=[json_too])
    row.add_argument("id", type=int, help="the note's id")
    add_options(row)


def run(arguments: argparse.Namespace) -> int:
    now = datetime.now(UTC)
    if arguments.verb == "redact":
        return redact_and_tell(arguments, note_id=arguments.id)
    if arguments.verb == "correct":
        return _correct(arguments, now)
    with open_database(load_settings()) as database:
        if arguments.verb in READS:
            data, text = _read(database, arguments.verb, arguments.id, now)
        else:
            from argus_memory.upkeep.decisions import decide

            verb = cast("Verb", DECISIONS[arguments.verb][0])
            receipt = decide(database, verb, arguments.id, getpass.getuser(), now=now, reason=arguments.reason)
            data, text = asdict(receipt), receipt_as_text(receipt, arguments.verb)
    print(json.dumps(data, default=str, ensure_ascii=False) if arguments.json else text)
    return 0


def _correct(arguments: argparse.Namespace, now: datetime) -> int:
    from argus_memory.upkeep.receiving import correct
    from argus_memory.upkeep.writing import Writer

    settings = load_settings()
    with open_database(settings) as database:
        receipt = correct(
            database, settings, arguments.id, " ".join(arguments.text), Writer(getpass.getuser()), now=now,
            reason=arguments.reason,
        )  # fmt: skip
    print(json.dumps(asdict(receipt)) if arguments.json else write_as_text(receipt))
    return 1 if receipt.outcome == "refused" else 0


def _read(database: Database, verb: str, note_id: int, now: datetime) -> tuple[Mapping[str, Any], str]:
    from argus_memory.upkeep import history, reads

    if verb == "history":
        told = history.read_history(database, note_id, now=now)
        return asdict(told), history_as_text(told)
    found = reads.get_note(database, note_id, now=now)
    if verb == "show":
        return {**asdict(found.note), **found.standing(), "sources": found.sources}, note_as_text(found)
    raw = reads.get_raw(database, found.raw_id, now=now)
    return {"note_id": note_id, "source_ref": found.note.source_ref, "raw": raw}, str(raw["body"])


def note_as_text(found: NoteRead) -> str:
    note, (source,) = found.note, found.sources
    where = ", ".join(str(part) for part in (note.category, note.project or "no project", found.state))
    return (
        f"note {note.id}  ({where}, confidence {note.confidence:.2f})\n"
        f"    {note.content}\n"
        f"    from {source['source']}, item {found.raw_id}, said {source['said_at']:%Y-%m-%d %H:%M}:"
        f" {one_line(note.source_ref)}\n"
        f"    {_life_as_text(found.life)}"
    )


def _life_as_text(life: NoteLife) -> str:
    """Whether it was shown and used, how present it is, and what a person decided of it."""
    used = f", used by {life.used} of {life.judged} answers" if life.judged else ""
    left = f"{life.standing} ({life.retention:.0%} of its importance left)"
    parts = [f"shown {count(life.shown_count, 'time')}{used}", left]
    for word, at in (("pinned", life.pinned_at), ("excluded", life.excluded_at), ("reconfirmed", life.confirmed_at)):
        if at is not None:
            parts.append(f"{word} {at:%Y-%m-%d}")
    for file in life.files:
        since = f" {file['changed_on']}" if file["changed_on"] else ""
        parts.append(f"{file['path']} {file['said'] or 'not asked yet'}{since}")
    return "; ".join(parts)


def receipt_as_text(receipt: WriteReceipt, verb: str) -> str:
    """`note 7: forget changed it (decision 3)`; what was so before says so."""
    said = {"changed": "done", "held": "held", "no-op": "nothing to do"}.get(receipt.outcome, receipt.outcome)
    decision = f" (decision {receipt.decision_id})" if receipt.decision_id else ""
    return f"note {receipt.note_id}: {verb}: {said}{decision}" + (f"; {receipt.detail}" if receipt.detail else "")
