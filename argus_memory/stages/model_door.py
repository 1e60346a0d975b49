"""The door to chat models with its books: every request a row of `llm_calls`, the hour's budget read from it.

Each row is committed on its own, so that a call that was paid for stays on record when the work around it fails.
"""

from __future__ import annotations

from dataclasses import asdict

from argus_memory.db import Database, queries
from argus_memory.models.llm import LlmDoor
from argus_memory.models.llm_records import CallRecord, Spent
from argus_memory.settings import Settings
from argus_memory.stages.engine_books import open_engines
from argus_memory.stages.passes import find_run_id
from argus_memory.stages.runtime_door import RuntimeDoor


def record_call(db: Database, call: CallRecord, *, run_id: str | None = None) -> None:
    """Write one request down, also a failed one."""
    with db.transaction() as conn:
        conn.execute(queries("llm_calls").insert_call, {**asdict(call), "run_id": run_id or find_run_id()})


def spent_last_hour(db: Database, stage: str) -> Spent:
    """Calls and tokens of one stage in the last hour of the database's clock."""
    row = db.fetch_one(queries("llm_calls").spent_last_hour, {"stage": stage})
    assert row is not None
    return Spent(calls=row["calls"], tokens=row["tokens"])


def open_door(db: Database, settings: Settings, *, run_id: str | None = None) -> LlmDoor:
    """A door that keeps its books in this database; it knows the engines, for stages whose model is `runtime`."""
    plain = open_plain_door(db, settings, run_id=run_id)
    return LlmDoor(
        settings,
        record_call=lambda call: record_call(db, call, run_id=run_id),
        spent=lambda stage: spent_last_hour(db, stage),
        runtime=RuntimeDoor(db, settings, open_engines(settings, plain)),
    )


def open_plain_door(db: Database, settings: Settings, *, run_id: str | None = None) -> LlmDoor:
    """A door to models alone: the engine `api` goes through it."""
    return LlmDoor(
        settings,
        record_call=lambda call: record_call(db, call, run_id=run_id),
        spent=lambda stage: spent_last_hour(db, stage),
    )
