"""`process_memory` on a real database: turns in, notes out, every step's counts on its asset."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import dagster as dg
import pytest

from argus_assets.definitions import defs
from argus_assets.defs.memory.jobs import STEPS
from argus_assets.resources import MemoryResource
from argus_memory.db import Database
from argus_memory.errors import InfraFailure
from argus_memory.settings import Settings
from argus_memory.upkeep import process
from argus_memory.upkeep.process import DayWork, utc_now, work_stage
from tests.dagster_runs import WordEmbedder
from tests.distill_rows import add_episode
from tests.memory_rows import add_turn, at

SAID = [
    ("user", "Let us use Postgres for the garden's sensors, not SQLite."),
    ("assistant", "Agreed: the garden uses Postgres."),
    ("user", "I prefer tabs in all my Python files."),
]


def converse(db: Database, session: str = "s1", start: float = 0) -> list[int]:
    return [add_turn(db, text, at(start + n), role=role, session=session) for n, (role, text) in enumerate(SAID)]


def run(instance: dg.DagsterInstance) -> dg.ExecuteInProcessResult:
    return defs.resolve_job_def("process_memory").execute_in_process(instance=instance, raise_on_error=False)


def events(instance: dg.DagsterInstance, asset: str) -> dict[str | None, dict[str, Any]]:
    """The latest materialization's metadata by partition."""
    records = instance.fetch_materializations(dg.AssetKey(asset), limit=100, ascending=True).records
    return {
        record.partition_key: {name: value.value for name, value in record.asset_materialization.metadata.items()}
        for record in records
        if record.asset_materialization
    }


def test_turns_become_notes_in_one_run(db: Database, run_environment: None, instance: dg.DagsterInstance) -> None:
    """One run embeds, closes, distills, embeds the notes and compares them; each asset's event has its counts."""
    raw_ids = converse(db)
    result = run(instance)
    assert result.success
    notes = db.fetch_all("select content, raw_id, deduped_at from distilled_notes where deleted_at is null")
    assert notes
    assert {note["raw_id"] for note in notes} <= set(raw_ids)
    assert all(note["deduped_at"] for note in notes)
    day = "2026-03-02"
    assert events(instance, "turn_embeddings")[day]["turns_embedded"] == 3
    assert events(instance, "turn_embeddings")[day]["done"] == 3
    assert events(instance, "episodes")[day]["episodes_closed"] == 1
    assert events(instance, "distilled_notes")[day]["notes_created"] == len(notes)
    assert events(instance, "note_embeddings")[day]["notes_embedded"] == len(notes)
    assert events(instance, "dedup_log")[None]["notes"] == len(notes)
    assert events(instance, "projects")[None].keys() >= {"projects", "keys"}


def test_the_stages_name_the_run(db: Database, run_environment: None, instance: dg.DagsterInstance) -> None:
    """The trace of each pass carries the run's id, so that a run is found from the data and back."""
    converse(db)
    result = run(instance)
    rows = db.fetch_all("select stage, run_id, outcome from stage_passes")
    assert {row["run_id"] for row in rows} == {result.run_id}
    assert {row["stage"] for row in rows} == {"embed", "segment", "distill", "dedup", "task_items", "impact", "note_files", "projects"}


def test_a_run_without_work_says_zero(run_environment: None, instance: dg.DagsterInstance) -> None:
    """A run that finds nothing succeeds, and leaves zeros under today."""
    assert run(instance).success
    today = utc_now().date().isoformat()
    assert events(instance, "distilled_notes")[today]["units_distilled"] == 0
    assert events(instance, "episodes")[today]["episodes_closed"] == 0
    assert events(instance, "turn_embeddings")[today]["turns_embedded"] == 0


def test_a_second_run_finds_nothing_left(db: Database, run_environment: None, instance: dg.DagsterInstance) -> None:
    """Work that was done is not done again."""
    converse(db)
    run(instance)
    before = db.fetch_all("select id from distilled_notes order by id")
    assert run(instance).success
    assert db.fetch_all("select id from distilled_notes order by id") == before


def test_every_touched_day_has_its_event(db: Database, run_environment: None, instance: dg.DagsterInstance) -> None:
    """Conversations of different days are reported under their own days."""
    converse(db)
    converse(db, "s2", start=60 * 24 * 3)
    assert run(instance).success
    for asset in ("turn_embeddings", "episodes", "distilled_notes", "note_embeddings"):
        assert set(events(instance, asset)) == {"2026-03-02", "2026-03-05"}, asset
        assert instance.get_materialized_partitions(dg.AssetKey(asset)) == {"2026-03-02", "2026-03-05"}


