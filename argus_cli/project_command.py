"""`argus project list|show|rename|merge|undo|alias|unalias|assign|mismatches|changes`."""

from __future__ import annotations

import argparse
import getpass
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from argus_cli.history_words import one_line
from argus_cli.hub import open_database
from argus_memory.settings import load_settings

if TYPE_CHECKING:
    from argus_memory.db import Database
    from argus_memory.upkeep.projects import ProjectReceipt


def add_arguments(parser: argparse.ArgumentParser) -> None:
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="machine-readable output")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)

    def verb(name: str, told: str) -> argparse.ArgumentParser:
        return verbs.add_parser(name, help=told, description=told, parents=[common])

    verb("list", "every project with its counts, the latest first")
    verb("show", "one project: other names, what leads to it, what changed").add_argument("name")
    row = verb("rename", "give it another name; the old one goes on leading to it")
    row.add_argument("name")
    row.add_argument("to", help="the new name")
    row = verb("merge", "put one project into another; `undo` takes it back whole")
    row.add_argument("name", help="the one that goes")
    row.add_argument("to", help="the one that stays")
    verb("undo", "take a rename or merge back").add_argument("change", type=int, help="as `changes` lists it")
    row = verb("alias", "let another name lead to it")
    row.add_argument("name")
    row.add_argument("to", metavar="alias", help="the other name")
    verb("unalias", "take another name away").add_argument("name", metavar="alias")
    row = verb("assign", "file an episode; no machine files it otherwise")
    row.add_argument("episode", type=int)
    row.add_argument("name", nargs="?", help="the project, `global` too; without one it stays where it is")
    verb("mismatches", "episodes that read as if they belonged to another project")
    verb("changes", "renames, merges, other names and assignments, newest first")


def run(arguments: argparse.Namespace) -> int:
    now = datetime.now(UTC)
    with open_database(load_settings()) as database:
        if arguments.verb in ("list", "show", "mismatches", "changes"):
            data, text = _read(database, arguments, now)
        else:
            receipt = _change(database, arguments, now)
            data, text = asdict(receipt), receipt_as_text(receipt)
    print(json.dumps(data, default=str, ensure_ascii=False) if arguments.json else text)
    return 0


def _read(database: Database, arguments: argparse.Namespace, now: datetime) -> tuple[Any, str]:
    from argus_memory.upkeep import projects

    if arguments.verb == "list":
        data = projects.list_projects(database, now=now)
        return data, list_as_text(data)
    if arguments.verb == "show":
        found = projects.get_project(database, arguments.name, now=now)
        return found, show_as_text(found)
    if arguments.verb == "mismatches":
        rows = projects.list_mismatches(database)
        return {"mismatches": rows, "count": len(rows)}, mismatches_as_text(rows)
    rows = projects.list_changes(database)
    return {"changes": rows, "count": len(rows)}, changes_as_text(rows)


def _change(database: Database, arguments: argparse.Namespace, now: datetime) -> ProjectReceipt:
    from argus_memory.upkeep import projects

    actor = getpass.getuser()
    if arguments.verb == "undo":
        return projects.undo(database, arguments.change, actor, now=now)
    if arguments.verb == "unalias":
        return projects.remove_alias(database, arguments.name, actor, now=now)
    if arguments.verb == "assign":
        return projects.assign(database, arguments.episode, arguments.name, actor, now=now)
    do = {"rename": projects.rename, "merge": projects.merge, "alias": projects.add_alias}[arguments.verb]
    return do(database, arguments.name, arguments.to, actor, now=now)


def list_as_text(data: Mapping[str, Any]) -> str:
    """A line a project; then how many episodes no project could be told for."""
    lines = [f"{'project':<28} {'notes':>6} {'episodes':>8} {'turns':>7}  last"]
    for row in data["projects"]:
        last = f"{row['last_at']:%Y-%m-%d}" if row["last_at"] else "nothing recorded"
        also = f"  also {', '.join(row['aliases'])}" if row["aliases"] else ""
        lines.append(
            f"{one_line(row['name'])[:28]:<28} {row['notes']:>6} {row['episodes']:>8} {row['turns']:>7}  {last}{also}"
        )
    lines.append(f"projects={data['count']}, episodes of no project: {data['unclear']} unclear")
    if data["not_looked_at"]:
        lines[-1] += f", {data['not_looked_at']} not looked at yet"
    return "\n".join(lines)


def show_as_text(row: Mapping[str, Any]) -> str:
    """Its counts, other names, the keys that lead to it, and its changes."""
    lines = [
        f"{row['name']}  ({row['notes']} notes, {row['episodes']} episodes, {row['classified']} of them by their"
        f" words, {row['turns']} turns; known since {row['created_at']:%Y-%m-%d} by {row['first_method']})"
    ]
    if row["aliases"]:
        lines.append(f"    also {', '.join(row['aliases'])}")
    lines += [f"    {key}" for key in row["key_names"]]
    return "\n".join([*lines, *(f"    {line}" for line in _change_lines(row["changes"]))])


def mismatches_as_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """Two lines an episode, with how to settle it."""
    lines = []
    for row in rows:
        lines.append(
            f"episode {row['episode_id']}  {row['started_at']:%Y-%m-%d}, {row['turn_count']} turns: filed under"
            f" {row['project']}, reads like {row['suggested']} ({row['similarity']:.2f}, {row['margin']:.2f} nearer)"
        )
        lines.append(f"    {one_line(row['begins'] or '')}")
    act = "; `argus project assign EPISODE PROJECT` moves it, without a project it stays" if rows else ""
    return "\n".join([*lines, f"mismatches={len(rows)}{act}"])


def changes_as_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """A line a change."""
    return "\n".join([*_change_lines(rows), f"changes={len(rows)}"])


def _change_lines(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    return [
        f"{row['id']:>5}  {row['at']:%Y-%m-%d %H:%M}  {row['change']}: {row['project'] or 'no project'}"
        f"{' → ' + row['other'] if row['other'] else ''}, by {row['actor']}"
        f"{', taken back' if row['undone_at'] else ''}"
        for row in rows
    ]


def receipt_as_text(receipt: ProjectReceipt) -> str:
    """What was done and moved, and how to take it back."""
    moved = ", ".join(f"{count} {kind}s" for kind, count in receipt.moved.items() if count)
    other = f" → {receipt.other}" if receipt.other else ""
    whole = receipt.change in ("renamed", "merged")
    back = f"; `argus project undo {receipt.change_id}` takes it back" if whole else ""
    return f"{receipt.change}: {receipt.project or 'no project'}{other}" + (f" ({moved})" if moved else "") + back
