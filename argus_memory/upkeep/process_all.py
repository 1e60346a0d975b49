"""All stages over all pending work, in this process; and the report of runs that did it elsewhere.

A round calls every stage once in its order, each bounded in time. `until_idle` goes on until a round changes nothing.
A stage that cannot do its part (an embedder that is away, a judge without a budget) is named in `errors`, and the
others go on. Live tails stay open: what is closed is what any run would close at that moment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from argus_memory.db import Database, queries
from argus_memory.errors import ArgusError, SettingError, Unreachable
from argus_memory.records import ProcessReport
from argus_memory.settings import Settings
from argus_memory.upkeep.process import STAGES, Clock, StageWork, add_counts, work_stage

# Asset → the stage whose seconds it counts to.
STAGE_OF = {
    "turn_embeddings": "embed",
    "episodes": "segment",
    "distilled_notes": "distill",
    "note_embeddings": "embed",
    "dedup_log": "dedup",
    "task_items": "task_items",
    "injection_uses": "impact",
    "note_files": "note_files",
    "projects": "projects",
}
# Counts that mean a round changed something. A unit that failed is put off by its stage, so it does not come again.
PROGRESS = (
    "turns_embedded", "notes_embedded", "episodes_closed", "episodes_replaced", "units_distilled", "units_skipped",
    "content_failures", "notes", "revived",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Processed:
    """What was done, and by stage why something is still left; `changed`: whether anything was done at all."""

    report: ProcessReport
    rounds: int
    changed: bool
    errors: Mapping[str, str]


def process_all(
    db: Database,
    settings: Settings,
    *,
    now: Clock | datetime,
    until_idle: bool = False,
    progress: Callable[[StageWork], None] | None = None,
    run_id: str | None = None,
) -> Processed:
    """One round, or rounds until nothing changes any more; `progress` hears of every stage's work.

    Raises Unreachable without a database and SettingError on a setting that does not fit.
    """
    clock = now if callable(now) else lambda: now
    works: list[StageWork] = []
    errors: dict[str, str] = {}
    rounds = 0
    while True:
        rounds += 1
        done = [_work(db, settings, asset, clock, run_id) for asset in STAGE_OF if asset in STAGES]
        for work in done:
            if progress:
                progress(work)
            errors.pop(work.stage, None)
            if work.error:
                errors[work.stage] = work.error
        works += done
        if not until_idle or not made_progress([work.counts for work in done]):
            break
    changed = made_progress([work.counts for work in works])
    by_stage = {STAGE_OF[asset]: error for asset, error in errors.items()}
    return Processed(report_of_works(works), rounds, changed, by_stage)


def made_progress(counts: Sequence[Mapping[str, Any]]) -> bool:
    return any(part.get(name) for part in counts for name in PROGRESS)


def report_of_works(works: Sequence[StageWork]) -> ProcessReport:
    """What these stages did in this process."""
    return _report([work.counts for work in works], ((STAGE_OF[work.stage], work.seconds) for work in works))


def report_of_runs(db: Database, run_ids: Sequence[str]) -> Processed:
    """What the passes of these Dagster runs did, by their rows in `stage_passes`."""
    rows = db.fetch_all(queries("process").passes_of_runs, {"run_ids": list(run_ids)})
    # `parked` of an embed pass counts items that cannot be embedded, not units.
    counts = [
        {name: value for name, value in row["counts"].items() if (row["stage"], name) != ("embed", "parked")}
        for row in rows
    ]
    errors: dict[str, str] = {}
    for row in rows:
        errors.pop(row["stage"], None)
        if row["error"]:
            errors[row["stage"]] = row["error"]
    report = _report(counts, ((row["stage"], row["seconds"]) for row in rows))
    return Processed(report, len(run_ids), made_progress(counts), errors)


def _report(counts: Sequence[Mapping[str, Any]], seconds: Iterable[tuple[str, float]]) -> ProcessReport:
    """The contract's report of the counts of many passes, and of the seconds each took, by its stage."""
    total = add_counts(counts)
    names = ("episodes_closed", "units_distilled", "notes_created", "notes_rejected", "transient_failures",
             "parked", "turns_embedded", "notes_embedded", "held")  # fmt: skip
    by_stage: dict[str, float] = dict.fromkeys(STAGE_OF.values(), 0.0)
    for stage, each in seconds:
        by_stage[stage] = by_stage.get(stage, 0.0) + each
    return ProcessReport(
        **{name: int(total.get(name, 0)) for name in names},
        dedup=dict(total.get("verdicts", {})),
        seconds={stage: round(value, 3) for stage, value in by_stage.items()},
    )


def _work(db: Database, settings: Settings, asset: str, clock: Clock, run_id: str | None) -> StageWork:
    try:
        return work_stage(db, settings, asset, step_back=False, clock=clock, run_id=run_id)
    except (Unreachable, SettingError):
        raise
    except ArgusError as error:  # a model's files that do not load, say: the stages after it do not need it
        return StageWork(asset, error=str(error))
