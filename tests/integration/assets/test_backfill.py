"""Days made anew, as a person asks for them in the Dagster UI."""

from __future__ import annotations

import dagster as dg
import pytest

from argus_assets.definitions import defs
from argus_assets.resources import MemoryResource
from argus_memory.db import Database
from argus_memory.errors import InfraFailure
from argus_memory.settings import Settings, load_settings
from argus_memory.upkeep.process import STAGES, work_stage
from argus_memory.upkeep.regenerate import redistill_days
from argus_memory.upkeep.regenerate_read import Days
from argus_memory.upkeep.regeneration import accept
from tests.distill_rows import add_episode, add_item
from tests.memory_rows import add_turn, at

SAID = [
    ("user", "Let us use Postgres for the garden's sensors, not SQLite."),
    ("assistant", "Agreed: the garden uses Postgres."),
    ("user", "I prefer tabs in all my Python files."),
]
DAY = 60 * 24
FIRST, LAST = "2026-03-02", "2026-03-04"


def materialize(
    instance: dg.DagsterInstance, asset: str, first: str, last: str, *, may_fail: bool = False
) -> dg.ExecuteInProcessResult:
    """What a backfill of a range under single_run does: one run of the asset, tagged with the range."""
    job = defs.resolve_implicit_global_asset_job_def()
    return job.execute_in_process(
        instance=instance,
        asset_selection=[dg.AssetKey(asset)],
        tags={"dagster/asset_partition_range_start": first, "dagster/asset_partition_range_end": last},
        raise_on_error=not may_fail,
    )


def by_day(result: dg.ExecuteInProcessResult, asset: str) -> dict[str | None, dict[str, object]]:
    made = [event.step_materialization_data.materialization for event in result.get_asset_materialization_events()]
    return {
        one.partition: {name: value.value for name, value in one.metadata.items()}
        for one in made
        if one.asset_key == dg.AssetKey(asset)
    }


@pytest.fixture
def distilled(db: Database, settings: Settings, memory: MemoryResource) -> list[int]:
    """Five days with one distilled episode each; returns the episodes' ids in order."""
    ids = [add_episode(db, SAID, start=DAY * day)[0] for day in range(5)]
    for stage in STAGES:
        work_stage(db, settings, stage, clock=lambda: at(DAY * 6))
    return ids


def test_a_range_of_days_is_made_anew_in_one_run(
    db: Database, run_environment: None, instance: dg.DagsterInstance, distilled: list[int]
) -> None:
    """A backfill of three days on distilled_notes regenerates exactly their units, once, and reports each day's diff."""
    asked = "select unit_id, distilled_at from distill_state"
    before = {row["unit_id"]: row["distilled_at"] for row in db.fetch_all(asked)}
    result = materialize(instance, "distilled_notes", FIRST, LAST)
    assert result.success
    after = {row["unit_id"]: row["distilled_at"] for row in db.fetch_all(asked)}
    assert [unit for unit in distilled if after[unit] > before[unit]] == distilled[:3]
    days = by_day(result, "distilled_notes")
    assert list(days) == [FIRST, "2026-03-03", LAST]
    assert all((day["made"], day["status"], day["did_switched"]) == (3, "switched", 3) for day in days.values())
    assert all((day["day_done"], day["day_pending"]) == (1, 0) for day in days.values())
    assert instance.get_runs_count() == 1
    (kept,) = db.fetch_all("select id, units, actor, run_id from regenerations")
    assert (kept["units"], kept["actor"]) == (3, "backfill")
    assert {day["regeneration"] for day in days.values()} == {kept["id"]}
    assert kept["run_id"]


def test_the_same_facts_keep_their_notes(
    db: Database, run_environment: None, instance: dg.DagsterInstance, distilled: list[int]
) -> None:
    """Distilled again by the same rules, the same notes stand with the same ids."""
    live = "select id, uid from distilled_notes where deleted_at is null order by id"
    before = db.fetch_all(live)
    assert before
    materialize(instance, "distilled_notes", FIRST, LAST)
    assert db.fetch_all(live) == before


def test_a_backfill_that_would_lose_too_much_is_held(
    db: Database, run_environment: None, instance: dg.DagsterInstance, distilled: list[int]
) -> None:
    """What today's distiller would not make of a day is above the guard: the run fails and says how to accept it,
    the notes stand; accepted, they are tombstoned, on that day only."""
    with db.transaction() as conn:
        conn.execute(
            "update distilled_notes set uid = 'older ' || id, content = 'Made by an older distiller ' || id,"
            " deduped_at = null, deleted_at = null, deleted_reason = null, superseded_by = null"
            " where episode_id = any(%s)",
            (distilled,),
        )
    asked = "select distinct episode_id from distilled_notes where uid like 'older %' and deleted_at is null"
    result = materialize(instance, "distilled_notes", FIRST, FIRST, may_fail=True)
    assert not result.success
    (failure,) = result.get_step_failure_events()
    assert "argus regenerate --accept" in str(failure.step_failure_data.error_display_string)
    assert {row["episode_id"] for row in db.fetch_all(asked)} == set(distilled)
    held = db.fetch_one("select id from regenerations")
    assert held
    accept(db, load_settings(), held["id"], "kim")
    assert {row["episode_id"] for row in db.fetch_all(asked)} == set(distilled[1:])


