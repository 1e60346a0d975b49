"""The rows of a run: written before its process starts, moved on while it runs, closed once.

    begin_run   task_runs, expected_runs                                    → RunBegun, which may say "skipped"
    beat_run    task_runs.beat_at
    finish_run  task_runs, expected_runs, alerts, deliveries; one transaction, and only who closes the row tells
"""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import psutil
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from argus_memory.db import Connection, Database, queries
from argus_memory.records import Outcome, StartedBy, TaskMode, TaskSpec
from argus_memory.settings import Settings
from argus_memory.tasks.runs_tell import Policy, tell_outcome
from argus_memory.watch.alerts import describe_span

LEDGER_STATUS: Mapping[Outcome, str] = {
    "ok": "ok",
    "skipped": "ok",  # it ran, and said that there was nothing to do
    "failed": "failed",
    "timed-out": "failed",
    "orphaned": "failed",
}


@dataclass(frozen=True, slots=True)
class RunBegun:
    """A run that has its row. `skipped` says why it must not start (its row is closed already)."""

    id: int
    rid: str
    skipped: str | None = None


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One due time of a task, with the rules of its own time."""

    task: str
    due_at: datetime
    start_grace: timedelta
    max_runtime: timedelta
    schedule: str
    timezone: str
    mode: TaskMode

    @classmethod
    def of(cls, spec: TaskSpec, due_at: datetime) -> Occurrence:
        rules = (spec.start_grace, spec.max_runtime, spec.schedule or "", spec.timezone, spec.mode)
        return cls(spec.name, due_at, *rules)


@dataclass(frozen=True, slots=True)
class RunEnd:
    """How a run ended, as the row keeps it; texts are masked and cut, times aware UTC, cost None where unknown."""

    outcome: Outcome
    finished_at: datetime
    exit_code: int | None = None
    signal: int | None = None
    reason: str | None = None
    stdout_tail: str = ""
    stderr_tail: str = ""
    stdout_bytes: int | None = None
    stderr_bytes: int | None = None
    output: Any = None
    summary: str | None = None
    metrics: Mapping[str, float] = field(default_factory=dict)
    cost_usd: float | None = None
    engine: str | None = None
    redactions: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RunFinished:
    """`closed`: this call closed the row. `outcome`: what the row says now, None when there is no such row."""

    closed: bool
    outcome: Outcome | None
    exit_code: int | None = None


def begin_run(
    db: Database,
    settings: Settings,
    spec: TaskSpec,
    *,
    rid: str,
    started_by: StartedBy,
    now: datetime,
    due_at: datetime | None = None,
    attempt: int = 0,
    retries_left: int = 0,
    dagster_run_id: str | None = None,
) -> RunBegun:
    """Write the run's row and move its expectation; with no_overlap, skip it while another run of the task is open.

    Raises Unreachable without a database: a run that could not be noted is not started.
    """
    q = queries("runs")
    pid = os.getpid()
    params = {
        "rid": rid,
        "task": spec.name,
        "handler": spec.handler,
        "started_by": started_by,
        "due_at": due_at,
        "dagster_run_id": dagster_run_id,
        "attempt": attempt,
        "host": socket.gethostname(),
        "pid": pid,
        "pid_started_at": datetime.fromtimestamp(psutil.Process(pid).create_time(), UTC),
        "started_at": now,
        "retries_left": retries_left,
        "now": now,
    }
    with db.transaction() as conn:
        conn.execute(q.lock_task, params)
        open_run = conn.execute(q.find_open_run, params).fetchone() if spec.no_overlap else None
        row = conn.execute(q.insert_run, params).fetchone()
        assert row is not None, "a run's id is made for it alone"
        begun = RunBegun(int(row["id"]), rid, _overlap_reason(open_run, now) if open_run else None)
        if begun.skipped:
            _close(conn, begun.id, RunEnd("skipped", now, reason=begun.skipped))
        if due_at is not None:
            begin_expected(
                conn, Occurrence.of(spec, due_at), begun.id, started_at=now, now=now, by="runner",
                skipped=begun.skipped, dagster_run_id=dagster_run_id,
            )  # fmt: skip
    return begun


def beat_run(db: Database, rid: str, *, now: datetime) -> None:
    """Say that the run's runner is alive."""
    with db.transaction() as conn:
        conn.execute(queries("runs").beat_run, {"rid": rid, "now": now})


