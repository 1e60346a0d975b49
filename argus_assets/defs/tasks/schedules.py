"""A schedule for each task that Argus starts by cron. The zone is the task's; the clock is Dagster's scheduler.

After a down time the scheduler asks once, for the last time that was missed; that run is a catch-up. What was missed
before it stands in the ledger.
"""

from __future__ import annotations

from datetime import UTC, datetime

import dagster as dg

from argus_assets.defs.tasks.job import selection_of
from argus_assets.defs.tasks.tags import due_text, request_tags
from argus_assets.resources import MemoryResource
from argus_memory.db import Database
from argus_memory.records import TaskSpec
from argus_memory.rules.cron import parse_schedule
from argus_memory.tasks.names import TASKS_JOB, schedule_name
from argus_memory.tasks.registry import Pause, find_pauses
from argus_memory.upkeep.process import utc_now


def is_started_here(spec: TaskSpec) -> bool:
    """Whether Argus starts the task by itself."""
    return spec.schedule is not None and spec.enabled and spec.mode == "run"


def build_schedule(spec: TaskSpec) -> dg.ScheduleDefinition | None:
    """None where no cron of Argus's starts it (`@every` has the sensor); ValueError on a schedule nobody can read."""
    if not is_started_here(spec) or spec.schedule is None:
        return None
    cron = parse_schedule(spec.schedule).cron
    if cron is None:
        return None

    def evaluate(context: dg.ScheduleEvaluationContext) -> dg.RunRequest | dg.SkipReason:
        memory: MemoryResource = context.resources.memory
        return request_due(memory.db, spec, context.scheduled_execution_time.astimezone(UTC), utc_now())

    return dg.ScheduleDefinition(
        name=schedule_name(spec.name),
        job_name=TASKS_JOB,
        cron_schedule=cron,
        execution_timezone=spec.timezone,
        execution_fn=evaluate,
        required_resource_keys={"memory"},
        default_status=dg.DefaultScheduleStatus.RUNNING,
    )


def request_due(db: Database, spec: TaskSpec, due_at: datetime, now: datetime) -> dg.RunRequest | dg.SkipReason:
    """The run of one due time, or why there is none. The run key makes a second asking for the same time harmless."""
    pause = find_pauses(db, now=now, name=spec.name).get(spec.name)
    if pause is not None:
        return dg.SkipReason(told_pause(pause))
    return dg.RunRequest(
        run_key=due_text(due_at), tags=request_tags(spec, due_at, now), asset_selection=selection_of(spec.name)
    )


def told_pause(pause: Pause) -> str:
    """`paused by ann until 2026-03-02 08:00 UTC: moving house`"""
    end = f"until {pause.until_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if pause.until_at else "until it is resumed"
    return f"paused by {pause.actor} {end}" + (f": {pause.reason}" if pause.reason else "")
