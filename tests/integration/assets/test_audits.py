"""For each audit a fault is planted, and the audit names it; a store without faults passes all of them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import dagster as dg
import psycopg
import pytest

from argus_assets.definitions import defs
from argus_assets.defs.audits.checks import BY_KEY
from argus_assets.resources import MemoryResource
from argus_memory.db import Database
from argus_memory.settings import Settings
from argus_memory.upkeep.process import STAGES, work_stage
from argus_memory.watch.audits import AUDITS, Finding, run_audit, run_audits
from argus_memory.watch.triggers import REQUIRED_TRIGGERS
from tests.distill_rows import add_episode, add_item
from tests.memory_rows import add_dialog, add_note, add_space, add_turn, add_vector, at

NOW = at(60 * 24)  # a day after what is planted


def ask(db: Database, settings: Settings, name: str, now: datetime = NOW) -> Finding:
    (audit,) = (audit for audit in AUDITS if audit.name == name)
    return run_audit(audit, db, settings, now)


def change(db: Database, statement: str, *params: Any) -> None:
    with db.transaction() as conn:
        conn.execute(statement, params)  # type: ignore[arg-type]


def test_a_store_that_was_worked_off_passes_every_audit(
    db: Database, settings: Settings, memory: MemoryResource
) -> None:
    """After all stages have run over a conversation no audit fails; those without a past to judge by say so."""
    for number in range(3):
        add_turn(db, f"We decided to use Postgres number {number} for the garden.", at(number))
    for stage in STAGES:
        work_stage(db, settings, stage, clock=lambda: at(60))
    answers = list(run_audits(db, settings, now=at(61), by="test"))
    assert {each.audit.key: each.finding for each in answers if each.finding.status == "failed"} == {}
    unknown = {each.audit.name for each in answers if each.finding.status == "unknown"}
    assert unknown == {"rejection_rate", "poison_rate", "verdict_mix", "messages_sent"}


def test_a_note_that_does_not_quote_its_source(db: Database, settings: Settings) -> None:
    """A live note whose quotation is not in its raw item is named; one that differs in white space alone is not."""
    raw = add_turn(db, "The printer\n  lives in the cellar.", at(0))
    fine = add_note(db, "The printer lives in the cellar.", raw_id=raw)
    wrong = add_note(db, "The printer lives in the attic.", raw_id=raw)
    gone = add_note(db, "The printer lives in the garage.", raw_id=raw)
    change(db, "update distilled_notes set deleted_at = %s where id = %s", at(1), gone)
    finding = ask(db, settings, "notes_grounded")
    assert (finding.status, finding.offending, finding.total) == ("failed", (str(wrong),), 1)
    assert str(fine) not in finding.offending


@pytest.mark.parametrize(
    ("name", "plant"),
    [
        ("turns_embedded", lambda db: add_turn(db, "no vector", at(0))),
        ("notes_embedded", lambda db: add_note(db, "no vector", raw_id=add_turn(db, "no vector", at(0)))),
    ],
)
def test_what_has_no_vector_for_long(
    db: Database, settings: Settings, name: str, plant: Callable[[Database], int]
) -> None:
    """A live note and a turn older than an hour without a vector of the live space are named, younger ones not."""
    space = add_space(db)
    fault = plant(db)
    change(db, "update distilled_notes set created_at = %s", at(0))
    young = at(30)
    assert ask(db, settings, name, young).status == "ok"
    finding = ask(db, settings, name)
    assert (finding.status, finding.offending) == ("failed", (str(fault),))
    add_vector(db, space, name.removesuffix("s_embedded"), fault, [1, 0])
    assert ask(db, settings, name).status == "ok"


def test_no_space_at_all_leaves_everything_without_vector(db: Database, settings: Settings) -> None:
    """When no embedder ever worked there is no live space, and turns are named all the same."""
    turn = add_turn(db, "no vector", at(0))
    assert ask(db, settings, "turns_embedded").offending == (str(turn),)


def test_what_was_lost_from_the_queue(db: Database, settings: Settings) -> None:
    """A turn or note without vector and without a place in the queue is named; a queued one is not."""
    add_space(db)
    turn = add_turn(db, "lost", at(0))
    note = add_note(db, "lost", raw_id=turn)
    assert ask(db, settings, "queue_complete").status == "ok"
    change(db, "delete from embed_queue")
    finding = ask(db, settings, "queue_complete")
    assert finding.offending == (f"note {note}", f"turn {turn}")


def test_a_tail_that_nobody_closes(db: Database, settings: Settings) -> None:
    """A session due for more than two hours is named."""
    add_dialog(db, 1, session="forgotten")
    assert ask(db, settings, "tails_closed", at(100)).status == "ok"
    finding = ask(db, settings, "tails_closed", at(160))
    assert finding.offending == ("forgotten",)
    assert "idle" in finding.detail


def test_a_unit_that_waits_for_long(db: Database, settings: Settings) -> None:
    """A unit pending for more than two hours is named, with the error that holds it up."""
    unit = add_item(db, "a document")
    change(db, "update distill_state set queued_at = %s, last_error_class = 'infra', last_error = 'away'", at(0))
    assert ask(db, settings, "units_distilled", at(119)).status == "ok"
    finding = ask(db, settings, "units_distilled", at(121))
    assert (finding.offending, finding.detail) == ((f"item {unit}",), "infra: away")


def test_a_parked_unit(db: Database, settings: Settings) -> None:
    """A unit that failed on its content too often is named."""
    unit = add_item(db, "a document")
    assert ask(db, settings, "none_parked").status == "ok"
    change(db, "update distill_state set status = 'parked', last_error = 'prose'")
    assert ask(db, settings, "none_parked").offending == (f"item {unit}",)


def test_an_episode_or_item_without_a_unit(db: Database, settings: Settings) -> None:
    """A closed episode and an item that no row of distill_state stands for are named."""
    episode, _ = add_episode(db, [("user", "hello")])
    item = add_item(db, "a document")
    assert ask(db, settings, "distill_state_complete").status == "ok"
    change(db, "delete from distill_state")
    assert ask(db, settings, "distill_state_complete").offending == (f"episode {episode}", f"item {item}")


def test_captures_are_unknown_before_anything_came(db: Database, settings: Settings) -> None:
    """On an empty store without a hook's sign of life there is nothing to judge by, and the audit says so."""
    assert ask(db, settings, "captures_arriving").status == "unknown"


