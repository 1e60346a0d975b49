"""Every pass of a stage leaves a row, a failed one too."""

from __future__ import annotations

import pytest

from argus_memory.db import Database
from argus_memory.stages.passes import stage_pass


def test_a_pass_is_recorded_with_its_counts(db: Database) -> None:
    """The row carries the id known from the start, the counts at the end, times and the run."""
    with stage_pass(db, "segment", run_id="run-1") as trace:
        trace.counts["episodes_closed"] = 2
    row = db.fetch_one(
        "select id, stage, outcome, counts, error, run_id, finished_at >= started_at as ordered from stage_passes"
    )
    assert row == {
        "id": trace.id,
        "stage": "segment",
        "outcome": "ok",
        "counts": {"episodes_closed": 2},
        "error": None,
        "run_id": "run-1",
        "ordered": True,
    }


def test_a_pass_that_raises_is_recorded_as_failed(db: Database) -> None:
    """What the stage had counted and the error stay on record, though its own transaction is gone; it is raised."""

    def work() -> None:
        with stage_pass(db, "dedup") as trace, db.transaction():
            trace.counts["notes"] = 1
            raise ValueError("out of\nbeans")

    with pytest.raises(ValueError, match="out of\nbeans"):
        work()
    row = db.fetch_one("select outcome, counts, error from stage_passes")
    assert row == {"outcome": "failed", "counts": {"notes": 1}, "error": "ValueError: out of beans"}


def test_a_pass_that_set_an_error_aside_is_failed_without_raising(db: Database) -> None:
    """A stage that went on with other work after a fault still says that not all was well."""
    with stage_pass(db, "embed") as trace:
        trace.error = "the embedder is away"
    assert db.fetch_one("select outcome, error from stage_passes") == {
        "outcome": "failed",
        "error": "the embedder is away",
    }


def test_the_run_is_known_from_the_environment(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Inside a Dagster run the row names it without being told."""
    monkeypatch.setenv("DAGSTER_RUN_ID", "run-9")
    with stage_pass(db, "segment"):
        pass
    assert db.fetch_one("select run_id from stage_passes") == {"run_id": "run-9"}
