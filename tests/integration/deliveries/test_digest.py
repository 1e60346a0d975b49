"""The digest from real rows, once a local day; alerts about what waits."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from argus_memory.db import Database
from argus_memory.settings import Settings
from argus_memory.upkeep.decisions import decide
from argus_memory.upkeep.held import reject_decision
from argus_memory.upkeep.regeneration import dismiss
from argus_memory.watch.alerts import list_alerts
from argus_memory.watch.digest import digest_words, write_digest
from argus_memory.watch.waiting import watch_waiting
from tests.integration.deliveries.conftest import NOW, row_of
from tests.memory_rows import add_note, at


def add_run(db: Database, task: str, outcome: str, *, hours_ago: float, reason: str | None = None) -> None:
    params = {"task": task, "outcome": outcome, "at": NOW - timedelta(hours=hours_ago), "reason": reason}
    db.fetch_all(
        """insert into task_runs (rid, task, started_by, started_at, beat_at, finished_at, outcome, reason)
           values (gen_random_uuid(), %(task)s, 'schedule', %(at)s, %(at)s, %(at)s, %(outcome)s, %(reason)s) returning id""",
        params,
    )


def test_the_digest_is_written_once_a_local_day(db: Database, settings: Settings) -> None:
    """Two who write it, one message; in a zone where it is tomorrow already there is a new one."""
    first = write_digest(db, settings, now=NOW, by="watchdog")
    assert first is not None
    assert write_digest(db, settings, now=NOW + timedelta(hours=3), by="daily-digest") is None
    east = replace(settings, timezone="Pacific/Auckland")
    assert write_digest(db, east, now=NOW + timedelta(hours=4), by="watchdog") is not None
    row = row_of(db, first)
    assert (row["kind"], row["channel"], row["task"]) == ("digest", "main", "watchdog")
    assert row["link"] == f"http://127.0.0.1:{settings.dagster_port}/"


def test_the_digest_counts_what_is_in_the_tables(db: Database, settings: Settings) -> None:
    """Runs of the last day only, no-shows, costs known and unknown, the canary, a broken level, kept messages."""
    settings = replace(settings, timezone="UTC")
    for hours in (1, 2, 30):
        add_run(db, "heartbeat", "ok", hours_ago=hours)
    add_run(db, "backup", "timed-out", hours_ago=3, reason="longer than 1 h")
    db.fetch_all(
        """insert into expected_runs (task, due_at, start_by, max_runtime, schedule, timezone, mode, status, status_at, decided_by)
           values ('sweep', %(at)s, %(at)s, '1 h', '0 7 * * *', 'UTC', 'run', 'missed', %(at)s, 'watchdog') returning id""",
        {"at": NOW - timedelta(hours=2)},
    )
    db.fetch_all(
        """with calls as (
             insert into llm_calls (at, stage, model, milliseconds, outcome, cost_usd)
             values (%(at)s, 'distill', 'm', 1, 'ok', 0.25), (%(at)s, 'distill', 'm', 1, 'ok', null))
           insert into engine_attempts (place, engine, started_at, finished_at, outcome, cost_usd)
           values (0, 'claude', %(at)s, %(at)s, 'ok', 0.5), (1, 'codex', %(at)s, %(at)s, 'left-alone', null),
                  (2, 'api', %(at)s, %(at)s, 'ok', 0.25) returning id""",
        {"at": NOW - timedelta(hours=1)},
    )
    db.fetch_all(
        """insert into canary_runs (marker, session, sent_at, outcome) values ('m', 's', %(at)s, 'ok') returning id""",
        {"at": NOW - timedelta(hours=1)},
    )
    db.fetch_all(
        """insert into slo_measurements (slo, at, value, threshold, status)
           values ('capture-rate', %(at)s, 0.5, 0.99, 'failed') returning id""",
        {"at": NOW - timedelta(hours=1)},
    )
    title, body = digest_words(db, settings, now=NOW)
    assert title == "Argus, Monday 4 May: 2 runs ok, 1 failed, 1 missed"
    lines = body.splitlines()
    assert "Failed: backup, 1 of 1: longer than 1 h" in lines
    assert "Did not run: sweep, 1 times, last due Mon 07:00" in lines
    assert "Cost: 0.7500 USD for 2 calls, unknown for 1 calls." in lines
    assert "Canary: 1 arrived, 0 did not; the last one: ok." in lines
    assert "Service level broken: capture-rate is 0.5, 0.99 is asked" in lines
    assert any(line.startswith("Messages: no message waits, nothing is configured to send") for line in lines)


def hold_merge(db: Database, *, days_ago: float) -> int:
    old = add_note(db, "The seal is 12 mm.", confidence=0.8, said_at=at(0))
    new = add_note(db, "The seal is 14 mm.", said_at=at(60))
    row = db.fetch_one(
        """insert into dedup_log (note_id, other_id, verdict, model, status, reasoning, at)
           values (%(new)s, %(old)s, 'supersede', 'test', 'pending', 'two sizes', %(at)s) returning id""",
        {"new": new, "old": old, "at": NOW - timedelta(days=days_ago)},
    )
    assert row is not None
    return int(row["id"])


def subjects(db: Database) -> list[str]:
    return sorted(f"{one.kind}/{one.subject}" for one in list_alerts(db).alerts)


def test_a_merge_held_for_long_is_told_until_it_is_decided(db: Database, settings: Settings) -> None:
    """A day is not long; three days are; a decision clears it. The evidence names the row."""
    id_ = hold_merge(db, days_ago=1)
    assert watch_waiting(db, settings, now=NOW, by="test") == 0
    assert watch_waiting(db, settings, now=NOW + timedelta(days=2), by="test") == 1
    assert watch_waiting(db, settings, now=NOW + timedelta(days=2), by="test") == 0
    assert list_alerts(db).alerts[0].evidence == {"merges": [id_], "held": 1}
    db.fetch_all("update dedup_log set status = 'approved', decided_by = 'kim', decided_at = now() returning id")
    watch_waiting(db, settings, now=NOW + timedelta(days=2), by="test")
    assert subjects(db) == []


def test_what_an_agent_asked_for_is_told_when_it_waits_long(db: Database, settings: Settings) -> None:
    """A held decision counts as a held merge does; the evidence names both, and a person's rejection of it clears it."""
    id_ = add_note(db, "The gate code is 4711.", confidence=0.8, said_at=at(0))
    asked = decide(db, "forget", id_, "codex", kind="agent", now=NOW - timedelta(days=3))
    (waits,) = db.fetch_all("select id from note_decisions where status = 'held'")
    assert asked.outcome == "held"
    assert watch_waiting(db, settings, now=NOW, by="test") == 1
    assert list_alerts(db).alerts[0].evidence == {"decisions": [waits["id"]], "held": 1}
    reject_decision(db, waits["id"], "kim", now=NOW)
    watch_waiting(db, settings, now=NOW, by="test")
    assert subjects(db) == []


