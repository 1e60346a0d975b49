"""`reconcile_memory`: a share of the days made anew every night and compared, by upkeep/reconcile.py."""

import dagster as dg

from argus_assets.defs.memory.partitions import metadata_of
from argus_assets.resources import MemoryResource
from argus_memory.upkeep.reconcile import reconcile

MAX_RUNTIME = 3600  # seconds; with a model every unit is a call


@dg.op(out=dg.Out(dg.Nothing), description="→ regenerations, mode reconcile")
def compare_days(context: dg.OpExecutionContext, memory: MemoryResource) -> None:
    """Each day compared is an observation of distilled_notes, with what would come out otherwise."""
    done = reconcile(memory.db, memory.settings, run_id=context.run_id)
    for day, run in zip(done.days, done.runs, strict=True):
        counts = {"regeneration": run.id, "status": run.status, "loss": run.loss, **run.counts}
        context.log_event(
            dg.AssetObservation("distilled_notes", partition=day.isoformat(), metadata=metadata_of(counts))
        )
    drift = "unknown" if done.drift is None else f"{done.drift:.1%}"
    context.log.info("%d days compared, drift %s", len(done.days), drift)
    if done.error:
        raise dg.Failure(done.error, allow_retries=False)


reconcile_memory = dg.GraphDefinition(
    name="reconcile_memory",
    description="Makes a rotating share of the days anew and tells how far the notes have drifted; changes nothing.",
    node_defs=[compare_days],
).to_job(tags={"dagster/max_runtime": str(MAX_RUNTIME)}, executor_def=dg.in_process_executor)
reconcile_nightly = dg.ScheduleDefinition(
    name="reconcile_nightly",
    job=reconcile_memory,
    cron_schedule="20 4 * * *",
    execution_timezone="UTC",
    default_status=dg.DefaultScheduleStatus.RUNNING,
)
