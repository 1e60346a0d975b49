"""Rows of the database as the facts the judge takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from psycopg.rows import DictRow

from argus_memory.db import Connection, queries
from argus_memory.rules.no_show import Expectation, Facts, PauseFact, QueueFact, RunFact, Silence

DagsterRuns = Mapping[tuple[str, datetime], QueueFact]


def due_tag(due_at: datetime) -> str:
    """The value of the run tag `argus/due_at`: UTC, seconds, +00:00."""
    return due_at.isoformat(timespec="seconds")


def find_dagster_runs(conn: Connection, rows: Sequence[DictRow]) -> dict[tuple[str, datetime], QueueFact]:
    """Dagster's run for each open occurrence whose run may still begin; where several are, one that waits."""
    asked = [row for row in rows if row["run_id"] is None or row["finished_at"] is not None]
    if not asked:
        return {}
    q = queries("ledger")
    there = conn.execute(q.has_dagster).fetchone()
    if there is None or not there["there"]:
        return {}
    params = {
        "dues": sorted({due_tag(row["due_at"]) for row in asked}),
        "tasks": sorted({row["task"] for row in asked}),
    }
    found: dict[tuple[str, datetime], QueueFact] = {}
    for row in conn.execute(q.dagster_runs, params).fetchall():
        key = (str(row["task"]), datetime.fromisoformat(row["due"]))
        fact = QueueFact(row["run_id"], row["status"], row["since"])
        known = found.get(key)
        if known is None or fact.waits or not known.waits:
            found[key] = fact
    return found


def expectation_of(row: DictRow) -> Expectation:
    return Expectation(
        due_at=row["due_at"],
        start_by=row["start_by"],
        grace=row["grace"],
        max_runtime=row["max_runtime"],
        timezone=row["timezone"],
        mode=row["mode"],
        status=row["status"],
    )


def facts_of(row: DictRow, runs: DagsterRuns) -> Facts:
    """What open_facts found beside one row, and Dagster's run for it."""
    run = pause = off = None
    if row["run_id"] is not None:
        run = RunFact(
            id=row["run_id"],
            started_at=row["started_at"],
            finished_at=row["finished_at"],
            outcome=row["outcome"],
            reason=row["run_reason"],
            attempt=row["attempt"],
            retries_left=row["retries_left"],
        )
    if row["paused_at"] is not None:
        pause = PauseFact(row["paused_at"], row["pause_ends_at"], row["paused_by"])
    if row["off_from"] is not None:
        off = Silence(row["off_from"], row["off_until"])
    return Facts(
        run=run,
        queue=runs.get((row["task"], row["due_at"])),
        pause=pause,
        busy_since=row["busy_since"],
        off=off,
        newer_due=row["newer_due"],
        has_run=row["has_run"],
    )
