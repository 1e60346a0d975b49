"""The stages in their order, each worked off in batches: what a run of `process_memory` and `argus process` do.

A batch is small and takes the newest first. Between batches the past steps back: when something said today is due,
the stage ends early, so that the import of a year never delays today's episode.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any

from argus_memory.db import Database, queries
from argus_memory.settings import Settings
from argus_memory.stages.centroids import classify_episodes
from argus_memory.stages.dedup import dedup_pending
from argus_memory.stages.distill import distill_pending
from argus_memory.stages.embed import Target, embed_pending
from argus_memory.stages.impact import check_impact
from argus_memory.stages.note_files import notice_files
from argus_memory.stages.segment import segment_pending
from argus_memory.stages.spaces import ensure_space, open_embedder
from argus_memory.stages.task_items import notice_task_items
from argus_memory.watch.pending import has_fresh_work

BACKLOG_SECONDS = 60.0  # a stage, while nothing of today waits
FRESH = timedelta(hours=24)
EMBED_ITEMS = 256  # a batch: some seconds on two cores
SESSIONS = 100
UNITS, UNITS_BY_MODEL = 25, 1  # an answer of a model takes seconds
NOTES, NOTES_BY_MODEL = 200, 5

Clock = Callable[[], datetime]


@dataclass(frozen=True, slots=True)
class Batch:
    """One call of a stage. `more`: another call would find work; `error`: why it could not do all it should."""

    counts: Mapping[str, Any]
    more: bool = False
    error: str | None = None


@dataclass(frozen=True, slots=True)
class DayWork:
    """What one stage did for one UTC day, and what it left there."""

    done: int = 0
    left: int = 0


@dataclass(frozen=True, slots=True)
class StageWork:
    """A stage's batches together: counts are sums, except what is left, which is the last batch's."""

    stage: str
    counts: Mapping[str, Any] = field(default_factory=dict)
    days: Mapping[date, DayWork] = field(default_factory=dict)
    seconds: float = 0.0
    batches: int = 0
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Work:
    """What a stage is called with."""

    db: Database
    settings: Settings
    clock: Clock
    run_id: str | None


def utc_now() -> datetime:
    return datetime.now(UTC)


def _embed(work: Work, target: Target) -> Batch:
    embedder = open_embedder(work.db, work.settings)
    report = embed_pending(work.db, work.settings, embedder, now=work.clock(), target=target, limit=EMBED_ITEMS)
    done = report.turns_embedded if target == "turn" else report.notes_embedded
    counts = {**report.counts, "items_parked": report.parked}  # `parked` alone means units
    counts.pop("parked")
    return Batch(counts, report.error is None and done >= EMBED_ITEMS, report.error)


def _embed_turns(work: Work) -> Batch:
    return _embed(work, "turn")


def _embed_notes(work: Work) -> Batch:
    return _embed(work, "note")


def _segment(work: Work) -> Batch:
    report = segment_pending(work.db, work.settings, now=work.clock(), limit=SESSIONS, run_id=work.run_id)
    error = f"{report.failed} sessions could not be segmented" if report.failed else None
    return Batch(report.counts(), report.left > 0 and report.sessions > 0, error)


def _distill(work: Work) -> Batch:
    limit = UNITS_BY_MODEL if work.settings.distill_model else UNITS
    report = distill_pending(work.db, work.settings, now=work.clock(), limit=limit, run_id=work.run_id)
    counts = {name: getattr(report, name) for name in report.__slots__}
    touched = (
        report.units_distilled
        + report.units_skipped
        + report.content_failures
        + report.transient_failures
        + report.claims_lost
    )
    return Batch(counts, touched >= limit and report.stopped is None, report.stopped)


def _dedup(work: Work) -> Batch:
    limit = NOTES_BY_MODEL if work.settings.judge_model else NOTES
    report = dedup_pending(work.db, work.settings, now=work.clock(), limit=limit, run_id=work.run_id)
    counts = {name: getattr(report, name) for name in report.__slots__}
    return Batch(counts, report.notes >= limit and report.stopped is None, report.stopped)


def _task_items(work: Work) -> Batch:
    report = notice_task_items(work.db, work.settings, now=work.clock(), run_id=work.run_id)
    counts = {name: getattr(report, name) for name in report.__slots__}
    return Batch(counts, report.more and report.stopped is None, report.stopped)


def _impact(work: Work) -> Batch:
    report = check_impact(work.db, now=work.clock(), run_id=work.run_id)
    return Batch({name: getattr(report, name) for name in report.__slots__}, report.more)


def _note_files(work: Work) -> Batch:
    report = notice_files(work.db, now=work.clock(), run_id=work.run_id)
    return Batch({name: getattr(report, name) for name in report.__slots__}, report.more)


def _projects(work: Work) -> Batch:
    report = classify_episodes(work.db, now=work.clock(), run_id=work.run_id)
    counts = {name: getattr(report, name) for name in report.__slots__}
    row = work.db.fetch_one(queries("pending").count_projects)
    return Batch({**counts, **(row or {})}, report.more)


# Asset → its stage, in the order in which a run calls them.
STAGES: Mapping[str, Callable[[Work], Batch]] = {
    "turn_embeddings": _embed_turns,
    "episodes": _segment,
    "distilled_notes": _distill,
    "note_embeddings": _embed_notes,
    "dedup_log": _dedup,
    "task_items": _task_items,
    "injection_uses": _impact,
    "note_files": _note_files,
    "projects": _projects,
}
# What is left over, as opposed to what was done: the last batch's figure is the stage's.
GAUGES = frozenset({"waiting", "busy", "left", "pending", "projects", "keys", "model", "space_id", "items_parked"})


def work_stage(
    db: Database,
    settings: Settings,
    stage: str,
    *,
    seconds: float = BACKLOG_SECONDS,
    step_back: bool = True,
    clock: Clock = utc_now,
    run_id: str | None = None,
) -> StageWork:
    """Call a stage until it finds nothing, `seconds` are over or (`step_back`) something of today is due.

    An error the stage reported is in `error`; one it raised is raised.
    """
    work = Work(db, settings, clock, run_id)
    started = time.monotonic()
    if stage in ("turn_embeddings", "note_embeddings"):
        ensure_space(db, open_embedder(db, settings), now=clock())  # the first pass would find no queue to look at
    count_days = _watch_days(db, stage)
    batches: list[Batch] = []
    while True:
        batches.append(STAGES[stage](work))
        if not batches[-1].more or time.monotonic() - started >= seconds:
            break
        if step_back and has_fresh_work(db, settings, clock(), clock() - FRESH):
            break
    return StageWork(
        stage,
        add_counts([batch.counts for batch in batches]),
        count_days(),
        time.monotonic() - started,
        len(batches),
        next((batch.error for batch in batches if batch.error), None),
    )


def _watch_days(db: Database, stage: str) -> Callable[[], dict[date, DayWork]]:
    """Look at what waits now; the answer, called later, tells what was done since, by the day it was said."""
    q = queries("pending")
    if stage == "episodes":
        newest = db.fetch_one(q.newest_episode)
        return lambda: {row["day"]: DayWork(row["n"]) for row in db.fetch_all(q.episodes_since, newest)}

    def waiting() -> dict[date, int]:
        return {row["day"]: row["n"] for row in db.fetch_all(q.days_waiting, {"stage": stage})}

    before = waiting()
    return lambda: compare_days(before, waiting())


def add_counts(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Numbers are added up, mappings by key; gauges and words are the last part's."""
    total: dict[str, Any] = {}
    for part in parts:
        for name, value in part.items():
            if isinstance(value, Mapping):
                total[name] = dict(Counter(total.get(name, {})) + Counter(value))
            elif name in GAUGES or isinstance(value, bool) or not isinstance(value, int | float):
                total[name] = value
            else:
                total[name] = total.get(name, 0) + value
    return total


def compare_days(before: Mapping[date, int], after: Mapping[date, int]) -> dict[date, DayWork]:
    """What waited before and after, as done and left; days on which nothing was done are left out."""
    return {
        day: DayWork(waited - after.get(day, 0), after.get(day, 0))
        for day, waited in sorted(before.items())
        if waited > after.get(day, 0)
    }
