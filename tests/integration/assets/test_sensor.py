"""`pending_memory`: one tick, one answer."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import dagster as dg
import pytest
from dagster._core.storage.tags import RUN_KEY_TAG
from dagster._core.utils import make_new_run_id

from argus_assets.definitions import defs
from argus_assets.defs.memory.jobs import PROCESS_MEMORY
from argus_assets.defs.memory.sensors import AT_WORK, Reported, pending_memory, tick
from argus_assets.resources import MemoryResource
from argus_memory.db import Database
from argus_memory.upkeep.process import utc_now
from tests.memory_rows import add_dialog, add_turn, at

DUE = at(60)


def skipped(result: dg.SensorResult) -> str:
    assert result.run_requests in (None, [])
    assert result.skip_reason is not None
    return str(result.skip_reason.skip_message)


def requested(result: dg.SensorResult) -> dg.RunRequest:
    (request,) = result.run_requests or []
    return request


def add_run(
    instance: dg.DagsterInstance, status: dg.DagsterRunStatus, *, job: str = PROCESS_MEMORY, key: str = "k"
) -> str:
    run = dg.DagsterRun(job_name=job, run_id=make_new_run_id(), status=status, tags={RUN_KEY_TAG: key})
    return instance.add_run(run).run_id


def test_nothing_pending_is_said(memory: MemoryResource, instance: dg.DagsterInstance) -> None:
    """On a store without work the tick is skipped, and says so with pending=0."""
    assert skipped(tick(instance, memory, None, at(0))).startswith("pending=0")


def test_a_live_tail_starts_no_run(db: Database, memory: MemoryResource, instance: dg.DagsterInstance) -> None:
    """While the conversation goes on there is no run, and the reason counts the open tails."""
    add_dialog(db, 2)
    assert "1 open tails, none due" in skipped(tick(instance, memory, None, at(5)))


def test_a_due_tail_starts_one(db: Database, memory: MemoryResource, instance: dg.DagsterInstance) -> None:
    """A tail that is due starts a run that says why."""
    add_dialog(db, 2)
    request = requested(tick(instance, memory, None, DUE))
    assert request.run_key
    assert request.tags["argus/why"].startswith("1 tails due to close")


# A queued run needs a code location of its own; the acceptance test has one.
@pytest.mark.parametrize("status", [status for status in AT_WORK if status != dg.DagsterRunStatus.QUEUED])
def test_no_second_run_beside_one_at_work(
    db: Database, memory: MemoryResource, instance: dg.DagsterInstance, status: dg.DagsterRunStatus
) -> None:
    """While a run of process_memory is queued or at work no other is asked for; the reason names it."""
    add_dialog(db, 2)
    run_id = add_run(instance, status)
    assert run_id in skipped(tick(instance, memory, None, DUE))


def test_other_jobs_and_finished_runs_do_not_matter(
    db: Database, memory: MemoryResource, instance: dg.DagsterInstance
) -> None:
    """A run of another job, or one that ended, keeps nothing from running."""
    add_dialog(db, 2)
    add_run(instance, dg.DagsterRunStatus.STARTED, job="audit_memory")
    add_run(instance, dg.DagsterRunStatus.SUCCESS)
    add_run(instance, dg.DagsterRunStatus.FAILURE)
    assert requested(tick(instance, memory, None, DUE)).run_key


def test_what_a_run_left_undone_waits_for_its_time(
    db: Database, memory: MemoryResource, instance: dg.DagsterInstance
) -> None:
    """Work a finished run left as it was is not run again at the next tick, and the reason says so."""
    add_dialog(db, 2)
    key = requested(tick(instance, memory, None, DUE)).run_key
    assert key
    run_id = add_run(instance, dg.DagsterRunStatus.SUCCESS, key=key)
    assert f"run {run_id} left the same work" in skipped(tick(instance, memory, None, DUE))
    assert requested(tick(instance, memory, None, at(71))).run_key != key


def told(result: dg.SensorResult) -> Sequence[tuple[str, str | None, int]]:
    return [
        (event.asset_key.to_user_string(), event.partition, int(next(iter(event.metadata.values())).value))  # type: ignore[arg-type]
        for event in result.asset_events
        if isinstance(event, dg.AssetMaterialization)
    ]


def test_captures_and_recalls_are_told_with_the_run(
    db: Database, memory: MemoryResource, instance: dg.DagsterInstance
) -> None:
    """With each run, and only once, the catalogue hears what was captured, by day, and how often was recalled."""
    add_turn(db, "yesterday", at(-60 * 24), session="s0")
    quiet = tick(instance, memory, None, at(-60 * 24 + 5))
    assert (list(quiet.asset_events), quiet.cursor) == ([], None)
    add_dialog(db, 2)
    with db.transaction() as conn:
        conn.execute("insert into injections (prompt_mode) values (true), (false)")
    first = tick(instance, memory, None, DUE)
    assert told(first) == [
        ("raw_items", "2026-03-01", 1),
        ("raw_items", "2026-03-02", 4),
        ("injections", None, 2),
    ]
    assert Reported.parse(first.cursor).raw_id == 5
    assert told(tick(instance, memory, first.cursor, DUE)) == []


def test_the_sensor_as_dagster_calls_it(db: Database, run_environment: None, instance: dg.DagsterInstance) -> None:
    """Evaluated through a sensor context it opens its own database and asks for a run of process_memory."""
    now: datetime = utc_now()
    for text in ("We decided to use Postgres.", "Agreed."):
        add_turn(db, text, now.replace(year=now.year - 1))
    with dg.build_sensor_context(
        instance=instance, resources={"memory": MemoryResource()}, definitions=defs, sensor_name="pending_memory"
    ) as context:
        data = pending_memory.evaluate_tick(context)
    (request,) = data.run_requests or []
    assert request.run_key
    assert data.cursor
    assert pending_memory.job_name == PROCESS_MEMORY
