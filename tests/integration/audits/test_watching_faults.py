"""For each audit of tasks, messages and to-dos one fault is planted, and the audit names it."""

from __future__ import annotations

import uuid
from dataclasses import replace
from datetime import timedelta

import pytest

from argus_memory.db import Database
from argus_memory.settings import Settings
from argus_memory.watch.alerts import Condition, clear_alert, put_delivery, raise_alert
from tests.integration.audits.conftest import Force
from tests.integration.audits.healthy import WITH_CHANNEL, add_run, add_task, expect_run
from tests.integration.audits.test_whole_faults import ask, change, found
from tests.memory_rows import add_note, at

DUE = at(0)
MINUTE = timedelta(minutes=1)


def test_a_due_run_that_nobody_decided(db: Database, settings: Settings) -> None:
    """A run still expected five minutes after it had to start is named by its task and time."""
    add_task(db)
    expect_run(db, DUE, "expected")
    assert found(db, settings, "task_runs/due_decided", DUE + 9 * MINUTE) == ("ok", ())
    assert found(db, settings, "task_runs/due_decided", DUE + 11 * MINUTE) == (
        "failed",
        ("backup 2026-03-02T09:00:00+00:00",),
    )


@pytest.mark.parametrize("status", ["started", "overrunning", "late"])
def test_a_due_run_whose_end_did_not_count(db: Database, settings: Settings, status: str) -> None:
    """A run that ended but whose row of the ledger still says that it goes on is named."""
    add_task(db)
    expect_run(db, DUE, status, rid=add_run(db, due_at=DUE, started_at=DUE))
    assert ask(db, settings, "task_runs/due_decided", DUE + 2 * MINUTE).status == "ok"
    assert ask(db, settings, "task_runs/due_decided", DUE + 6 * MINUTE).total == 1


def test_a_due_run_that_waits_for_ever(db: Database, settings: Settings) -> None:
    """A run that is queued for more than a day is named."""
    add_task(db)
    expect_run(db, DUE, "queued")
    assert ask(db, settings, "task_runs/due_decided", DUE + timedelta(hours=24)).status == "ok"
    assert ask(db, settings, "task_runs/due_decided", DUE + timedelta(hours=26)).total == 1


def test_a_run_without_a_report(db: Database, settings: Settings) -> None:
    """A run that neither ended nor shows a sign of life for ten minutes is named by its rid."""
    add_run(db, started_at=DUE)
    silent = add_run(db, started_at=DUE, outcome=None, ended=False)
    assert found(db, settings, "task_runs/runs_reported", DUE + 9 * MINUTE) == ("ok", ())
    assert found(db, settings, "task_runs/runs_reported", DUE + 11 * MINUTE) == ("failed", (silent,))


def test_runs_and_ledger_that_do_not_agree(db: Database, settings: Settings, force: Force) -> None:
    """A run due at a time the ledger does not know, an ok without a run or by a failed one, a task nobody knows, a
    run of another task, a status that no event tells of, and an attempt of no run are named."""
    add_task(db)
    add_task(db, "other")
    right = add_run(db, due_at=DUE, started_at=DUE)
    expect_run(db, DUE, "ok", rid=right)
    assert found(db, settings, "task_runs/run_ids_resolve") == ("ok", ())
    unknown = add_run(db, due_at=DUE + MINUTE, started_at=DUE)
    bare = expect_run(db, at(2), "ok")
    stray = expect_run(db, at(3), "missed", task="nobody")
    crossed = expect_run(db, at(4), "failed", rid=right, task="other")
    broken = add_run(db, started_at=DUE, outcome="failed")
    wrong = expect_run(db, at(5), "ok", rid=broken)
    moved = expect_run(db, at(6), "missed")
    force("update expected_runs set status = 'paused' where id = %s", moved)
    change(
        db,
        "insert into engine_attempts (rid, place, engine, started_at, finished_at, outcome) values (%s, 0, 'api', now(), now(), 'ok')",
        str(uuid.uuid4()),
    )
    finding = ask(db, settings, "task_runs/run_ids_resolve")
    expected = {f"expected {id_}" for id_ in (bare, stray, crossed, wrong, moved)} | {f"run {unknown}", "attempt 1"}
    assert (finding.status, set(finding.offending)) == ("failed", expected)


