"""`process_memory`: every stage once, in order, in one run.

An ordinary job rather than a job of assets: a run of partitioned assets must name its days beforehand, and a run
without (which is what a person starts with one click) fails in Dagster as soon as an upstream day is materialized.
So the steps report the days they touched as materializations of the assets.

The steps do not depend on each other: when one fails, with its reason and in red, the others still do their part
(without an embedder, size and gap still close episodes), and the run is a failed one. Their order is their priority.
"""

import dagster as dg

from argus_assets.defs.memory.partitions import materializations, metadata_of
from argus_assets.resources import MemoryResource
from argus_memory.upkeep.process import utc_now, work_stage

PROCESS_MEMORY = "process_memory"
# Step → the asset (and stage) it works on, in order; and whether that asset has days.
STEPS: dict[str, tuple[str, bool]] = {
    "embed_turns": ("turn_embeddings", True),
    "segment_turns": ("episodes", True),
    "distill_units": ("distilled_notes", True),
    "embed_notes": ("note_embeddings", True),
    "dedup_notes": ("dedup_log", False),
    "notice_task_items": ("task_items", False),
    "check_impact": ("injection_uses", False),
    "notice_files": ("note_files", False),
    "count_projects": ("projects", False),
}
# Seconds; nine stages of a minute each, and one model call that takes its time. A worker that hangs is ended then.
MAX_RUNTIME = 1800


def _step(name: str, priority: int) -> dg.OpDefinition:
    asset, by_day = STEPS[name]

    @dg.op(name=name, tags={"dagster/priority": str(priority)}, out=dg.Out(dg.Nothing), description=f"→ {asset}")
    def step(context: dg.OpExecutionContext, memory: MemoryResource) -> None:
        work = work_stage(memory.db, memory.settings, asset, seconds=memory.stage_seconds, run_id=context.run_id)
        for event in materializations(asset, work, utc_now(), by_day=by_day):
            context.log_event(event)
        context.log.info("%s: %s", asset, dict(work.counts))
        if work.error:
            raise dg.Failure(work.error, metadata=metadata_of(work.counts), allow_retries=False)

    return step


process_memory = dg.GraphDefinition(
    name=PROCESS_MEMORY,
    description="Works off what waits, newest first: embed, segment, distill, embed, dedup, to-dos, impact, files.",
    node_defs=[_step(name, len(STEPS) - place) for place, name in enumerate(STEPS)],
).to_job(tags={"dagster/max_runtime": str(MAX_RUNTIME)}, executor_def=dg.in_process_executor)
