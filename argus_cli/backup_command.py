"""`argus backup` and `argus backup list`: a dump that was restored once before it counts."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from argus_cli.hub import open_database
from argus_memory.settings import load_settings

if TYPE_CHECKING:
    from argus_memory.upkeep.backup import Backup


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--to", type=Path, metavar="DIR", help="folder to write to (ARGUS_BACKUPS, else the home's)")
    parser.add_argument("--keep", metavar="D,W,M", default="7,4,6", help="days, weeks, months to keep (7,4,6)")
    parser.add_argument("--no-try", action="store_true", help="do not restore it into a scratch database")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB")
    listed = verbs.add_parser("list", help="backups made, the newest first, and what came of each")
    listed.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="machine-readable output")


def run(arguments: argparse.Namespace) -> int:
    from argus_cli.postgres_tools import find_tools, scratch_database
    from argus_memory.upkeep.backup import list_backups, make_backup

    settings = load_settings()
    with open_database(settings) as database:
        if arguments.verb == "list":
            rows = list_backups(database)
            print(json.dumps(rows, default=str) if arguments.json else list_as_text(rows))
            return 0
        made = make_backup(
            database,
            (arguments.to or settings.backups_folder).absolute(),
            find_tools(database.dsn),
            clock=lambda: datetime.now(UTC),
            scratch=None if arguments.no_try else scratch_database,
            kept=parse_kept(arguments.keep),
        )
    print(json.dumps(asdict(made)) if arguments.json else as_text(made))
    return 0


def parse_kept(text: str) -> Any:
    """`7,4,6` as days, weeks, months; raises UsageError."""
    from argus_memory.errors import UsageError
    from argus_memory.rules.rotation import Kept

    parts = text.split(",")
    if len(parts) != 3 or not all(part.strip().isdigit() for part in parts):
        raise UsageError(f"--keep {text!r} is not three whole numbers: days, weeks, months, as in 7,4,6")
    return Kept(*(int(part) for part in parts))


def as_text(made: Backup) -> str:
    """Where it is, what it holds, whether it was restored, what was rotated away."""
    proof = "restored into a scratch database, every table the same" if made.outcome == "proven" else "not tried"
    removed = f"; {len(made.removed)} older removed" if made.removed else ""
    return (
        f"{made.path}: {made.bytes / 1e6:,.1f} MB, {sum(made.rows.values()):,} rows of {len(made.rows)} tables,"
        f" {proof}, in {made.seconds:.1f} s{removed}"
    )


def list_as_text(rows: list[dict[str, Any]]) -> str:
    if not rows:
        return "no backup was made yet (0): `argus backup` makes one, the task memory-backup one a day"
    lines = []
    for row in rows:
        size = f"{row['bytes'] / 1e6:,.1f} MB" if row["bytes"] else ""
        state = "removed by rotation" if row["removed_at"] else row["error"] or row["path"]
        lines.append(f"{row['finished_at']:%Y-%m-%d %H:%M} UTC  {row['outcome']:<7} {size:>12}  {state}")
    return "\n".join([*lines, f"{len(rows)} of {rows[0]['total']}"])
