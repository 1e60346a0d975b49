"""`@every 90m`: one sensor for all of them, anchored to the clock, so that nothing drifts.

A time is due at each multiple of the span since 1970-01-01T00:00Z. The cursor is the moment up to which everything
was asked for; after a down time the last missed time alone is asked for, as with cron. A run key names task and time,
so that a clock that steps back asks for nothing twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

import dagster as dg

from argus_assets.defs.tasks.job import TasksJob, selection_of
from argus_assets.defs.tasks.schedules import is_started_here, told_pause
from argus_assets.defs.tasks.tags import due_text, request_tags
from argus_assets.resources import MemoryResource
from argus_memory.records import TaskSpec
from argus_memory.rules.cron import EPOCH, parse_schedule
from argus_memory.tasks.registry import Pause, find_pauses
from argus_memory.upkeep.process import utc_now

SENSOR = "task_intervals"
INTERVAL_SECONDS = 30


def span_of(spec: TaskSpec) -> timedelta | None:
    """The span of a task that Argus starts every so often."""
    if not is_started_here(spec) or spec.schedule is None:
        return None
    return parse_schedule(spec.schedule).every


def last_multiple(span: timedelta, now: datetime) -> datetime:
    """The last time that was due at or before `now`."""
    return EPOCH + (now - EPOCH) // span * span


def due_since(
    specs: Mapping[str, tuple[TaskSpec, timedelta]], asked_to: datetime, now: datetime
) -> list[tuple[TaskSpec, datetime]]:
    """Each task's last due time, where it lies after `asked_to` and not after `now`."""
    found = [(spec, last_multiple(span, now)) for spec, span in specs.values()]
    return [(spec, due) for spec, due in found if asked_to < due]


def tick_intervals(
    specs: Mapping[str, tuple[TaskSpec, timedelta]], pauses: Mapping[str, Pause], cursor: str | None, now: datetime
) -> dg.SensorResult:
    """One evaluation. Without a cursor, or with one ahead of a clock that stepped back, asking begins now."""
    asked_to = datetime.fromisoformat(cursor) if cursor else now
    due = due_since(specs, min(asked_to, now), now)
    wanted = [(spec, at) for spec, at in due if spec.name not in pauses]
    paused = [f"{spec.name} is {told_pause(pauses[spec.name])}" for spec, _ in due if spec.name in pauses]
    requests = [
        dg.RunRequest(
            run_key=f"{spec.name}@{due_text(at)}",
            tags=request_tags(spec, at, now),
            asset_selection=selection_of(spec.name),
        )
        for spec, at in wanted
    ]
    reason = None if requests else "; ".join(paused) or f"none of {len(specs)} tasks is due"
    return dg.SensorResult(run_requests=requests, skip_reason=reason, cursor=now.astimezone(UTC).isoformat())


def build_intervals(tasks: Sequence[TaskSpec], job: TasksJob | None) -> dg.SensorDefinition | None:
    """The sensor over the tasks of the job; None where none is started by `@every`: it would tick for nothing."""
    spans = {spec.name: (spec, span) for spec in tasks if (span := span_of(spec))}
    if not spans:
        return None

    def evaluate(context: dg.SensorEvaluationContext) -> dg.SensorResult:
        memory: MemoryResource = context.resources.memory
        now = utc_now()
        return tick_intervals(spans, find_pauses(memory.db, now=now), context.cursor, now)

    return dg.SensorDefinition(
        name=SENSOR,
        job=job,
        evaluation_fn=evaluate,
        required_resource_keys={"memory"},
        minimum_interval_seconds=INTERVAL_SECONDS,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Starts the tasks whose schedule is `@every …`, at multiples of their span since 1970.",
    )