def test_a_parked_unit_gets_another_try(db: Database, settings: Settings, memory: MemoryResource) -> None:
    """A backfill of its day distills a parked unit; one that was passed over stays so."""
    parked, _ = add_episode(db, SAID)
    skipped = add_item(db, "Seen before.")
    with db.transaction() as conn:
        conn.execute("update distill_state set status = 'parked', content_failures = 5 where unit_id = %s", (parked,))
        conn.execute("update distill_state set status = 'skipped' where unit_id = %s", (skipped,))
    done = redistill_days(db, settings, Days(at(0).date(), at(0).date()), clock=lambda: at(1))
    assert (done.counts["made"], done.counts["did_switched"], done.error) == (1, 1, None)
    states = db.fetch_all("select status from distill_state order by status")
    assert [row["status"] for row in states] == ["done", "skipped"]


def test_a_day_without_anything_says_zero(run_environment: None, instance: dg.DagsterInstance) -> None:
    """A backfill of an empty day succeeds with zeros."""
    result = materialize(instance, "distilled_notes", FIRST, FIRST)
    assert by_day(result, "distilled_notes")[FIRST]["made"] == 0


def test_a_backfill_that_a_model_stops_is_a_failed_run(
    db: Database, run_environment: None, instance: dg.DagsterInstance, distilled: list[int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """When the configured model cannot be reached the run fails with the reason, and the old notes stand."""

    def away(*_args: object, **_more: object) -> None:
        raise InfraFailure("connection refused")

    monkeypatch.setenv("ARGUS_DISTILL_MODEL", "openai/some")
    monkeypatch.setenv("ARGUS_LLM_BASE_URL", "http://127.0.0.1:1")
    monkeypatch.setattr("argus_memory.stages.distill.distill", away)
    before = db.fetch_all("select id from distilled_notes where deleted_at is null")
    result = materialize(instance, "distilled_notes", FIRST, LAST, may_fail=True)
    assert not result.success
    (failure,) = result.get_step_failure_events()
    assert "reached" in str(failure.step_failure_data.error_display_string)
    assert db.fetch_all("select id from distilled_notes where deleted_at is null") == before


@pytest.mark.parametrize(
    ("asset", "table"), [("turn_embeddings", "turn_vectors"), ("note_embeddings", "note_vectors")]
)
def test_missing_vectors_of_a_day_are_made(
    db: Database, run_environment: None, instance: dg.DagsterInstance, distilled: list[int], asset: str, table: str
) -> None:
    """A backfill of embeddings queues and makes what its days lack, also what was given up."""
    alive = {"turn_vectors": "turns", "note_vectors": "distilled_notes where deleted_at is null"}[table]
    whole = db.fetch_one(f"select count(*) as n from {alive}")
    with db.transaction() as conn:
        conn.execute(f"delete from {table}")
    result = materialize(instance, asset, "2026-03-02", "2026-03-06")
    assert result.success
    assert db.fetch_one(f"select count(*) as n from {table}") == whole
    days = by_day(result, asset)
    assert sum(int(str(day["day_vectors"])) for day in days.values()) == (whole or {}).get("n")
    assert all(day["day_missing"] == 0 for day in days.values())


def test_due_tails_of_a_day_are_closed(db: Database, run_environment: None, instance: dg.DagsterInstance) -> None:
    """A backfill of episodes closes what is due in the sessions of its days and leaves other days alone."""
    for day, session in ((0, "first"), (3, "other")):
        for n, (role, text) in enumerate(SAID):
            add_turn(db, text, at(DAY * day + n), role=role, session=session)
    result = materialize(instance, "episodes", FIRST, FIRST)
    assert result.success
    assert db.fetch_all("select session from episodes") == [{"session": "first"}]
    assert by_day(result, "episodes")[FIRST]["day_episodes"] == 1


@pytest.mark.parametrize("asset", ["dedup_log", "projects"])
def test_assets_without_days_are_made_whole(
    run_environment: None, instance: dg.DagsterInstance, distilled: list[int], asset: str
) -> None:
    """dedup_log and projects can be materialized by hand, also after upstream days were."""
    materialize(instance, "distilled_notes", FIRST, FIRST)
    job = defs.resolve_implicit_global_asset_job_def()
    result = job.execute_in_process(instance=instance, asset_selection=[dg.AssetKey(asset)])
    assert result.success
    assert list(by_day(result, asset)) == [None]
