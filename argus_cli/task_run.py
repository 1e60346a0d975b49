"""`argus task run NAME`: once, now, through Dagster as the schedule would; exit 1 when it did not end well."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from typing import Any

from argus_cli.hub import hub_runs, open_database
from argus_cli.task_words import as_json
from argus_memory.db import Database, queries
from argus_memory.errors import Unreachable
from argus_memory.settings import Settings
from argus_memory.watch.alerts import describe_span
from argus_memory.watch.dagster_launch import run_url, wait_run
from argus_memory.watch.start_task import find_task, require_runnable, start_task

TAIL_LINES = 20
GOOD = ("ok", "skipped")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME")
    parser.add_argument("--no-wait", action="store_true", help="start it and return")


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    task = find_task(settings, arguments.name)
    require_runnable(task)
    if not settings.database_url and not hub_runs(settings):
        raise Unreachable("no hub runs on this home, and a task runs in one: start it with `argus up`")
    run_id = start_task(settings, task)
    url = run_url(settings, run_id)
    if arguments.no_wait:
        print(as_json({"dagster_run_id": run_id, "url": url}) if arguments.json else f"started: {url}")
        return 0
    print(f"argus: run {url}", file=sys.stderr)
    status = wait_run(settings, run_id)
    with open_database(settings) as database:
        row = find_run(database, task.name, run_id)
    if arguments.json:
        print(as_json({"task": task.name, "dagster_run_id": run_id, "dagster": status, "url": url, "run": row}))
    else:
        print(as_text(row) if row else f"Dagster's run ended as {status.lower()} before the task began: {url}")
    return 0 if row is not None and row["outcome"] in GOOD else 1


def find_run(database: Database, name: str, run_id: str) -> Mapping[str, Any] | None:
    return database.fetch_one(queries("tasks").run_by_dagster, {"run": run_id, "name": name})


def as_text(row: Mapping[str, Any]) -> str:
    """Outcome, then the end of what it wrote."""
    lasted = describe_span(row["finished_at"] - row["started_at"]) if row["finished_at"] else "still at work"
    words = [f"{row['outcome'] or 'running'} after {lasted}"]
    words += [f"exit {row['exit_code']}"] if row["exit_code"] is not None else []
    words += [f"signal {row['signal']}"] if row["signal"] else []
    words += [f"${row['cost_usd']:.4f}"] if row["cost_usd"] is not None else []
    words += [" ".join(row["reason"].split())] if row["reason"] else []
    lines = [", ".join(words)]
    for name in ("stdout", "stderr"):
        tail = (row[f"{name}_tail"] or "").rstrip().splitlines()
        if tail:
            lines += [f"--- {name}, last {min(len(tail), TAIL_LINES)} lines", *tail[-TAIL_LINES:]]
    return "\n".join(lines)
