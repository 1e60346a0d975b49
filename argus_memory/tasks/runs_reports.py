"""Reports that come from outside: POST /runs, for schedulers that Argus observes and for scripts.

accept_report, in one transaction:

1. read the body; refused, it is kept with the reason;
2. find the task and the run it speaks of (by rid, else the open one), and the occurrence a new run is for;
3. start, finish, or find that it was said before or contradicts what stands; the report is a row either way.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from argus_memory.db import Connection, Database, queries
from argus_memory.errors import Conflict, NotFound, UsageError
from argus_memory.records import Outcome
from argus_memory.rules.cron import occurrences, parse_schedule
from argus_memory.settings import Settings
from argus_memory.tasks.due_match import EARLY, match_due
from argus_memory.tasks.report_form import LONGEST, Refused, Report, Times, judge_times, read_report
from argus_memory.tasks.runner_env import own_secrets
from argus_memory.tasks.runs_write import Occurrence, RunEnd, begin_expected, finish_locked
from argus_memory.tasks.tails import OUTPUT_MAX, Masker

Verdict = Literal["started", "finished", "repeated", "unknown-task", "contradicts", "refused"]
BODY_MAX = 64 * 1024  # characters of a report's JSON that are kept; streams are cut first
LOOK_BACK = (timedelta(hours=1), timedelta(days=1), timedelta(days=8), timedelta(days=32), timedelta(days=367))


@dataclass(frozen=True, slots=True)
class Judged:
    verdict: Verdict
    rid: str | None = None
    reason: str | None = None


def accept_report(
    db: Database, settings: Settings, report: Mapping[str, Any], *, now: datetime, source: str = "http"
) -> dict[str, Any]:
    """The receipt {"rid", "verdict": started | finished | repeated, "reason"}; every report is a row of run_reports.

    Raises, after the row is kept: UsageError for a body that cannot be used, NotFound for an unknown task, Conflict
    for what contradicts an earlier report.
    """
    mask = Masker(own_secrets(settings, None))
    task = report.get("task")
    with db.transaction() as conn:
        judged = _judge(conn, settings, report, mask, now)
        conn.execute(queries("runs").insert_report, {
            "now": now, "task": mask.text(task[:200]) if isinstance(task, str) else None, "rid": judged.rid,
            "source": source, "body": Jsonb(_kept_body(report, mask)), "verdict": judged.verdict,
            "reason": judged.reason,
        })  # fmt: skip
    if judged.verdict == "refused":
        raise UsageError(judged.reason)
    if judged.verdict == "unknown-task":
        raise NotFound(judged.reason)
    if judged.verdict == "contradicts":
        raise Conflict(judged.reason)
    return {"rid": judged.rid, "verdict": judged.verdict, "reason": judged.reason}


def _judge(
    conn: Connection, settings: Settings, body: Mapping[str, Any], mask: Masker, now: datetime
) -> Judged:
    q = queries("runs")
    try:
        report = read_report(body)
    except Refused as error:
        return Judged("refused", None, mask.text(str(error)))
    conn.execute(q.lock_task, {"task": report.task})
    task = conn.execute(q.find_reported_task, {"task": report.task}).fetchone()
    if task is None:
        reason = f"there is no task {report.task[:80]!r}: `argus task list` shows those of config.ini"
        return Judged("unknown-task", report.rid, mask.text(reason))
    times = judge_times(report, now=now, longest=task["max_runtime"] or LONGEST)
    row = _find_run(conn, report, body, mask)
    if row is not None and row["task"] != report.task:
        return Judged("contradicts", report.rid, f"run {report.rid} is one of task {row['task']}")
    if row is None:
        rid, row = _start(conn, report, times, task, now)
        if report.event == "start":
            return Judged("started", rid, times.note)
    else:
        rid = str(row["rid"])
        settled = _compare(row, report, rid)
        if settled is not None:
            return settled
    end = _make_end(report, times, row["started_at"], mask)
    finish_locked(conn, settings, row, rid, end, now=now, by="report")
    return Judged("finished", rid, times.note)


def _find_run(conn: Connection, report: Report, body: Mapping[str, Any], mask: Masker) -> DictRow | None:
    """The run's row, locked: by its rid; else that of the same report sent before; else the open one, for an end."""
    q = queries("runs")
    rid = report.rid
    kept = _kept_body(body, mask)
    if rid is None and report.at is not None and "task" in kept:
        found = conn.execute(q.find_same_report, {"task": report.task, "body": Jsonb(kept)}).fetchone()
        rid = str(found["rid"]) if found else None
    if rid is None and report.event != "start":
        found = conn.execute(q.find_open_report, {"task": report.task}).fetchone()
        rid = str(found["rid"]) if found else None
    return None if rid is None else conn.execute(q.lock_run, {"rid": rid}).fetchone()


