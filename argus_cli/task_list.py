"""`argus task list`: every task, its next time and how it last went."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime

from argus_cli.hub import open_database
from argus_cli.task_words import ago, as_columns, as_json, load_list, local_time
from argus_memory.settings import Settings
from argus_memory.tasks.overview import TaskRow, find_overview


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(verb="list")


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    now = datetime.now(UTC)
    task_list = load_list(settings)
    with open_database(settings) as database:
        rows = find_overview(database, task_list, now=now)
    if arguments.json:
        print(as_json({"now": now, "tasks": [row.as_json() for row in rows], "counts": count(rows)}))
    else:
        print(as_text(rows, now) if rows else f"no task in {settings.tasks_folder / 'config.ini'} (tasks=0)")
    return 1 if task_list.broken else 0


def count(rows: Sequence[TaskRow]) -> dict[str, int]:
    return dict(Counter(row.state for row in rows))


def as_text(rows: Sequence[TaskRow], now: datetime) -> str:
    """A line a task, and a last one that counts."""
    lines = as_columns([(row.name, row.state, row.schedule or "-", _next(row), _last(row, now)) for row in rows])
    counted = ", ".join(f"{number} {state}" for state, number in sorted(count(rows).items()))
    unread = [row.name for row in rows if not row.loaded]
    note = f"\nnot read by the hub yet ({', '.join(unread[:5])}{', …' if len(unread) > 5 else ''}): `argus reload`"
    return f"{lines}\n{len(rows)} tasks: {counted}{note if unread else ''}"


def _next(row: TaskRow) -> str:
    if row.problem is not None:
        return row.problem
    if row.next_due is None or row.timezone is None:
        return "-"
    return f"next {local_time(row.next_due, row.timezone)} {row.timezone} ({row.next_due:%a %H:%M} UTC)"


def _last(row: TaskRow, now: datetime) -> str:
    words = []
    if row.pause is not None:
        until = f"until {row.pause.until_at:%Y-%m-%d %H:%M} UTC" if row.pause.until_at else "until resumed"
        words.append(f"paused {until} by {row.pause.actor}" + (f" ({row.pause.reason})" if row.pause.reason else ""))
    if row.last is None:
        words.append("never ran")
    elif row.last.finished_at is None:
        words.append(f"runs since {ago(row.last.started_at, now)}")
    else:
        words.append(f"last {row.last.outcome} {ago(row.last.finished_at, now)}")
    return "; ".join(words)
