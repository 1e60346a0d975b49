"""Alerts of the ledger: opened by who moved a row, closed when the task runs again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from psycopg.rows import DictRow

from argus_memory.db import Connection, queries
from argus_memory.settings import Settings
from argus_memory.watch.alerts import Condition, clear_alert, raise_alert
from argus_memory.watch.dagster_launch import run_url

NO_SHOW: Final = "no-show"
OVERRUNNING: Final = "task-overrunning"
FAILED: Final = "task-failed"
SHOWN = 5  # missed times named in one alert
BEGAN = ("started", "ok", "failed", "overrunning")


def tell_changes(
    conn: Connection, settings: Settings, moved: Sequence[DictRow], rows: Sequence[DictRow], *, now: datetime, by: str
) -> int:
    """One alert per task and kind for the rows this transaction moved; the alerts that were really opened.

    A failure is told here only where the runner could not: its last attempt never came.
    """
    facts = {row["id"]: row for row in rows}
    by_task: dict[tuple[str, str], list[DictRow]] = defaultdict(list)
    for row in moved:
        kind = {"missed": NO_SHOW, "overrunning": OVERRUNNING, "failed": FAILED}.get(row["to_status"])
        if kind is not None and row["from_status"] != row["to_status"]:
            by_task[(row["task"], kind)].append(row)
    opened = 0
    for (_, kind), changed in sorted(by_task.items()):
        changed.sort(key=lambda row: row["due_at"])
        condition = _condition(settings, kind, changed, [facts[row["id"]] for row in changed])
        opened += raise_alert(conn, settings, condition, now=now, by=by) is not None
    return opened


def clear_ended(conn: Connection, settings: Settings, *, now: datetime, by: str) -> int:
    """Close the alerts whose task runs again, or is not expected any more."""
    cleared = 0
    for row in conn.execute(queries("ledger").open_task_alerts, {"now": now}).fetchall():
        title = _overrun_ended(row) if row["kind"] == OVERRUNNING else _no_show_ended(row)
        if title is not None:
            closed = clear_alert(conn, settings, row["kind"], row["subject"], now=now, by=by, title=title)
            cleared += closed is not None
    return cleared


def _no_show_ended(row: DictRow) -> str | None:
    """The recovery's title, None while the task is still missing."""
    task = row["task"]
    late_run = row["last_status"] == "late" and row["last_run_id"] is not None
    if row["last_status"] in BEGAN or late_run or row["ran_since"]:
        return f"Task {task} runs again"
    if not row["in_force"]:
        return f"Task {task} is no longer expected"
    return f"Task {task} is paused, nothing of it is expected" if row["paused"] else None


def _overrun_ended(row: DictRow) -> str | None:
    return None if row["overruns"] else f"The run of task {row['task']} that took too long has ended"


def _condition(settings: Settings, kind: str, changed: Sequence[DictRow], facts: Sequence[DictRow]) -> Condition:
    """`changed` and `facts` are the same rows in the same order, oldest first; the newest gives the title."""
    last, fact = changed[-1], facts[-1]
    task, due = last["task"], _wall(last["due_at"], fact["timezone"])
    verb = {NO_SHOW: "did not run", OVERRUNNING: "runs too long", FAILED: "failed"}[kind]
    lines = [f"Due {due} ({fact['timezone']})."]
    if len(changed) > 1:
        times = ", ".join(_wall(row["due_at"], fact["timezone"]) for row in changed[-SHOWN:])
        more = f"the last of {len(changed)}: " if len(changed) > SHOWN else ""
        lines.append(f"{len(changed)} times in all: {more}{times}.")
    run = fact["dagster_run_id"]
    off = kind == NO_SHOW and all(row["off_from"] is not None for row in facts)
    return Condition(
        kind=kind,
        subject=f"task:{task}",
        title=f"Task {task} {verb}: {last['reason']}",
        detail="\n".join(lines),
        severity="warn" if off else "error",  # the hub was off: known, and no fault of the task
        evidence={"expected_runs": [row["id"] for row in changed[-50:]], "count": len(changed)},
        link=run_url(settings, run) if run else None,
        task=task,
    )


def _wall(at: datetime, zone: str) -> str:
    return f"{at.astimezone(ZoneInfo(zone)):%Y-%m-%d %H:%M}"
