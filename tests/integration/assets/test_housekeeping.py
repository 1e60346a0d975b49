"""Daily housekeeping: old runs go with their events and logs, the memory is tidied, known days stay known."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import dagster as dg
import pytest

from argus_assets.definitions import defs
from argus_assets.defs.housekeeping.jobs import delete_runs_before
from argus_assets.resources import MemoryResource
from argus_memory.db import Database
from argus_memory.settings import Settings
from argus_memory.upkeep.housekeeping import keep_house
from argus_memory.upkeep.process import STAGES, utc_now, work_stage
from tests.memory_rows import add_dialog, add_space, add_turn, add_vector, at


@pytest.fixture
def stored(tmp_path: Path) -> dg.DagsterInstance:
    """An instance that keeps its compute logs in a folder, as the hub's does."""
    return dg.DagsterInstance.local_temp(str(tmp_path))


def test_old_runs_go_with_events_and_logs(stored: dg.DagsterInstance, run_environment: None) -> None:
    """Runs that ended before the moment are deleted with their events and their folder; a later one stays."""
    job = defs.resolve_job_def("housekeeping")
    old = job.execute_in_process(instance=stored).run_id
    between = utc_now()
    new = job.execute_in_process(instance=stored).run_id
    log_folder = Path(stored.storage_directory()) / old
    log_folder.mkdir(parents=True, exist_ok=True)
    (log_folder / "step.out").write_text("said")
    assert delete_runs_before(stored, between) == 1
    assert stored.get_run_by_id(old) is None
    assert not stored.all_logs(old)
    assert not log_folder.exists()
    assert stored.get_run_by_id(new) is not None
    assert stored.all_logs(new)


def test_a_run_at_work_is_never_deleted(instance: dg.DagsterInstance) -> None:
    """However old, a run that has not ended stays."""
    run = instance.add_run(
        dg.DagsterRun(job_name="process_memory", run_id="a" * 8, status=dg.DagsterRunStatus.STARTED)
    )
    assert delete_runs_before(instance, utc_now() + timedelta(days=1)) == 0
    assert instance.get_run_by_id(run.run_id)


def test_more_runs_than_a_page_are_deleted(instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch) -> None:
    """All old runs go, page by page, up to the most a housekeeping takes."""
    monkeypatch.setattr("argus_assets.defs.housekeeping.jobs.RUNS_A_PAGE", 2)
    for number in range(7):
        instance.add_run(dg.DagsterRun(job_name="j", run_id=f"run-{number}", status=dg.DagsterRunStatus.SUCCESS))
    later = utc_now() + timedelta(days=1)
    assert delete_runs_before(instance, later, at_most=5) == 5
    assert delete_runs_before(instance, later) == 2


def test_the_job_keeps_what_the_setting_says(
    stored: dg.DagsterInstance, run_environment: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The job deletes runs older than ARGUS_RUN_RETENTION, and none that is younger."""
    job = defs.resolve_job_def("housekeeping")
    first = job.execute_in_process(instance=stored).run_id
    assert job.execute_in_process(instance=stored).success
    assert stored.get_run_by_id(first)
    later = utc_now() + timedelta(days=31)
    monkeypatch.setattr("argus_assets.defs.housekeeping.jobs.utc_now", lambda: later)
    last = job.execute_in_process(instance=stored)
    assert last.success
    assert [run.run_id for run in stored.get_runs()] == [last.run_id]


def test_days_whose_events_are_gone_are_told_again(
    db: Database, settings: Settings, memory: MemoryResource, stored: dg.DagsterInstance
) -> None:
    """After old runs are gone, every day that holds data still shows as materialized, with its count."""
    add_dialog(db, 2)
    for stage in STAGES:
        work_stage(db, settings, stage, clock=lambda: at(60))
    job = defs.resolve_job_def("housekeeping")
    assert job.execute_in_process(instance=stored).success
    for asset in ("raw_items", "turn_embeddings", "episodes", "distilled_notes"):
        assert stored.get_materialized_partitions(dg.AssetKey(asset)) == {"2026-03-02"}, asset
    second = job.execute_in_process(instance=stored)
    told = {event.asset_key.to_user_string() for event in second.get_asset_materialization_events()}
    assert told == {"memory_health"}  # measured anew each time; of the days nothing is told twice


def test_terms_are_counted_and_retired_vectors_dropped(db: Database) -> None:
    """Housekeeping counts the terms of all turns, and takes away the vectors of a space that was retired."""
    retired = add_space(db)
    for number in range(4):
        turn = add_turn(db, f"the printer number {number}", at(number))
        add_vector(db, retired, "turn", turn, [1, 0])
    with db.transaction() as conn:
        conn.execute("update embedding_spaces set status = 'retired'")
    report = keep_house(db, now=at(10))
    assert (report.turn_documents, report.turn_vectors_dropped) == (4, 4)
    assert db.fetch_one("select count(*) as n from turn_vectors") == {"n": 0}
    assert db.fetch_all("select documents from term_frequencies where term = 'printer'") == [{"documents": 4}]
    again = keep_house(db, now=at(11))
    assert again.turn_vectors_dropped == 0