def test_a_message_that_is_not_sent(db: Database, settings: Settings) -> None:
    """A message that waits for more than an hour is named; without any channel it cannot be told."""
    with db.transaction() as conn:
        id_ = put_delivery(conn, key="k", kind="deliver", channel="main", title="Hello", body="", now=DUE)
    assert ask(db, settings, "deliveries/messages_sent").status == "unknown"
    settings = replace(settings, **WITH_CHANNEL)
    assert found(db, settings, "deliveries/messages_sent", at(59)) == ("ok", ())
    assert found(db, settings, "deliveries/messages_sent", at(61)) == ("failed", (f"delivery {id_}",))
    change(db, "update deliveries set status = 'gave-up', last_error = 'chat not found'")
    finding = ask(db, settings, "deliveries/messages_sent", at(61))
    assert "chat not found" in finding.detail


def test_an_alert_that_nobody_was_told_of(db: Database, settings: Settings) -> None:
    """An alert without its message, an end without its recovery, a message of no alert, of no run, and one that
    counts as sent without an attempt are named."""
    with db.transaction() as conn:
        for subject in ("task:a", "task:b"):
            raise_alert(conn, settings, Condition("no-show", subject, "Late"), now=DUE, by="test")
        clear_alert(conn, settings, "no-show", "task:a", now=at(1), by="test")
    assert found(db, settings, "deliveries/alerts_told") == ("ok", ())
    change(db, "update deliveries set key = 'other' where key = 'alert:2:opened'")
    change(db, "update deliveries set key = 'another' where key = 'alert:1:closed'")
    with db.transaction() as conn:
        loose = put_delivery(conn, key="x", kind="alert", channel="main", title="?", body="", now=DUE)
        lost = put_delivery(
            conn, key="y", kind="deliver", channel="main", title="?", body="", now=DUE, rid=str(uuid.uuid4())
        )
        unsent = put_delivery(conn, key="z", kind="deliver", channel="main", title="?", body="", now=DUE)
    change(db, "update deliveries set status = 'sent', sent_at = now() where id = %s", unsent)
    finding = ask(db, settings, "deliveries/alerts_told")
    expected = {"alert 1", "alert 2"} | {f"delivery {id_}" for id_ in (loose, lost, unsent)}
    assert (finding.status, set(finding.offending)) == ("failed", expected)


def test_a_to_do_that_nothing_bears_out(db: Database, settings: Settings) -> None:
    """A to-do whose last event says another status, one without a source, and evidence that is not there are named."""
    note = add_note(db, "We must renew the certificate.")
    for number, source in ((1, note), (2, note), (3, None)):
        change(
            db,
            "insert into task_items (uid, text, status, note_id, source_ref, said_at, noticed_at, status_at, model)"
            " values (%s, 'renew', 'open', %s, 'must renew', %s, %s, %s, 'cue')",
            str(number), source, DUE, DUE, DUE,
        )  # fmt: skip
    change(
        db,
        "insert into task_events (item_id, at, to_status, evidence, evidence_id, method) values (2, %s, 'open', 'note', %s, 'cue')",
        DUE, str(note),
    )  # fmt: skip
    assert found(db, settings, "task_items/items_resolve") == ("failed", ("item 3",))
    change(
        db,
        "insert into task_events (item_id, at, to_status, evidence, evidence_id, method) values (1, %s, 'verified', 'turn', '999', 'cue')",
        DUE,
    )
    assert found(db, settings, "task_items/items_resolve") == ("failed", ("event 2", "item 1", "item 3"))
