"""Dagster's own storage in Postgres, as the hub's dagster.yaml sets it up: what looks healthy without it is not.

With SQLAlchemy 2.1 a bare postgresql:// address migrates, loads and ticks, and fails at the first event stored.
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import dagster as dg

from argus_assets.definitions import defs
from argus_assets.defs.housekeeping.jobs import delete_runs_before
from argus_assets.defs.memory.sensors import tick
from argus_assets.resources import MemoryResource
from argus_cli.dagster_url import dagster_url
from argus_memory.db import Database
from argus_memory.upkeep.process import utc_now
from argus_memory.watch.audits import AUDITS
from tests.distill_rows import add_episode
from tests.memory_rows import add_dialog, at

REPOSITORY = Path(__file__).parents[3]
SAID = [
    ("user", "Let us use Postgres for the garden's sensors, not SQLite."),
    ("assistant", "Agreed: the garden uses Postgres."),
    ("user", "I prefer tabs in all my Python files."),
]


def count_events(db: Database, run_id: str, kind: str) -> int:
    row = db.fetch_one(
        "select count(*)::int as n from dagster.event_logs where run_id = %(run)s and dagster_event_type = %(kind)s",
        {"run": run_id, "kind": kind},
    )
    return int(row["n"]) if row else 0


def test_events_of_a_run_are_stored(db: Database, instance: dg.DagsterInstance) -> None:
    """Materializing one asset leaves its events in Postgres, and the instance reads them back."""
    job = defs.resolve_implicit_global_asset_job_def()
    result = job.execute_in_process(instance=instance, asset_selection=[dg.AssetKey("projects")])
    assert result.success
    assert count_events(db, result.run_id, "ASSET_MATERIALIZATION") == 1
    assert count_events(db, result.run_id, "PIPELINE_SUCCESS") == 1
    assert instance.get_latest_materialization_event(dg.AssetKey("projects"))


def test_process_memory_end_to_end_on_the_embedded_embedder(db: Database, instance: dg.DagsterInstance) -> None:
    """A closed conversation becomes embedded, compared notes in one run, with the models Argus ships with."""
    add_episode(db, SAID)
    add_dialog(db, 2, session="s2", start=60)
    result = defs.resolve_job_def("process_memory").execute_in_process(instance=instance)
    assert result.success
    made = db.fetch_one(
        """select count(*)::int as notes, count(v.note_id)::int as vectors, count(n.deduped_at)::int as compared
           from distilled_notes n left join note_vectors v on v.note_id = n.id where n.deleted_at is null"""
    )
    assert made
    assert made["notes"] > 0
    assert made["notes"] == made["vectors"] == made["compared"]
    assert instance.get_materialized_partitions(dg.AssetKey("distilled_notes")) == {"2026-03-02"}


def test_a_range_of_days_is_one_run(db: Database, instance: dg.DagsterInstance) -> None:
    """A backfill's run over a range has one materialization a day and is the only run there is."""
    for day in range(3):
        add_episode(db, SAID, start=60 * 24 * day)
    job = defs.resolve_implicit_global_asset_job_def()
    tags = {"dagster/asset_partition_range_start": "2026-03-02", "dagster/asset_partition_range_end": "2026-03-04"}
    result = job.execute_in_process(instance=instance, asset_selection=[dg.AssetKey("distilled_notes")], tags=tags)
    assert result.success
    assert count_events(db, result.run_id, "ASSET_MATERIALIZATION") == 3
    assert instance.get_runs_count() == 1
    assert db.fetch_all("select distinct status from distill_state") == [{"status": "done"}]


def test_the_sensor_asks_once(db: Database, instance: dg.DagsterInstance) -> None:
    """A due tail asks for a run; when that run is done there is nothing left to ask for."""
    add_dialog(db, 2)
    context = dg.build_init_resource_context(instance=instance)
    with MemoryResource().yield_for_execution(context) as memory:
        assert tick(instance, memory, None, at(60)).run_requests
    assert defs.resolve_job_def("process_memory").execute_in_process(instance=instance).success
    with MemoryResource().yield_for_execution(context) as memory:
        answer = tick(instance, memory, None, utc_now())
        assert not answer.run_requests
        assert answer.skip_reason
        assert "pending=0" in str(answer.skip_reason.skip_message)


def test_checks_leave_nothing_planned(db: Database, instance: dg.DagsterInstance) -> None:
    """After audit_memory every check has an evaluation; none stays planned."""
    result = defs.resolve_job_def("audit_memory").execute_in_process(instance=instance)
    assert result.success
    states = db.fetch_all(
        "select execution_status, count(*)::int as n from dagster.asset_check_executions group by 1"
    )
    assert states == [{"execution_status": "SUCCEEDED", "n": len(AUDITS)}]


def test_housekeeping_deletes_old_runs(db: Database, instance: dg.DagsterInstance) -> None:
    """Old runs leave no row behind: neither of the run, nor of its events, nor its folder of logs."""
    job = defs.resolve_job_def("housekeeping")
    old = job.execute_in_process(instance=instance).run_id
    assert delete_runs_before(instance, utc_now() + timedelta(minutes=1)) == 1
    for table in ("runs", "run_tags", "event_logs"):
        assert db.fetch_one(f"select count(*)::int as n from dagster.{table} where run_id = '{old}'") == {"n": 0}
    assert not (Path(instance.storage_directory()) / old).exists()


def test_the_address_names_its_driver(dsn: str) -> None:
    """The address for Dagster names psycopg2, so that no change of a library's default picks another driver."""
    assert dagster_url(dsn).startswith("postgresql+psycopg2://")
    assert "env: ARGUS_DAGSTER_DATABASE_URL" in (REPOSITORY / "dagster.yaml").read_text()