def test_a_stage_that_fails_is_red_and_the_others_go_on(
    db: Database, run_environment: None, instance: dg.DagsterInstance, embedder: WordEmbedder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Without an embedder the run fails with the reason at that step, and size and idleness still make notes."""

    def away(_texts: object) -> None:
        raise InfraFailure("the embedding model cannot be reached")

    monkeypatch.setattr(embedder, "embed", away)
    converse(db)
    with db.transaction() as conn:  # the turns have waited in vain
        conn.execute(
            "insert into embedding_spaces (model, dim, checksum, status, thresholds, calibration)"
            " values ('words', 16, 'test', 'active', '{}', '{}')"
        )
        conn.execute(
            "insert into embed_queue (space_id, target, target_id, queued_at)"
            " select 1, 'turn', raw_id, said_at from turns"
        )
    result = run(instance)
    assert not result.success
    failed = {event.step_key: event.step_failure_data for event in result.get_step_failure_events()}
    assert set(failed) == {"embed_turns", "embed_notes"}
    failure = failed["embed_turns"].user_failure_data
    assert failure is not None
    assert "cannot be reached" in (failure.description or "")
    assert db.fetch_one("select count(*) > 0 as made from distilled_notes") == {"made": True}


def test_a_stage_that_raises_fails_the_run(db: Database, run_environment: None, instance: dg.DagsterInstance) -> None:
    """An unforeseen error is a failed run with the error's words; the steps after it still run."""
    converse(db)
    with db.transaction() as conn:
        conn.execute("alter table distill_state rename column next_attempt_at to gone")
    result = run(instance)
    assert not result.success
    failed = {event.step_key: event.step_failure_data for event in result.get_step_failure_events()}
    assert "distill_units" in failed
    assert "next_attempt_at" in str(failed["distill_units"].error)
    succeeded = {event.step_key for event in result.get_step_success_events()}
    assert {"embed_turns", "embed_notes", "count_projects"} <= succeeded


def test_steps_run_in_the_order_of_the_pipeline(run_environment: None, instance: dg.DagsterInstance) -> None:
    """The steps start one after the other, in the stages' order."""
    result = run(instance)
    starts = [event.step_key for event in result.all_events if event.event_type_value == "STEP_START"]
    assert starts == list(STEPS)


def backlog(db: Database, days: int, age_days: int) -> None:
    for day in range(days):
        add_episode(db, SAID, start=-60 * 24 * (age_days + day))


def test_the_past_steps_back(
    db: Database, settings: Settings, memory: MemoryResource, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stage works through a backlog batch by batch, and stops after the batch during which today's work came."""
    monkeypatch.setattr(process, "UNITS", 2)
    backlog(db, days=8, age_days=100)
    batches = 0
    count = process.distill_pending

    def counted(*args: Any, **more: Any) -> Any:
        nonlocal batches
        batches += 1
        if batches == 2:
            for n, (role, text) in enumerate(SAID):  # a tail of today, closed by silence
                add_turn(db, text, at(-40 + n), role=role, session="today")
        return count(*args, **more)

    monkeypatch.setattr(process, "distill_pending", counted)
    work = work_stage(db, settings, "distilled_notes", clock=lambda: at(0))
    assert work.batches == 2
    assert work.counts["units_distilled"] == 4
    assert work.counts["pending"] == 4


def test_today_comes_first(db: Database, settings: Settings, memory: MemoryResource) -> None:
    """With a year of imported history pending, the first batch distills what was said today."""
    backlog(db, days=60, age_days=5)
    fresh, _ = add_episode(db, SAID, start=-60)
    work = work_stage(db, settings, "distilled_notes", clock=lambda: at(0), seconds=0)
    done = db.fetch_all("select unit_id from distill_state where status = 'done'")
    assert len(done) == process.UNITS
    assert {"unit_id": fresh} in done
    assert work.days[at(-60).date()] == DayWork(1, 0)


def test_a_stage_ends_when_its_time_is_over(
    db: Database, settings: Settings, memory: MemoryResource, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A backlog is left to the next run when the stage's seconds are over; without a limit it is worked off."""
    monkeypatch.setattr(process, "UNITS", 2)
    backlog(db, days=6, age_days=100)
    assert work_stage(db, settings, "distilled_notes", clock=lambda: at(0), seconds=0).batches == 1
    rest = work_stage(db, settings, "distilled_notes", clock=lambda: at(0))
    assert (rest.counts["units_distilled"], rest.counts["pending"]) == (4, 0)
    assert sum(day.done for day in rest.days.values()) == 4


def test_a_backlog_of_turns_is_embedded_newest_first(
    db: Database, settings: Settings, memory: MemoryResource, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A first pass over a store without a space already tells the days it worked on, today's first."""
    monkeypatch.setattr(process, "EMBED_ITEMS", 3)
    converse(db, "old", start=-60 * 24 * 300)
    converse(db, "new", start=-10)
    work = work_stage(db, settings, "turn_embeddings", clock=lambda: at(0), seconds=0)
    assert work.days == {at(-10).date(): DayWork(3, 0)}
    assert work.counts["waiting"] == 3
    assert at(0) - at(-60 * 24 * 300) > timedelta(days=200)
