"""The tags of a task's runs: what Dagster's queue limits go by, and what the ledger reads of queued runs."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from argus_memory.records import StartedBy, TaskSpec

KIND = "argus/kind"
TASK = "argus/task"
HANDLER = "argus/handler"
DUE_AT = "argus/due_at"
STARTED_BY = "argus/started_by"
RID = "argus/rid"
OUTCOME = "argus/outcome"
MAX_RUNTIME = "dagster/max_runtime"
MAX_RETRIES = "dagster/max_retries"  # of runs whose worker died; more of them than the stanza allows may do harm
RETRY_NUMBER = "dagster/retry_number"  # of such a run
PARENT_RUN = "dagster/parent_run_id"

TASK_KIND = "task"
RETRY_DELAY = timedelta(seconds=10)
# What Dagster gives a run beyond the task's own limit, which the runner keeps: to load code, to stop a process group.
MAX_RUNTIME_MARGIN = timedelta(minutes=3)


def task_tags(spec: TaskSpec) -> dict[str, str]:
    """What every run of the task has, whoever starts it."""
    whole = spec.max_runtime * (spec.retries + 1) + RETRY_DELAY * spec.retries + MAX_RUNTIME_MARGIN
    return {
        KIND: TASK_KIND,
        TASK: spec.name,
        HANDLER: spec.handler,
        MAX_RUNTIME: str(int(whole.total_seconds())),
        MAX_RETRIES: str(spec.retries),
    }


def due_text(due_at: datetime) -> str:
    """UTC, ISO 8601, whole seconds."""
    return due_at.astimezone(UTC).isoformat(timespec="seconds")


def due_tags(spec: TaskSpec, due_at: datetime, now: datetime) -> dict[str, str]:
    """Of a run asked for at `now`: one asked for after its grace makes up for a time when nobody asked."""
    started_by: StartedBy = "catch-up" if now > due_at + spec.start_grace else "schedule"
    return {DUE_AT: due_text(due_at), STARTED_BY: started_by}


def request_tags(spec: TaskSpec, due_at: datetime, now: datetime) -> dict[str, str]:
    """All tags of a run that Argus asks for at `now`."""
    return {**task_tags(spec), **due_tags(spec, due_at, now)}


def due_of(tags: Mapping[str, str]) -> datetime | None:
    text = tags.get(DUE_AT)
    return datetime.fromisoformat(text) if text else None


def starter_of(tags: Mapping[str, str]) -> StartedBy:
    """Who started a run. One that a person started again keeps the tags of the first, and names it."""
    if PARENT_RUN in tags and RETRY_NUMBER not in tags:
        return "person"
    if DUE_AT not in tags:
        return "person"
    return "catch-up" if tags.get(STARTED_BY) == "catch-up" else "schedule"


def attempt_of(tags: Mapping[str, str], step_retry: int) -> int:
    """Retries within a run, and runs that stand in for one whose worker died."""
    return step_retry + int(tags.get(RETRY_NUMBER, "0"))