def test_a_held_regeneration_is_told_after_a_while(db: Database, settings: Settings) -> None:
    """Not while the person who started it looks at it; with its loss and what to do, until it is dismissed."""
    db.fetch_all(
        """insert into regenerations (mode, first_day, last_day, actor, model, started_at, finished_at, status, loss, loss_guard)
           values ('reconcile', '2026-03-01', '2026-03-07', 'argus', 'm', %(now)s, %(now)s, 'held', 0.5, 0.3) returning id""",
        {"now": NOW},
    )
    assert watch_waiting(db, settings, now=NOW + timedelta(minutes=10), by="test") == 0
    assert watch_waiting(db, settings, now=NOW + timedelta(minutes=20), by="test") == 1
    (alert,) = list_alerts(db).alerts
    assert (alert.kind, alert.subject, alert.evidence) == ("held", "regenerations", {"regenerations": [1]})
    dismiss(db, 1, "kim", now=NOW + timedelta(hours=1))
    watch_waiting(db, settings, now=NOW + timedelta(hours=1), by="test")
    assert subjects(db) == []


def test_parked_units_are_told_with_their_ids(db: Database, settings: Settings) -> None:
    """Until nothing is parked."""
    db.fetch_all(
        """insert into distill_state (unit_kind, unit_id, status, queued_at, said_at)
           values ('episode', 5, 'parked', %(now)s, %(now)s) returning unit_id""",
        {"now": NOW},
    )
    assert watch_waiting(db, settings, now=NOW, by="test") == 1
    (alert,) = list_alerts(db).alerts
    assert (alert.kind, alert.subject, alert.evidence["units"]) == ("parked", "units", ["episode 5"])
    db.fetch_all("update distill_state set status = 'pending' returning unit_id")
    watch_waiting(db, settings, now=NOW, by="test")
    assert subjects(db) == []


def test_a_budget_that_is_used_up_is_told_once_and_well_at_half(db: Database, settings: Settings) -> None:
    """The hour moves on: just below the budget is not well yet."""
    settings = replace(settings, llm_calls_per_hour=4)
    db.fetch_all(
        """insert into llm_calls (at, stage, model, milliseconds, outcome)
           select %(now)s - make_interval(mins => 10 * n), 'distill', 'm', 1, 'ok' from generate_series(1, 4) n returning id""",
        {"now": NOW},
    )
    assert watch_waiting(db, settings, now=NOW, by="test") == 1
    assert subjects(db) == ["budget/stage:distill"]
    watch_waiting(db, settings, now=NOW + timedelta(minutes=25), by="test")  # three calls left in the hour
    assert subjects(db) == ["budget/stage:distill"]
    watch_waiting(db, settings, now=NOW + timedelta(minutes=45), by="test")  # one
    assert subjects(db) == []
