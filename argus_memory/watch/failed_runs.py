"""The net under Dagster's runs: a failure that nobody reported is reported here, from Dagster's side.

note_failure:

    a task's run with a report       nothing: the runner told of it
    a task's run without one         gets one (its worker died, or its job does not load), with ledger and alert
    any other job                    alert `dagster-run` / `job:<name>`, until a run of the job succeeds
    a task's run that failed after   the same, on `job:task/<name>`: all tasks share one job
    its report was a good one
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Literal

from argus_memory.db import Database, queries
from argus_memory.records import StartedBy, TaskList, TaskSpec
from argus_memory.settings import Settings
from argus_memory.tasks.names import ASSET_GROUP
from argus_memory.tasks.runs_orphans import close_orphans
from argus_memory.tasks.runs_write import RunEnd, begin_run, finish_run
from argus_memory.watch.alerts import Condition, clear_alert, raise_alert
from argus_memory.watch.beats import DAGSTER
from argus_memory.watch.dagster_launch import run_url

KIND: Final = "dagster-run"
REASON_MAX = 1000  # characters of Dagster's error

Noted = Literal["known", "reported", "alerted"]


@dataclass(frozen=True, slots=True)
class FailedRun:
    """A run of Dagster that failed for good. task: its tag, where it is a task's; began: whether its worker ran."""

    run_id: str
    job: str
    error: str
    failed_at: datetime
    task: str | None = None
    due_at: datetime | None = None
    started_by: StartedBy = "person"
    attempt: int = 0
    began: bool = True

    @property
    def what(self) -> str:
        """What alerts call it."""
        return f"{ASSET_GROUP}/{self.task}" if self.task else self.job


def note_failure(db: Database, settings: Settings, task_list: TaskList, run: FailedRun, *, now: datetime) -> Noted:
    """See that the failure is known; idempotent."""
    if run.task is not None:
        close_orphans(db, settings, now=now, task=run.task)
        reports = db.fetch_all(queries("failed_runs").reports_of, {"task": run.task, "run_id": run.run_id})
        if any(report["outcome"] is None or report["outcome"] not in ("ok", "skipped") for report in reports):
            return "known"
        spec = {each.name: each for each in task_list.tasks}.get(run.task)
        if spec is not None and not reports:
            _report(db, settings, spec, run, now=now)
            return "reported"
    with db.transaction() as conn:
        raise_alert(conn, settings, _condition(settings, run), now=now, by=DAGSTER)
    return "alerted"


def clear_recovered(
    db: Database, settings: Settings, succeeded_since: Callable[[str, datetime], bool], *, now: datetime
) -> list[str]:
    """Close the alert of each job, or `task/<name>`, that a run succeeded of since it was opened; their names."""
    cleared = []
    for row in db.fetch_all(queries("failed_runs").open_job_alerts, {"kind": KIND}):
        what = str(row["subject"]).removeprefix("job:")
        if succeeded_since(what, row["opened_at"]):
            with db.transaction() as conn:
                clear_alert(conn, settings, KIND, row["subject"], now=now, by=DAGSTER)
            cleared.append(what)
    return cleared


def _report(db: Database, settings: Settings, spec: TaskSpec, run: FailedRun, *, now: datetime) -> None:
    """The report that the run itself could not write; with `no_overlap` it would only be noted as skipped."""
    rid = str(uuid.uuid5(uuid.NAMESPACE_URL, f"dagster-run:{run.run_id}"))
    begin_run(
        db,
        settings,
        replace(spec, no_overlap=False),
        rid=rid,
        started_by=run.started_by,
        due_at=run.due_at,
        attempt=run.attempt,
        dagster_run_id=run.run_id,
        now=now,
    )
    outcome: Literal["orphaned", "failed"] = "orphaned" if run.began else "failed"
    reason = f"its run in Dagster ended before the task began: {_short(run.error)}"
    finish_run(db, settings, rid, RunEnd(outcome, now, reason=reason), now=now, by=DAGSTER)


def _condition(settings: Settings, run: FailedRun) -> Condition:
    return Condition(
        kind=KIND,
        subject=f"job:{run.what}",
        title=f"A run of {run.what} failed in Dagster",
        detail=f"{_short(run.error)}\nWhat to do: open the run, mend what it names; its next success closes this.",
        evidence={"run_id": run.run_id, "failed_at": run.failed_at.isoformat()},
        link=run_url(settings, run.run_id),
        task=run.task,
    )


def _short(error: str) -> str:
    text = " ".join(error.split())
    return text if len(text) <= REASON_MAX else text[: REASON_MAX - 1] + "…"