def _compare(row: DictRow, report: Report, rid: str) -> Judged | None:
    """What a report of a known run is, when it is not its end."""
    if report.event == "start":
        return Judged("repeated", rid, "the start of this run was reported before")
    if row["started_by"] != "report":
        return Judged(
            "contradicts", rid,
            f"run {rid} was started by Argus, which reports its end itself; say more of it with taskkit",
        )  # fmt: skip
    if row["finished_at"] is None:
        return None
    if row["outcome"] == report.outcome and report.exit_code in (None, row["exit_code"]):
        return Judged("repeated", rid, "the end of this run was reported before")
    stands = row["outcome"] if row["exit_code"] is None else f"{row['outcome']}, exit code {row['exit_code']}"
    told = report.outcome if report.exit_code is None else f"{report.outcome}, exit code {report.exit_code}"
    return Judged("contradicts", rid, f"run {rid} was reported as {stands}; now as {told}: the first stands")


def _start(
    conn: Connection, report: Report, times: Times, task: DictRow, now: datetime
) -> tuple[str, DictRow]:
    """(rid, the row) of a run that was not known."""
    q = queries("runs")
    rid = report.rid or str(uuid.uuid4())
    due_at = _find_due(conn, report, times, task)
    row = conn.execute(q.insert_run, {
        "rid": rid, "task": report.task, "handler": task["handler"], "started_by": "report", "due_at": due_at,
        "dagster_run_id": None, "attempt": 0, "host": None, "pid": None, "pid_started_at": None,
        "started_at": times.started_at, "retries_left": 0, "now": now,
    }).fetchone()  # fmt: skip
    assert row is not None, "it was looked for under the task's lock"
    if due_at is not None:
        occurrence = Occurrence(
            report.task, due_at, task["start_grace"], task["max_runtime"], task["schedule"], task["timezone"],
            task["mode"],
        )  # fmt: skip
        begin_expected(conn, occurrence, int(row["id"]), started_at=times.started_at, now=now, by="report")
    locked = conn.execute(q.lock_run, {"rid": rid}).fetchone()
    assert locked is not None
    return rid, locked


def _find_due(conn: Connection, report: Report, times: Times, task: DictRow) -> datetime | None:
    """The occurrence the run is for: the one it names, else, for a task that is observed, the one that fits."""
    if task["schedule"] is None or (report.due_at is None and task["mode"] != "observe"):
        return None
    schedule = parse_schedule(task["schedule"])
    q, named = queries("runs"), report.due_at
    if named is not None:
        exact = list(occurrences(schedule, task["timezone"], named - timedelta(seconds=1), named))
        if exact and not conn.execute(q.taken_dues, {"task": report.task, "dues": exact}).fetchall():
            return exact[-1]
    for span in LOOK_BACK:
        after = max(times.started_at - span - task["start_grace"], task["from_at"] - timedelta(seconds=1))
        dues = list(occurrences(schedule, task["timezone"], after, times.started_at + EARLY))
        if dues:
            rows = conn.execute(q.taken_dues, {"task": report.task, "dues": dues}).fetchall()
            taken = {row["due_at"] for row in rows}
            return match_due(dues, times.started_at, start_grace=task["start_grace"], taken=taken)
    return None


def _make_end(report: Report, times: Times, started_at: datetime, mask: Masker) -> RunEnd:
    outcome: Outcome = report.outcome or "failed"
    reason = report.reason
    if reason is None and outcome == "failed":
        reason = "it was reported as failed" if report.exit_code is None else f"exit code {report.exit_code}"
    elif reason is None and outcome == "timed-out":
        reason = "it was reported as timed out"
    notes = "; ".join(note for note in (reason, times.note) if note)
    stdout, stderr = report.stdout.encode("utf-8", "replace"), report.stderr.encode("utf-8", "replace")
    return RunEnd(
        outcome=outcome,
        finished_at=max(times.at, started_at),
        exit_code=report.exit_code,
        reason=mask.text(notes) or None,
        stdout_tail=mask.tail(stdout, len(stdout)),
        stderr_tail=mask.tail(stderr, len(stderr)),
        stdout_bytes=len(stdout),
        stderr_bytes=len(stderr),
        output=_bounded(mask.tree(report.output), OUTPUT_MAX),
        metrics={mask.text(name): value for name, value in report.metrics.items()},
        cost_usd=report.cost_usd,
        redactions=mask.counts,
    )


def _kept_body(body: Mapping[str, Any], mask: Masker) -> dict[str, Any]:
    """The report as it came, masked and bounded."""
    kept = mask.tree(dict(body))
    for name in ("stdout", "stderr", "output"):
        if name in kept and len(json.dumps(kept)) > BODY_MAX:
            kept[name] = "(left out of the report; the run's row has its end)"
    return kept if len(json.dumps(kept)) <= BODY_MAX else {"left_out": f"more than {BODY_MAX // 1024} KiB"}


def _bounded(value: Any, limit: int) -> Any:
    if value is None or len(json.dumps(value)) <= limit:
        return value
    return {"left_out": f"more than {limit // 1024} KiB of JSON"}
