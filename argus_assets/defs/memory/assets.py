"""The assets. Materialized by hand or by a backfill, the days chosen are made anew; `process_memory` does the rest.

`process_memory` reports its work here day by day; see jobs.py.
"""

import dagster as dg

from argus_assets.defs.memory.partitions import DAYS, days_of, metadata_of
from argus_assets.resources import MemoryResource
from argus_memory.upkeep.memory_health import record_memory_health
from argus_memory.upkeep.process import StageWork, utc_now, work_stage
from argus_memory.upkeep.regenerate import Regenerated, redistill_days, reembed_days, resegment_days

GROUP = "memory"
ONE_RUN = dg.BackfillPolicy.single_run()  # ten days of two assets: one run of a second instead of twenty

raw_items = dg.AssetSpec(
    "raw_items",
    group_name=GROUP,
    partitions_def=DAYS,
    kinds={"postgres"},
    description="Everything captured, verbatim and immutable. Written by POST /capture and `argus import`.",
)
injections = dg.AssetSpec(
    "injections",
    group_name=GROUP,
    deps=["distilled_notes", "note_embeddings", "turn_embeddings"],
    kinds={"postgres"},
    description="The ledger of recalls, empty and skipped ones too. Written by the recall endpoints.",
)


@dg.asset(partitions_def=DAYS, deps=["raw_items"], backfill_policy=ONE_RUN, group_name=GROUP, kinds={"postgres"})
def turn_embeddings(context: dg.AssetExecutionContext, memory: MemoryResource) -> dg.MaterializeResult[None]:
    """Vectors of turns, one a turn and embedding space. A backfill embeds what is missing on its days."""
    return _by_day(context, reembed_days(memory.db, memory.settings, "turn", days_of(context)))


@dg.asset(
    partitions_def=DAYS,
    deps=["raw_items", "turn_embeddings"],
    backfill_policy=ONE_RUN,
    group_name=GROUP,
    kinds={"postgres"},
)
def episodes(context: dg.AssetExecutionContext, memory: MemoryResource) -> dg.MaterializeResult[None]:
    """Closed spans of turns, under the day of their first turn. The same turns always give the same episodes."""
    done = resegment_days(memory.db, memory.settings, days_of(context), run_id=context.run.run_id)
    return _by_day(context, done)


@dg.asset(
    partitions_def=DAYS,
    deps=["raw_items", "episodes"],
    backfill_policy=ONE_RUN,
    group_name=GROUP,
    kinds={"postgres"},
)
def distilled_notes(context: dg.AssetExecutionContext, memory: MemoryResource) -> dg.MaterializeResult[None]:
    """Grounded notes. A backfill makes its days anew from the raw items, and switches in one transaction; a run that
    would lose more notes than ARGUS_REGENERATE_LOSS fails, and waits for `argus regenerate --accept`."""
    done = redistill_days(memory.db, memory.settings, days_of(context), run_id=context.run.run_id)
    return _by_day(context, done)


@dg.asset(
    partitions_def=DAYS, deps=["distilled_notes"], backfill_policy=ONE_RUN, group_name=GROUP, kinds={"postgres"}
)
def note_embeddings(context: dg.AssetExecutionContext, memory: MemoryResource) -> dg.MaterializeResult[None]:
    """Vectors of notes, one a note and embedding space. A backfill embeds what is missing on its days."""
    return _by_day(context, reembed_days(memory.db, memory.settings, "note", days_of(context)))


@dg.asset(deps=["distilled_notes", "note_embeddings"], group_name=GROUP, kinds={"postgres"})
def dedup_log(context: dg.AssetExecutionContext, memory: MemoryResource) -> dg.MaterializeResult[None]:
    """Verdicts on pairs of notes: duplicate, refine, supersede, distinct; what was held waits for a person."""
    return _whole(_work(context, memory, "dedup_log"))


@dg.asset(deps=["raw_items", "injections"], group_name=GROUP, kinds={"postgres"})
def injection_uses(context: dg.AssetExecutionContext, memory: MemoryResource) -> dg.MaterializeResult[None]:
    """Whether each note that was shown was used by the answer that followed."""
    return _whole(_work(context, memory, "injection_uses"))


@dg.asset(deps=["distilled_notes"], group_name=GROUP, kinds={"postgres"})
def note_files(context: dg.AssetExecutionContext, memory: MemoryResource) -> dg.MaterializeResult[None]:
    """Files that notes name, the commit they were written at, and whether they changed since."""
    return _whole(_work(context, memory, "note_files"))


@dg.asset(deps=["distilled_notes", "dedup_log", "injection_uses"], group_name=GROUP, kinds={"postgres"})
def memory_health(memory: MemoryResource) -> dg.MaterializeResult[None]:
    """How healthy the memory is: near-duplicates, contradictions, fading notes, use of what was shown; a score."""
    return dg.MaterializeResult(metadata=metadata_of(record_memory_health(memory.db, now=utc_now()).counts))


@dg.asset(deps=["raw_items", "distilled_notes"], group_name=GROUP, kinds={"postgres"})
def task_items(context: dg.AssetExecutionContext, memory: MemoryResource) -> dg.MaterializeResult[None]:
    """To-dos noticed in notes and syntheses, and the later turns, notes, commits and runs that settle them."""
    return _whole(_work(context, memory, "task_items"))


@dg.asset(deps=["raw_items", "episodes"], group_name=GROUP, kinds={"postgres"})
def projects(context: dg.AssetExecutionContext, memory: MemoryResource) -> dg.MaterializeResult[None]:
    """The registry of projects and of the keys that name them."""
    return _whole(_work(context, memory, "projects"))


def _work(context: dg.AssetExecutionContext, memory: MemoryResource, stage: str) -> StageWork:
    return work_stage(
        memory.db, memory.settings, stage, seconds=memory.stage_seconds, step_back=False, run_id=context.run.run_id
    )


def _by_day(context: dg.AssetExecutionContext, done: Regenerated) -> dg.MaterializeResult[None]:
    """The counts of all days on each, and each day's own; a day without anything says so."""
    nothing = dict.fromkeys(next(iter(done.days.values()), {}), 0)
    of_day = {day.isoformat(): counts for day, counts in done.days.items()}
    for key in context.partition_keys:
        own = {f"day_{name}": count for name, count in of_day.get(key, nothing).items()}
        context.add_asset_metadata(metadata_of(own), partition_key=key)
    if done.error:
        raise dg.Failure(done.error, metadata=metadata_of(done.counts), allow_retries=False)
    return dg.MaterializeResult(metadata=metadata_of(done.counts))


def _whole(work: StageWork) -> dg.MaterializeResult[None]:
    if work.error:
        raise dg.Failure(work.error, metadata=metadata_of(work.counts), allow_retries=False)
    return dg.MaterializeResult(metadata=metadata_of(work.counts))