def beat(db: Database, host: str, *, event: str = "Stop", missed: str | None = None, session: str = "s9") -> None:
    change(
        db,
        "insert into hook_heartbeats (host, target, version, event, session, missed, at)"
        " values (%s, 'claude-code', '1', %s, %s, %s::jsonb, %s)",
        host, event, session, missed, at(60),
    )  # fmt: skip


def test_a_machine_whose_hooks_report_but_whose_turns_stay_away(db: Database, settings: Settings) -> None:
    """A host with a sign of life and no row is named; one whose rows or known repeats arrive, or whose session only
    just started, is not."""
    beat(db, "silent")
    beat(db, "heard")
    beat(db, "repeating", session="repeated")
    beat(db, "started", event="SessionStart")
    change(
        db,
        "insert into raw_items (source, kind, body, metadata, dedup_key, said_at, captured_at)"
        " values ('claude-code', 'turn', 'hi', '{\"host\": \"heard\", \"role\": \"user\"}', 'k', %s, %s)",
        at(60), at(60),
    )  # fmt: skip
    change(
        db,
        "insert into capture_outcomes (source, session, outcome, count, at)"
        " values ('claude-code', 'repeated', 'duplicate', 1, %s)",
        at(60),
    )
    finding = ask(db, settings, "captures_arriving")
    assert (finding.status, finding.offending) == ("failed", ("silent (claude-code)",))
    assert ask(db, settings, "captures_arriving", at(60 * 26)).status == "ok"  # a machine that was switched off


def test_a_machine_that_could_not_send(db: Database, settings: Settings) -> None:
    """A host that reports missed turns is named with what it missed, though others of its turns arrived."""
    beat(db, "cut-off", event="SessionStart", missed='{"turns": 14}')
    finding = ask(db, settings, "captures_arriving")
    assert finding.offending == ("cut-off (claude-code)",)
    assert "14" in finding.detail


@pytest.mark.parametrize(
    "statement",
    [
        "drop trigger raw_items_immutable on raw_items",
        "alter table raw_items disable trigger raw_items_immutable",
        "alter table distilled_notes enable replica trigger distilled_notes_kept",
    ],
)
def test_a_trigger_that_is_gone_or_switched_off(db: Database, settings: Settings, statement: str) -> None:
    """A trigger that was dropped, disabled or bound to replication is named."""
    assert ask(db, settings, "triggers_present").status == "ok"
    change(db, statement)
    (named,) = ask(db, settings, "triggers_present").offending
    assert named.split(".")[1] in statement


