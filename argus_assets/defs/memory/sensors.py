"""`pending_memory`: every half minute one question to Postgres, and a run when there is something for it to do."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import datetime

import dagster as dg
from dagster._core.storage.tags import RUN_KEY_TAG

from argus_assets.defs.memory.jobs import PROCESS_MEMORY, process_memory
from argus_assets.defs.memory.partitions import FIRST_DAY
from argus_assets.resources import MemoryResource
from argus_memory.upkeep.process import utc_now
from argus_memory.watch.pending import PendingWork, decide_run, find_pending

INTERVAL_SECONDS = 30
AT_WORK = [
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
]


@dataclass(frozen=True, slots=True)
class Reported:
    """The cursor: the highest ids that the asset catalogue has heard of."""

    raw_id: int = 0
    injection_id: int = 0

    @classmethod
    def parse(cls, cursor: str | None) -> "Reported":
        return cls(**json.loads(cursor)) if cursor else cls()


@dg.sensor(
    name="pending_memory",
    job=process_memory,
    minimum_interval_seconds=INTERVAL_SECONDS,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Starts process_memory when a tail is due to close, a unit to be distilled or vectors have waited.",
)
def pending_memory(context: dg.SensorEvaluationContext, memory: MemoryResource) -> dg.SensorResult:
    return tick(context.instance, memory, context.cursor, utc_now())


def tick(instance: dg.DagsterInstance, memory: MemoryResource, cursor: str | None, now: datetime) -> dg.SensorResult:
    """One evaluation at `now`: a run request, or the reason why there is none."""
    reported = Reported.parse(cursor)
    work = find_pending(memory.db, memory.settings, now, raw_id=reported.raw_id, injection_id=reported.injection_id)
    decision = decide_run(work, now)
    if decision.run_key is None:
        return dg.SensorResult(skip_reason=decision.reason, cursor=cursor)
    if found := instance.get_run_records(dg.RunsFilter(job_name=PROCESS_MEMORY, statuses=AT_WORK), limit=1):
        run = found[0].dagster_run
        return dg.SensorResult(
            skip_reason=f"run {run.run_id} is {run.status.value.lower()}; after it: {decision.reason}",
            cursor=cursor,
        )
    if found := instance.get_run_records(dg.RunsFilter(tags={RUN_KEY_TAG: decision.run_key}), limit=1):
        return dg.SensorResult(
            skip_reason=f"run {found[0].dagster_run.run_id} left the same work, it is tried again later:"
            f" {decision.reason}",
            cursor=cursor,
        )
    return dg.SensorResult(
        run_requests=[dg.RunRequest(decision.run_key, tags={"argus/why": decision.reason[:200]})],
        # Told with a run and not at every tick: an event is 1.5 kB for ever.
        asset_events=list(_arrived(work)),
        cursor=json.dumps(asdict(Reported(work.raw_id, work.injection_id))),
    )


def _arrived(work: PendingWork) -> Iterator[dg.AssetMaterialization]:
    """What others wrote since the last run: captured items by day, and recalls."""
    for day, count in sorted(work.captured.items()):
        if day >= FIRST_DAY:
            yield dg.AssetMaterialization("raw_items", partition=day, metadata={"captured": count})
    if work.recalled:
        yield dg.AssetMaterialization("injections", metadata={"recalls": work.recalled})