def finish_run(
    db: Database,
    settings: Settings,
    rid: str,
    end: RunEnd,
    *,
    now: datetime,
    policy: Policy | None = None,
    by: str = "runner",
) -> RunFinished:
    """Close the run, its expectation and what is to be told of it, once; a closed row is left as it is.

    `policy` is the stanza's; without it the one in force is read. Raises Unreachable without a database.
    """
    q = queries("runs")
    with db.transaction() as conn:
        found = conn.execute(q.find_run_task, {"rid": rid}).fetchone()
        if found is None:
            return RunFinished(False, None)
        conn.execute(q.lock_task, found)  # always before the row, so that two writers never wait for each other
        row = conn.execute(q.lock_run, {"rid": rid}).fetchone()
        assert row is not None, "runs are never deleted"
        return finish_locked(conn, settings, row, rid, end, now=now, policy=policy, by=by)


def finish_locked(
    conn: Connection,
    settings: Settings,
    row: DictRow,
    rid: str,
    end: RunEnd,
    *,
    now: datetime,
    policy: Policy | None = None,
    by: str,
) -> RunFinished:
    """The same inside a transaction that holds the run's row."""
    if row["finished_at"] is not None:
        return RunFinished(False, row["outcome"], row["exit_code"])
    _close(conn, row["id"], end)
    again = row["retries_left"] > 0 and end.outcome in ("failed", "timed-out")
    if row["due_at"] is not None and not again:
        status = LEDGER_STATUS[end.outcome]
        reason = f"skipped: {end.reason}" if end.outcome == "skipped" else end.reason
        params = {"status": status, "now": now, "by": by, "reason": reason, "run_id": row["id"],
                  "task": row["task"], "due_at": row["due_at"]}  # fmt: skip
        conn.execute(queries("runs").close_expected, params)
    tell_outcome(conn, settings, row, rid, end, again=again, now=now, policy=policy, by=by)
    return RunFinished(True, end.outcome, end.exit_code)


def _close(conn: Connection, run_id: int, end: RunEnd) -> None:
    params = {
        "id": run_id,
        "finished_at": end.finished_at,
        "outcome": end.outcome,
        "exit_code": end.exit_code,
        "signal": end.signal,
        "reason": end.reason,
        "stdout_tail": end.stdout_tail or None,
        "stderr_tail": end.stderr_tail or None,
        "stdout_bytes": end.stdout_bytes,
        "stderr_bytes": end.stderr_bytes,
        "output": None if end.output is None else Jsonb(end.output),
        "metrics": Jsonb(dict(end.metrics)) if end.metrics else None,
        "cost_usd": end.cost_usd,
        "engine": end.engine,
        "redactions": Jsonb(dict(end.redactions)) if end.redactions else None,
    }
    conn.execute(queries("runs").close_run, params)


def begin_expected(
    conn: Connection,
    occurrence: Occurrence,
    run_id: int,
    *,
    started_at: datetime,
    now: datetime,
    by: str,
    skipped: str | None = None,
    dagster_run_id: str | None = None,
) -> None:
    """Note on the expectation that its run started, or why it did not."""
    q = queries("runs")
    start_by = occurrence.due_at + occurrence.start_grace
    late = started_at > start_by
    delay = describe_span(started_at - occurrence.due_at)
    params = {
        "task": occurrence.task,
        "due_at": occurrence.due_at,
        "start_by": start_by,
        "max_runtime": occurrence.max_runtime,
        "schedule": occurrence.schedule,
        "timezone": occurrence.timezone,
        "mode": occurrence.mode,
        "status": "late" if late else "started",
        "now": now,
        "by": by,
        "reason": skipped or (f"started {delay} after it was due" if late else None),
        "run_id": run_id,
        "dagster_run_id": dagster_run_id,
    }
    conn.execute(q.skip_expected if skipped else q.start_expected, params)


def _overlap_reason(open_run: DictRow, now: datetime) -> str:
    return f"run {open_run['rid']} has been at work for {describe_span(now - open_run['started_at'])}: no_overlap"
