"""The trace of every pass: one `stage_passes` row for each go of each stage, also when it did nothing or failed.

    with stage_pass(db, "segment") as trace:
        ...
        trace.counts["episodes_closed"] = 3

writes the row in a transaction of its own when the block ends, with outcome `failed` and the error when it raised
(which it does again). `trace.id` is the row's id from the start, for audit rows that name their pass.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from psycopg.types.json import Jsonb

from argus_memory.db import Connection, Database, queries
from argus_memory.errors import Unreachable

RUN_ID_VARIABLE = "DAGSTER_RUN_ID"  # a run's own process may say which run it belongs to
ERROR_CHARS = 1000  # of an error's text that are kept

log = logging.getLogger(__name__)


@dataclass(slots=True)
class PassTrace:
    """A pass while it runs; what is in `counts` when it ends is what its row says.

    A pass that set `error` aside to go on with other work is recorded as failed, but raises nothing.
    """

    id: int
    stage: str
    started_at: datetime
    run_id: str | None
    counts: dict[str, Any] = field(default_factory=dict)
    error: str | None = None


def record_pass(
    conn: Connection,
    stage: str,
    started_at: datetime,
    finished_at: datetime,
    outcome: Literal["ok", "failed"],
    counts: Mapping[str, Any],
    error: str | None = None,
    run_id: str | None = None,
    *,
    pass_id: int | None = None,
) -> int:
    """Write one row and return its id; `pass_id` is an id that `stage_pass` reserved before."""
    row = conn.execute(
        queries("passes").insert_pass,
        {
            "id": pass_id,
            "stage": stage,
            "started_at": started_at,
            "finished_at": finished_at,
            "outcome": outcome,
            "counts": Jsonb(dict(counts)),
            "error": error,
            "run_id": run_id or find_run_id(),
        },
    ).fetchone()
    assert row is not None
    return int(row["id"])


def find_run_id() -> str | None:
    """The Dagster run this process works for, by its environment; None outside of one."""
    return os.environ.get(RUN_ID_VARIABLE) or None


def describe_error(error: BaseException) -> str:
    """Type and message on one line, at most ERROR_CHARS characters."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:ERROR_CHARS]


@contextmanager
def stage_pass(db: Database, stage: str, *, run_id: str | None = None) -> Iterator[PassTrace]:
    """One pass of a stage around the block; see the module's text. Raises Unreachable without a database."""
    row = db.fetch_one(queries("passes").reserve_pass_id)
    assert row is not None
    trace = PassTrace(int(row["id"]), stage, datetime.now(UTC), run_id)
    try:
        yield trace
    except BaseException as error:  # an interrupt ends a pass as well as a fault does
        try:
            _finish(db, trace, "failed", describe_error(error))
        except Unreachable as away:
            log.warning("the failed pass of %s could not be recorded: %s", stage, away)
        raise
    _finish(db, trace, "failed" if trace.error else "ok", trace.error)


def _finish(db: Database, trace: PassTrace, outcome: Literal["ok", "failed"], error: str | None) -> None:
    with db.transaction() as conn:
        record_pass(
            conn, trace.stage, trace.started_at, datetime.now(UTC), outcome, trace.counts, error, trace.run_id,
            pass_id=trace.id,
        )  # fmt: skip
