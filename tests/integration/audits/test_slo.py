"""Service levels: measured from what is stored, kept, and told when they break."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from argus_memory.db import Database
from argus_memory.errors import SettingError
from argus_memory.records import CANARY_PROJECT
from argus_memory.settings import Settings
from argus_memory.watch.slo import SLOS, SloResult, measure_slos, slo_history
from tests.distill_rows import add_episode
from tests.integration.audits.healthy import add_rejections, add_run
from tests.integration.audits.test_rates import add_notes
from tests.integration.audits.test_whole_faults import add_injection, change
from tests.memory_rows import add_turn, at

NOW = at(60 * 12)


def measure(db: Database, settings: Settings, name: str, now: Any = NOW) -> SloResult:
    return {result.slo.name: result for result in measure_slos(db, settings, now=now, by="test")}[name]


def test_an_empty_store_knows_no_level(db: Database, settings: Settings) -> None:
    """Without anything to measure every level is unknown, kept as that, and nobody is told."""
    results = measure_slos(db, settings, now=NOW, by="test")
    assert {result.status for result in results} == {"unknown"}
    rows = db.fetch_all("select slo, value, status, detail from slo_measurements order by id")
    assert [row["slo"] for row in rows] == [slo.name for slo in SLOS]
    assert all(row["value"] is None and row["detail"] for row in rows)
    assert db.fetch_all("select 1 from alerts") == []


def test_the_share_of_turns_captured(db: Database, settings: Settings) -> None:
    """Turns that arrived count beside those hooks missed, sweeps left and prompts of sessions that never arrived;
    the canary's and those of an import do not."""
    for number in range(95):
        add_turn(db, f"turn {number}", at(number), session="s1")
    add_turn(db, "probe", at(1), project=CANARY_PROJECT)
    assert measure(db, settings, "capture-rate").measured.value == 1.0
    change(
        db,
        "insert into hook_heartbeats (host, target, version, event, missed, at) values ('den', 'claude-code', '1', 'Stop', %s, %s)",
        Jsonb({"turns": 3}), at(60),
    )  # fmt: skip
    rid = add_run(db, started_at=at(30), task="transcript-sweep")
    change(db, "update task_runs set metrics = %s where rid = %s", Jsonb({"turns_uncaptured": 1}), rid)
    add_injection(db, at(1), session="silent")
    add_injection(db, at(1), session="argus-canary-x", project=CANARY_PROJECT)
    add_injection(db, at(1), session="s1")
    result = measure(db, settings, "capture-rate")
    assert (result.measured.value, result.status) == (0.95, "failed")
    assert "3 missed by the hooks" in result.measured.detail


def test_the_minutes_to_a_note(db: Database, settings: Settings) -> None:
    """Median and p95 run from the capture of the last turn of an episode to its notes; a level of a person's own
    stands before the default, which grows with ARGUS_IDLE_CLOSE."""
    for number in range(20):
        episode, _ = add_episode(db, [("user", f"hello {number}")], start=number)
        change(
            db,
            "update distill_state set status = 'done', distilled_at = %s where unit_id = %s",
            at(number + 40 + (200 if number > 16 else 0)), episode,
        )  # fmt: skip
    median, p95 = measure(db, settings, "note-minutes-median"), measure(db, settings, "note-minutes-p95")
    assert (median.measured.value, median.threshold, median.status) == (40.0, 60.0, "ok")
    assert (p95.measured.value, p95.threshold, p95.status) == (240.0, 150.0, "failed")
    assert measure(db, replace(settings, slo={"note-minutes-p95": 300.0}), "note-minutes-p95").status == "ok"
    assert measure(db, replace(settings, idle_close=timedelta(hours=3)), "note-minutes-p95").threshold == 300.0


def test_the_share_of_candidates_not_grounded(db: Database, settings: Settings) -> None:
    """Only refusals for their quotation count, of all candidates."""
    add_notes(db, at(60), 60)
    add_rejections(db, at(60), "grounding", 30)
    add_rejections(db, at(60), "poison", 10)
    result = measure(db, settings, "grounding-rejections")
    assert (result.measured.value, result.status) == (0.3, "failed")


