"""What a finished run tells: an alert, its end, and the run's own output to the stanza's channel."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from psycopg.rows import DictRow

from argus_memory.db import Connection, queries
from argus_memory.settings import Settings
from argus_memory.watch.alerts import Condition, clear_alert, describe_span, put_delivery, raise_alert
from argus_memory.watch.dagster_launch import run_url

if TYPE_CHECKING:
    from argus_memory.tasks.runs_write import RunEnd

DETAIL_MAX = 1200  # characters of a stream's end in an alert
MESSAGE_MAX = 3500  # characters of a run's output in a message, when it gave no summary
FAILURES = ("failed", "timed-out", "orphaned")


@dataclass(frozen=True, slots=True)
class Policy:
    """Where a run's output goes (None: nowhere), and at which failure in a row there is an alert."""

    channel: str | None = None
    failures_before_alert: int = 1


def tell_outcome(
    conn: Connection,
    settings: Settings,
    row: DictRow,
    rid: str,
    end: RunEnd,
    *,
    again: bool,
    now: datetime,
    policy: Policy | None,
    by: str,
) -> None:
    """In the transaction that closed the run: raise or clear `task-failed`, deliver what it said.

    again: the attempt failed and is tried once more, so nobody is told yet.
    """
    task = row["task"]
    policy = policy or find_policy(conn, task)
    if end.outcome in FAILURES and not again:
        failures = conn.execute(queries("runs").count_failures, {"task": task}).fetchone()
        assert failures is not None
        if failures["failures"] >= policy.failures_before_alert:
            raise_alert(conn, settings, _condition(settings, row, rid, end, failures["failures"]), now=now, by=by)
    elif end.outcome == "ok":
        title = f"Task {task} ran well again"
        clear_alert(conn, settings, "task-failed", f"task:{task}", now=now, by=by, title=title)
        text = (end.summary or end.stdout_tail[-MESSAGE_MAX:]).strip()
        if policy.channel and text:
            put_delivery(
                conn, key=f"{rid}:output", kind="deliver", channel=policy.channel, title=task, body=text,
                link=_link(settings, row), task=task, rid=rid, now=now,
            )  # fmt: skip


def find_policy(conn: Connection, task: str) -> Policy:
    """The one in force, for reports that come without a stanza."""
    row = conn.execute(queries("runs").find_policy, {"task": task}).fetchone()
    return Policy(row["channel"], row["failures_before_alert"]) if row else Policy()


def _condition(settings: Settings, row: DictRow, rid: str, end: RunEnd, failures: int) -> Condition:
    words = {"failed": "failed", "timed-out": "ran out of time", "orphaned": "lost its runner"}
    lines = [
        f"Started {row['started_at']:%Y-%m-%d %H:%M:%S} UTC, ended after "
        f"{describe_span(end.finished_at - row['started_at'])}."
    ]
    if failures > 1:
        lines.append(f"{failures} failures in a row.")
    said = end.stderr_tail.strip() or end.stdout_tail.strip()
    if said:
        lines += ["Its last words:", said[-DETAIL_MAX:]]
    return Condition(
        kind="task-failed",
        subject=f"task:{row['task']}",
        title=f"Task {row['task']} {words[end.outcome]}: {end.reason or 'it gave no reason'}",
        detail="\n".join(lines),
        evidence={"rid": rid, "outcome": end.outcome, "exit_code": end.exit_code, "failures": failures},
        link=_link(settings, row),
        task=row["task"],
    )


def _link(settings: Settings, row: DictRow) -> str | None:
    return run_url(settings, row["dagster_run_id"]) if row["dagster_run_id"] else None
