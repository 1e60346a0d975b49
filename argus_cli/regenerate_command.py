"""`argus regenerate`: make the notes of some days anew, show what would change, decide what is held."""

from __future__ import annotations

import argparse
import getpass
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

from argus_cli.hub import open_database
from argus_memory.errors import UsageError
from argus_memory.settings import load_settings

if TYPE_CHECKING:
    from argus_memory.db import Database
    from argus_memory.settings import Settings
    from argus_memory.upkeep.regeneration import Regeneration

SHOWN_CHANGES = ("removed", "added", "changed", "kept-by-decision", "refused-by-decision")
EPILOG = """\
  argus regenerate --from 2026-03-01 --to 2026-03-07 --dry-run    only show the diff
  argus regenerate --from 2026-03-01 --to 2026-03-07              switch, unless more is lost than
                                                                  ARGUS_REGENERATE_LOSS: then a person decides
  argus regenerate list                                           the last ones and how they ended
  argus regenerate show ID                                        both texts of every note that changes
  argus regenerate --accept ID | --dismiss ID                     decide what is held or was only shown

Interrupted at any point, the old notes stand. Exit 1: held, failed, or some units could not be made."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = EPILOG
    parser.add_argument("verb", nargs="?", choices=["list", "show"], help="look at earlier ones")
    parser.add_argument("id", nargs="?", type=int, help="which one to show")
    parser.add_argument("--from", dest="first", type=_day, metavar="DAY", help="first UTC day, as 2026-03-01")
    parser.add_argument("--to", dest="last", type=_day, metavar="DAY", help="last day; without it the first alone")
    parser.add_argument("--dry-run", action="store_true", help="only show what would change")
    decide = parser.add_mutually_exclusive_group()
    decide.add_argument("--accept", type=int, metavar="ID", help="switch what was held or only shown")
    decide.add_argument("--dismiss", type=int, metavar="ID", help="let the old notes stand")


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a day as in 2026-03-01") from None


def run(arguments: argparse.Namespace) -> int:
    settings = load_settings()
    check_use(arguments)
    with open_database(settings) as database:
        if arguments.verb == "list":
            return _list(database, as_json=arguments.json)
        if arguments.verb == "show":
            return _show(database, arguments.id, as_json=arguments.json)
        done = _work(database, settings, arguments)
        print(json.dumps(done.as_json()) if arguments.json else as_text(done))
        if done.status == "shown" and not arguments.json:
            print(diff_as_text(_lines(database, done.id)))
    return 1 if done.status in ("held", "failed") or done.counts.get("failed") else 0


def check_use(arguments: argparse.Namespace) -> None:
    """Raises UsageError where the words do not say one thing to do."""
    decides = arguments.accept is not None or arguments.dismiss is not None
    if sum((arguments.verb is not None, decides, arguments.first is not None)) != 1:
        raise UsageError("name days (--from, --to), or `list`, `show ID`, --accept ID or --dismiss ID")
    if arguments.verb == "show" and arguments.id is None:
        raise UsageError("`argus regenerate show` needs the id, as `argus regenerate list` shows it")
    last = arguments.last or arguments.first
    if arguments.first and last < arguments.first:
        raise UsageError(f"--to {last} is before --from {arguments.first}")


def _work(database: Database, settings: Settings, arguments: argparse.Namespace) -> Regeneration:
    from argus_memory.upkeep.regenerate_read import Days
    from argus_memory.upkeep.regeneration import accept, dismiss, regenerate

    actor = getpass.getuser()
    if arguments.accept is not None:
        return accept(database, settings, arguments.accept, actor)
    if arguments.dismiss is not None:
        return dismiss(database, arguments.dismiss, actor, now=datetime.now(UTC))
    days = Days(arguments.first, arguments.last or arguments.first)
    return regenerate(database, settings, days, actor=actor, mode="dry-run" if arguments.dry_run else "switch")


def as_text(done: Regeneration) -> str:
    """How it ended, its counts that are not zero, and why where it did not switch."""
    # What the switch did (did_*) repeats the diff, unless units moved on meanwhile.
    told = {name: count for name, count in done.counts.items() if count and not name.startswith("did_")}
    if moved := done.counts.get("did_moved_on"):
        told["units moved on meanwhile and left as they are"] = moved
    words = {"made": "units made anew", "failed": "units failed", "passed_over": "units passed over"}
    counts = ", ".join(f"{count} {words.get(name, name.replace('_', ' '))}" for name, count in told.items())
    loss = "" if done.loss is None else f"; {done.loss:.0%} lost of {done.loss_guard:.0%} allowed"
    text = f"regeneration {done.id}: {done.status} ({counts or 'nothing to make anew'}{loss})"
    return f"{text}\n{done.error}" if done.error else text


def _list(database: Database, *, as_json: bool) -> int:
    from argus_memory.upkeep.regenerate_view import list_regenerations

    rows = list_regenerations(database)
    if as_json:
        print(json.dumps({"regenerations": rows}, default=str))
        return 0
    print("\n".join(map(_row_as_text, rows)) or "nothing was regenerated yet")
    return 0


def _row_as_text(row: Mapping[str, Any]) -> str:
    counts = row["counts"]
    names = ("added", "removed", "changed", "unchanged")
    told = ", ".join(f"{counts[name]} {name}" for name in names if name in counts)
    first, last = row["first_day"], row["last_day"]
    days = f"{first}" if first == last else f"{first} to {last}"
    by = f" by {row['decided_by']}" if row["decided_by"] else ""
    began = f"{row['started_at']:%Y-%m-%d %H:%M}"
    return f"{row['id']:>5}  {began}  {row['mode']:<9}  {days}: {row['status']}{by}  {told}"


def _lines(database: Database, regeneration_id: int) -> Sequence[Mapping[str, Any]]:
    from argus_memory.upkeep.regenerate_view import list_changes

    return list_changes(database, regeneration_id)


def _show(database: Database, regeneration_id: int, *, as_json: bool) -> int:
    from argus_memory.upkeep.regenerate_view import get_regeneration, list_units

    row = get_regeneration(database, regeneration_id)
    lines = _lines(database, regeneration_id)
    units = list_units(database, regeneration_id)
    if as_json:
        print(json.dumps({"regeneration": row, "units": units, "changes": lines}, default=str))
        return 0
    print(_row_as_text(row))
    if row["error"]:
        print(row["error"])
    for unit in units:
        if unit["outcome"] != "made":
            print(f"{unit['unit_kind']} {unit['unit_id']}: {unit['outcome']}: {unit['remark']}")
    print(diff_as_text(lines))
    return 0


def diff_as_text(lines: Sequence[Mapping[str, Any]]) -> str:
    """What changes, old text above new; unchanged notes are counted."""
    parts = []
    for line in sorted(lines, key=lambda line: line["said_at"]):
        if line["change"] not in SHOWN_CHANGES:
            continue
        note = f" note {line['old_note_id']}" if line["old_note_id"] else ""
        why = f" ({line['detail']})" if line["detail"] else ""
        parts.append(f"{line['said_at']:%Y-%m-%d}  {line['change']}{note}{why}")
        parts += [f"    - {line['old_text']}"] if line["old_text"] else []
        parts += [f"    + {line['new_text']}"] if line["new_text"] else []
    same = sum(line["change"] == "unchanged" for line in lines)
    return "\n".join([*parts, f"{same} notes unchanged"])