def test_recalls_without_a_hit_and_their_time(db: Database, settings: Settings) -> None:
    """Prompts that were looked up count, empty and slow ones; those without substance, of session starts and of the
    canary do not."""
    for number in range(20):
        empty = number < 19
        add_injection(
            db, at(number), session=f"s{number}", milliseconds=50.0,
            skipped="nothing-on-record" if empty else None, turn_ids=[] if empty else [1],
        )  # fmt: skip
    for more in ({"skipped": "substance"}, {"prompt_mode": False}, {"session": "argus-canary-x"}):
        add_injection(db, at(30), milliseconds=9000.0, **more)
    hits, speed = measure(db, settings, "zero-hits"), measure(db, settings, "recall-ms-p95")
    assert (hits.measured.value, hits.status) == (0.95, "failed")
    assert (speed.measured.value, speed.status) == (50.0, "ok")


def test_what_has_no_source_yet_is_unknown(db: Database, settings: Settings) -> None:
    """Drift before any reconcile, and the use of injected notes, are shown as unknown with the reason."""
    for name in ("reconcile-drift", "injected-used"):
        result = measure(db, settings, name)
        assert (result.status, result.measured.value) == ("unknown", None)
        assert result.measured.detail


def test_drift_is_what_a_weeks_reconciles_would_not_make_again(db: Database, settings: Settings) -> None:
    """Lost notes over notes compared; dry runs, failed ones and older weeks do not count."""
    rows = [("reconcile", "shown", 1, 20, 6), ("reconcile", "shown", 2, 20, 0), ("dry-run", "shown", 3, 20, 20),
            ("reconcile", "failed", 4, 20, 20), ("reconcile", "shown", -9 * 1440, 20, 20)]  # fmt: skip
    with db.transaction() as conn:
        for mode, status, minute, notes, lost in rows:
            conn.execute(
                """insert into regenerations (mode, first_day, last_day, actor, model, started_at, status, loss_guard, counts)
                   values (%s, '2026-02-01', '2026-02-01', 'test', 'test', %s, %s, 0.3, %s)""",
                (mode, at(minute), status, Jsonb({"notes_before": notes, "removed": lost})),
            )
    drift = measure(db, settings, "reconcile-drift")
    assert (drift.measured.value, drift.status) == (0.15, "failed")


def test_a_level_that_breaks_is_told_once_and_so_is_its_end(db: Database, settings: Settings) -> None:
    """A broken level opens one alert, which ends when it holds again; unknown leaves it open; the history shows all."""
    for number in range(20):
        add_injection(db, at(number), session=f"s{number}", milliseconds=5000.0, turn_ids=[1])
    for minute in (60, 61):
        measure_slos(db, settings, now=at(minute), by="test")
    measure_slos(db, settings, now=at(60 * 48), by="test")
    (alert,) = db.fetch_all("select kind, subject, severity, title, closed_at from alerts")
    assert (alert["kind"], alert["subject"], alert["severity"]) == ("slo", "slo:recall-ms-p95", "warn")
    assert alert["closed_at"] is None
    assert "recall-ms-p95 is 5000, at most 1000 was promised" in alert["title"]
    for number in range(20):
        add_injection(db, at(60 * 48 + number), session=f"t{number}", milliseconds=5.0, turn_ids=[1])
    measure_slos(db, settings, now=at(60 * 49), by="test")
    kinds = [row["kind"] for row in db.fetch_all("select kind from deliveries order by id")]
    assert kinds == ["alert", "recovery"]
    history = slo_history(db, since=at(0))["recall-ms-p95"]
    assert [row["status"] for row in history] == ["failed", "failed", "unknown", "ok"]


def test_a_level_nobody_knows(db: Database, settings: Settings) -> None:
    """A name that is no service level is refused with one sentence that names those there are."""
    with pytest.raises(
        SettingError, match=r"ARGUS_SLO: 'speed' is no service level; accepted: .*capture-rate.*zero-hits"
    ):
        measure_slos(db, replace(settings, slo={"speed": 1.0}), now=NOW, by="test")