def test_the_list_of_triggers_is_complete(db: Database) -> None:
    """The triggers the audit asks for are those of a freshly migrated database."""
    rows = db.fetch_all(
        "select c.relname || '.' || t.tgname as id from pg_trigger t join pg_class c on c.oid = t.tgrelid"
        " where not t.tgisinternal"
    )
    assert {row["id"] for row in rows} == REQUIRED_TRIGGERS


@pytest.mark.parametrize(
    ("stage", "plant"),
    [
        ("segment", lambda db: add_dialog(db, 1)),
        ("distill", lambda db: add_item(db, "a document")),
        ("embed", lambda db: add_turn(db, "no vector", at(0))),
        ("dedup", lambda db: add_vector(db, 1, "note", add_note(db, "not compared"), [1, 0])),
    ],
)
def test_a_stage_that_does_not_run(
    db: Database, settings: Settings, stage: str, plant: Callable[[Database], Any]
) -> None:
    """A stage with due work and no pass in the last half hour is named; with a pass it is not."""
    assert add_space(db) == 1
    plant(db)
    change(db, "update distill_state set queued_at = %s", at(0))
    change(db, "update embed_queue set queued_at = %s", at(0))
    change(db, "update distilled_notes set created_at = %s", at(0))
    assert stage in ask(db, settings, "stages_running").offending
    change(
        db,
        "insert into stage_passes (stage, started_at, finished_at, outcome, counts) values (%s, %s, %s, 'ok', '{}')",
        stage, at(60 * 24 - 5), at(60 * 24 - 5),
    )  # fmt: skip
    assert stage not in ask(db, settings, "stages_running").offending


def test_a_stage_whose_latest_pass_failed(db: Database, settings: Settings) -> None:
    """A stage is named while its latest pass is a failed one, with the error."""
    insert = (
        "insert into stage_passes (stage, started_at, finished_at, outcome, counts, error)"
        " values ('embed', %s, %s, %s, '{}', %s)"
    )
    change(db, insert, at(0), at(0), "failed", "the embedder is away")
    finding = ask(db, settings, "stages_succeeding")
    assert (finding.offending, finding.detail) == (("embed",), "the embedder is away")
    change(db, insert, at(1), at(1), "ok", None)
    assert ask(db, settings, "stages_succeeding").status == "ok"


def test_only_some_offenders_are_named_but_all_are_counted(db: Database, settings: Settings) -> None:
    """With many faults the first ids stand in the answer, and their number is the whole number."""
    for number in range(55):
        add_item(db, f"document {number}")
    change(db, "update distill_state set status = 'parked'")
    finding = ask(db, settings, "none_parked")
    assert (len(finding.offending), finding.total) == (50, 55)


def run_checks(instance: dg.DagsterInstance) -> dict[str, dg.AssetCheckEvaluation]:
    result = defs.resolve_job_def("audit_memory").execute_in_process(instance=instance)
    assert result.success
    return {each.asset_check_key.to_user_string(): each for each in result.get_asset_check_evaluations()}


def test_the_job_asks_every_audit(db: Database, run_environment: None, instance: dg.DagsterInstance) -> None:
    """audit_memory evaluates every check without a partition; a fault fails its check with severity and ids."""
    raw = add_turn(db, "The printer lives in the cellar.", at(0))
    wrong = add_note(db, "The printer lives in the attic.", raw_id=raw)
    found = run_checks(instance)
    assert found.keys() == {key.to_user_string() for key in BY_KEY}
    assert all(evaluation.partition is None for evaluation in found.values())
    grounded = found["distilled_notes:notes_grounded"]
    assert (grounded.passed, grounded.severity) == (False, dg.AssetCheckSeverity.ERROR)
    assert grounded.metadata["offending"].value == [str(wrong)]
    assert found["raw_items:triggers_present"].passed


def test_a_database_that_is_away_fails_every_check(
    postgres: Any, run_environment: None, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a database every check is a failed one that says so."""
    monkeypatch.setenv("ARGUS_DATABASE_URL", "postgresql://argus:none@127.0.0.1:1/argus")
    monkeypatch.setattr("argus_memory.db.POOL_WAIT_SECONDS", 0.2)
    monkeypatch.setattr(psycopg.Connection, "connect", _refuse)
    found = run_checks(instance)
    assert not any(evaluation.passed for evaluation in found.values())


def _refuse(*_args: Any, **_more: Any) -> None:
    raise psycopg.OperationalError("connection refused")
