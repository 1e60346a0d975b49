"""`watch_tasks`, Dagster's half of the watch over tasks, and `failed_runs`, the net under its runs.

Both bodies are thin: argus_memory/watch/dagster_side.py and failed_runs.py hold the rules.
"""

from datetime import UTC, datetime

import dagster as dg

from argus_assets.defs.tasks.checks import ToldChecks
from argus_assets.defs.tasks.job import task_of
from argus_assets.defs.tasks.tags import TASK, attempt_of, due_of, starter_of
from argus_assets.resources import MemoryResource
from argus_memory.records import TaskList
from argus_memory.tasks.register_again import TaskRegister
from argus_memory.upkeep.process import utc_now
from argus_memory.watch.dagster_side import DagsterSide, watch_side
from argus_memory.watch.failed_runs import FailedRun, clear_recovered, note_failure

INTERVAL_SECONDS = 30
WILL_RETRY = "dagster/will_retry"  # Dagster's own tag: another run stands in for the one that failed


def build_watch(task_list: TaskList) -> dg.SensorDefinition:
    register, told = TaskRegister(task_list), ToldChecks()  # as long as this load of the code lives

    @dg.sensor(
        name="watch_tasks",
        minimum_interval_seconds=INTERVAL_SECONDS,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Judges the due ledger, tells checks that changed, and says when the API's watchdog is silent.",
    )
    def watch_tasks(context: dg.SensorEvaluationContext, memory: MemoryResource) -> dg.SkipReason:
        return dg.SkipReason(tick_watch(context.instance, memory, register, told, utc_now()))

    return watch_tasks


def tick_watch(
    instance: dg.DagsterInstance, memory: MemoryResource, register: TaskRegister, told: ToldChecks, now: datetime
) -> str:
    """One evaluation at `now`: its line for the tick; raises what failed after all the rest was done."""
    side: DagsterSide = watch_side(memory.db, memory.settings, register, now=now)
    changed = told.tell(instance, side.checks)
    cleared = clear_recovered(
        memory.db, memory.settings, lambda what, since: has_succeeded(instance, what, since), now=now
    )
    if side.errors:
        raise dg.DagsterError("; ".join(side.errors))
    return side.describe(len(changed)) + "".join(f", {what} runs again" for what in cleared)


def has_succeeded(instance: dg.DagsterInstance, what: str, since: datetime) -> bool:
    """Whether a run of a job, or of a task (`task/<name>`), ended well after a moment."""
    job, _, task = what.partition("/")
    of = {"tags": {TASK: task}} if task else {"job_name": job}
    wanted = dg.RunsFilter(**of, statuses=[dg.DagsterRunStatus.SUCCESS], updated_after=since)
    return bool(instance.get_run_records(wanted, limit=1))


def build_failed_runs(task_list: TaskList) -> dg.SensorDefinition:
    @dg.run_failure_sensor(
        name="failed_runs",
        minimum_interval_seconds=INTERVAL_SECONDS,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="The net: a run that failed without a report of its own is reported, and its alert raised.",
    )
    def failed_runs(context: dg.RunFailureSensorContext, memory: MemoryResource) -> dg.SkipReason:
        run = context.dagster_run
        if run.tags.get(WILL_RETRY) == "true":
            return dg.SkipReason(f"run {run.run_id} is tried again by Dagster")
        failed = failed_run(context.instance, run, context.failure_event.message or "", utc_now())
        done = note_failure(memory.db, memory.settings, task_list, failed, now=utc_now())
        return dg.SkipReason(f"run {run.run_id} of {run.job_name}: {done}")

    return failed_runs


def failed_run(instance: dg.DagsterInstance, run: dg.DagsterRun, error: str, now: datetime) -> FailedRun:
    """What the net needs to know of a failed run."""
    record = instance.get_run_record_by_id(run.run_id)
    ended = record.end_time if record else None
    return FailedRun(
        run_id=run.run_id,
        job=run.job_name,
        error=error or "Dagster gives no reason",
        failed_at=datetime.fromtimestamp(ended, UTC) if ended else now,
        task=task_of(run),
        due_at=due_of(run.tags),
        started_by=starter_of(run.tags),
        attempt=attempt_of(run.tags, 0),
        began=bool(record and record.start_time),
    )
