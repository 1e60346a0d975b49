"""The evidence behind a row of the overview: what the check said over time, and the passes of a stage."""

from __future__ import annotations

from typing import Final

from psycopg.rows import DictRow

from argus_memory.db import Database, queries
from argus_memory.upkeep.pages.keyset import Slice, Sort, Wanted, fetch_page
from argus_memory.watch.audits import STAGES

SAMPLE_SORTS: Final = (Sort("newest", "When", "s.at"), Sort("oldest", "When", "s.at", descending=False))
PASS_SORTS: Final = (
    Sort("newest", "Ended", "s.finished_at"),
    Sort("longest", "Took", "extract(epoch from s.finished_at - s.started_at)::float8", "number"),
)
OUTCOMES: Final = ("ok", "failed")


def has_passes(name: str) -> bool:
    return name in STAGES


def find_samples(db: Database, name: str, *, wanted: Wanted) -> Slice[DictRow]:
    """What the check said: a row where its state changed, and one an hour."""
    sampled = "watchdogs" if name in ("watchdog", "dagster-watchdog") else name
    q = queries("pages_overview")
    with db.transaction() as conn:
        return fetch_page(conn, q.check_samples, q.count_check_samples, {"name": sampled}, wanted)


def find_passes(db: Database, stage: str, *, outcome: str | None, wanted: Wanted) -> Slice[DictRow]:
    """Passes of a stage with their counts; `outcome` narrows to ok or failed."""
    q = queries("pages_overview")
    params = {"name": stage, "outcome": outcome}
    with db.transaction() as conn:
        return fetch_page(conn, q.stage_passes, q.count_stage_passes, params, wanted)
