"""`housekeeping`: old Dagster runs with their events and logs, term frequencies, vectors of retired spaces.

Dagster keeps runs and events for ever by itself: a hundred runs a day are a gigabyte a year.
"""

from dataclasses import asdict
from datetime import datetime

import dagster as dg

from argus_assets.defs.memory.partitions import FIRST_DAY, metadata_of
from argus_assets.resources import MemoryResource
from argus_memory.db import queries
from argus_memory.upkeep.auto_approve import auto_approve
from argus_memory.upkeep.housekeeping import keep_house
from argus_memory.upkeep.memory_health import record_memory_health
from argus_memory.upkeep.process import utc_now

FINISHED = [dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED]
RUNS_A_PAGE = 100
RUNS_AT_MOST = 5000  # a housekeeping; the next one takes the rest


def delete_runs_before(instance: dg.DagsterInstance, before: datetime, at_most: int = RUNS_AT_MOST) -> int:
    """Delete finished runs last changed before a moment, with their events and compute logs; returns how many."""
    deleted = 0
    while deleted < at_most:
        page = instance.get_run_records(
            dg.RunsFilter(statuses=FINISHED, updated_before=before),
            limit=min(RUNS_A_PAGE, at_most - deleted),
            ascending=True,
        )
        for record in page:
            run_id = record.dagster_run.run_id
            instance.compute_log_manager.delete_logs(prefix=[run_id])
            instance.delete_run(run_id)
        deleted += len(page)
        if not page:
            break
    return deleted


@dg.op(out=dg.Out(dg.Nothing), tags={"dagster/priority": "3"})
def tidy_memory(context: dg.OpExecutionContext, memory: MemoryResource) -> None:
    """Term frequencies, retired vectors, planner figures."""
    context.log.info("memory tidied: %s", asdict(keep_house(memory.db, now=utc_now())))


@dg.op(out=dg.Out(dg.Nothing), tags={"dagster/priority": "4"})
def approve_waiting(context: dg.OpExecutionContext, memory: MemoryResource) -> None:
    """What waited in the review for ARGUS_AUTO_APPROVE, uncontested."""
    context.log.info("approved by itself: %s", asdict(auto_approve(memory.db, memory.settings, now=utc_now())))


@dg.op(out=dg.Out(dg.Nothing), tags={"dagster/priority": "0"})
def measure_memory(context: dg.OpExecutionContext, memory: MemoryResource) -> None:
    """The health of the memory, kept as a row a day."""
    report = record_memory_health(memory.db, now=utc_now())
    context.log_event(dg.AssetMaterialization(asset_key="memory_health", metadata=metadata_of(report.counts)))


@dg.op(out=dg.Out(dg.Nothing), tags={"dagster/priority": "2"})
def delete_old_runs(context: dg.OpExecutionContext, memory: MemoryResource) -> None:
    """Runs older than ARGUS_RUN_RETENTION."""
    retention = memory.settings.run_retention
    deleted = delete_runs_before(context.instance, utc_now() - retention)
    context.log.info("%d runs deleted that were older than %s", deleted, retention)


@dg.op(out=dg.Out(dg.Nothing), tags={"dagster/priority": "1"})
def restate_days(context: dg.OpExecutionContext, memory: MemoryResource) -> None:
    """Days that hold data but whose events went with their runs are told to the catalogue again."""
    restated = 0
    for asset, query in _known_days().items():
        told = context.instance.get_materialized_partitions(dg.AssetKey(asset))
        for row in memory.db.fetch_all(query):
            day = row.pop("day").isoformat()
            if day >= FIRST_DAY and day not in told:
                restated += 1
                context.log_event(dg.AssetMaterialization(asset, partition=day, metadata=metadata_of(row)))
    context.log.info("%d days told to the catalogue again", restated)


def _known_days() -> dict[str, str]:
    q = queries("housekeeping")
    return {
        "raw_items": q.days_captured,
        "turn_embeddings": q.days_of_turn_vectors,
        "episodes": q.days_of_episodes,
        "distilled_notes": q.days_distilled,
        "note_embeddings": q.days_of_note_vectors,
    }


housekeeping_job = dg.GraphDefinition(
    name="housekeeping",
    description="Deletes old runs with their events and logs, counts terms again, drops retired vectors.",
    node_defs=[approve_waiting, tidy_memory, delete_old_runs, restate_days, measure_memory],
).to_job(executor_def=dg.in_process_executor)
