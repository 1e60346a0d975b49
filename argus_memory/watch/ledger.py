"""The due ledger: every run that is expected has a row, and every row its judgement. Both watchdogs call this.

    watch_tasks   1. enter what has become due since the last pass                       → expected_runs
                  2. read the facts about open rows; judge each by rules/no_show.py      (pure)
                  3. move the rows, guarded by their old status: one watchdog wins each  → expected_runs
                  4. who moved a row tells it, in the same transaction                   → alerts, deliveries
                  5. close alerts of tasks that run again

Nothing here asks whether the other watchdog lives: both do all of it, and the guards keep it single.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from psycopg.rows import DictRow

from argus_memory.db import Connection, Database, queries
from argus_memory.rules.no_show import Judgement, judge
from argus_memory.settings import Settings
from argus_memory.watch.beats import SILENCE
from argus_memory.watch.ledger_entries import enter_due
from argus_memory.watch.ledger_facts import expectation_of, facts_of, find_dagster_runs
from argus_memory.watch.ledger_tell import clear_ended, tell_changes

Watcher = Literal["watchdog", "dagster"]


@dataclass(frozen=True, slots=True)
class LedgerChange:
    """One expectation that this call moved."""

    task: str
    due_at: datetime
    from_status: str
    to_status: str
    reason: str | None


@dataclass(frozen=True, slots=True)
class TaskWatch:
    """What one pass did. entered: new rows; open: rows judged; raised and cleared: alerts; unreadable: schedules
    that cannot be read any more, a sentence each."""

    entered: int = 0
    open: int = 0
    raised: int = 0
    cleared: int = 0
    changes: tuple[LedgerChange, ...] = ()
    unreadable: tuple[str, ...] = ()


def watch_tasks(db: Database, settings: Settings, *, now: datetime, by: Watcher) -> TaskWatch:
    """Extend the ledger to `now`, judge what is open, raise and clear no-show and overrunning alerts.

    Raises Unreachable without a database; safe to run in several processes at once, and again at any time.
    """
    entries = enter_due(db, now=now, by=by)
    q = queries("ledger")
    with db.transaction() as conn:
        moved = conn.execute(q.expect_again, {"now": now, "by": by}).fetchall()
        conn.execute(q.forget_far_grace, {"now": now})
        rows = conn.execute(q.open_facts, {"now": now, "by": by, "silence": SILENCE}).fetchall()
        runs = find_dagster_runs(conn, rows)
        judged = [(row, judge(expectation_of(row), facts_of(row, runs), now)) for row in rows]
        moved += _move(conn, judged, runs, now=now, by=by)
        raised = tell_changes(conn, settings, moved, rows, now=now, by=by)
        cleared = clear_ended(conn, settings, now=now, by=by)
    changes = tuple(
        LedgerChange(row["task"], row["due_at"], row["from_status"], row["to_status"], row["reason"])
        for row in sorted(moved, key=lambda row: (row["task"], row["due_at"]))
        if row["from_status"] != row["to_status"]
    )
    return TaskWatch(entries.entered, len(rows), raised, cleared, changes, entries.unreadable)


def _move(
    conn: Connection,
    judged: Sequence[tuple[DictRow, Judgement]],
    runs: Mapping[tuple[str, datetime], Any],
    *,
    now: datetime,
    by: Watcher,
) -> list[DictRow]:
    """Write the judgements that say something new; the rows this call really changed."""
    new = [
        (row, judgement)
        for row, judgement in judged
        if judgement.status != row["status"]
        or judgement.start_by != row["start_by"]
        or judgement.reason not in (None, row["reason"])
    ]
    if not new:
        return []
    queue = [runs.get((row["task"], row["due_at"])) for row, _ in new]
    params = {
        "ids": [row["id"] for row, _ in new],
        "olds": [row["status"] for row, _ in new],
        "news": [judgement.status for _, judgement in new],
        "reasons": [judgement.reason for _, judgement in new],
        "start_bys": [judgement.start_by for _, judgement in new],
        "run_ids": [row["run_id"] for row, _ in new],
        "dagster_runs": [
            row["dagster_run_id"] or (waiting.run_id if waiting else None)
            for (row, _), waiting in zip(new, queue, strict=True)
        ],
        "now": now,
        "by": by,
    }
    return conn.execute(queries("ledger").move_expected, params).fetchall()
