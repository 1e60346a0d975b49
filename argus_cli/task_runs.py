"""`argus task runs NAME`: how its recent runs went, latest first."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from argus_cli.arguments import row_count
from argus_cli.hub import open_database
from argus_cli.task_words import as_columns, as_json
from argus_memory.db import queries
from argus_memory.errors import NotFound
from argus_memory.settings import Settings
from argus_memory.watch.alerts import describe_span

REASON_SHOWN = 100  # characters


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME")
    parser.add_argument("--limit", type=row_count, default=20, help="20 by default")


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    q = queries("tasks")
    with open_database(settings) as database:
        rows = database.fetch_all(q.runs_of_task, {"name": arguments.name, "limit": arguments.limit})
        if not rows and database.fetch_one(q.find_task, {"name": arguments.name}) is None:
            raise NotFound(f"there is no task {arguments.name}, and no run of one; `argus task list` shows them")
    if arguments.json:
        print(as_json({"task": arguments.name, "runs": rows}))
    else:
        print(as_text(rows, datetime.now(UTC)) if rows else f"{arguments.name} has never run (runs=0)")
    return 0


def as_text(rows: Sequence[Mapping[str, Any]], now: datetime) -> str:
    return as_columns([_line(row, now) for row in rows])


def _line(row: Mapping[str, Any], now: datetime) -> tuple[str, ...]:
    outcome = row["outcome"] or "runs"
    lasted = describe_span((row["finished_at"] or now) - row["started_at"])
    words = [f"due {row['due_at']:%H:%M} UTC"] if row["due_at"] else []
    if row["attempt"]:
        words.append(f"attempt {row['attempt'] + 1}")
    if row["exit_code"]:
        words.append(f"exit {row['exit_code']}")
    if row["signal"]:
        words.append(f"signal {row['signal']}")
    if row["cost_usd"] is not None:
        words.append(f"${row['cost_usd']:.4f}")
    if row["reason"]:
        words.append(" ".join(row["reason"].split())[:REASON_SHOWN])
    return (f"{row['started_at']:%Y-%m-%d %H:%M:%S} UTC", outcome, lasted, row["started_by"], ", ".join(words))
