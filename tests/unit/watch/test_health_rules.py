"""The rules of health for watchers, tasks, hooks, canary and backups, and when a check becomes an alert."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from argus_memory.watch.beats import DAGSTER, SILENCE, WATCHDOG, Beat
from argus_memory.watch.health_alerts import FAILED_FOR, UNKNOWN_FOR, WARN_FOR, WELL_FOR, judge_alert
from argus_memory.watch.health_judge import Check, overall
from argus_memory.watch.health_judge_watch import (
    LastCanary,
    WatchFacts,
    judge_backups,
    judge_canary,
    judge_hooks,
    judge_tasks,
    judge_watchdogs,
)

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
HOUR = timedelta(hours=1)


def beats(**ages: int) -> dict[str, Beat]:
    """Beats that many seconds ago, of processes an hour old."""
    return {name: Beat(name, NOW - age * SECOND, NOW - HOUR, "host", 1, 3.0, {}) for name, age in ages.items()}


def test_unknown_is_never_ok_and_idle_is_no_fault() -> None:
    """Unknown degrades the whole, unless it is unknown only because nothing happened yet."""
    assert overall({"a": Check("ok", ""), "b": Check("unknown", "", idle=True)}) == "ok"
    assert overall({"a": Check("ok", ""), "b": Check("unknown", "")}) == "degraded"
    assert overall({"a": Check("warn", "")}) == "degraded"
    assert overall({"database": Check("failed", "")}) == "down"


@pytest.mark.parametrize(
    ("found", "status", "idle"),
    [
        ({}, "unknown", True),
        (beats(watchdog=15, dagster=30), "ok", False),
        (beats(watchdog=121, dagster=30), "failed", False),
        (beats(watchdog=15, dagster=121), "failed", False),
        (beats(watchdog=15), "failed", False),
        (beats(dagster=15), "failed", False),
        (beats(watchdog=500, dagster=500), "failed", False),
    ],
)
def test_both_watchdogs_have_to_beat(found: dict[str, Beat], status: str, idle: bool) -> None:
    """One that is silent is a failure; before the first beat of any it cannot be told."""
    check = judge_watchdogs(found, NOW)
    assert (check.status, check.idle) == (status, idle)


def test_a_hub_that_has_just_started_waits_for_dagster() -> None:
    """Until the watchdog has beaten for SILENCE, the other one may still be starting: unknown, and no fault."""
    found = beats(watchdog=1, dagster=5000)
    found[WATCHDOG] = replace(found[WATCHDOG], since=NOW - SILENCE)
    assert judge_watchdogs(found, NOW).is_well
    found[WATCHDOG] = replace(found[WATCHDOG], since=NOW - SILENCE - SECOND)
    assert judge_watchdogs(found, NOW).status == "failed"


def test_a_step_that_fails_is_named_without_its_error() -> None:
    """What an error says may hold a memory; the step's name does not."""
    found = beats(watchdog=1, dagster=1)
    found[DAGSTER] = replace(found[DAGSTER], detail={"errors": ["ledger: KeyError: the secret garden"]})
    check = judge_watchdogs(found, NOW)
    assert (check.status, "ledger" in check.detail, "garden" in check.detail) == ("warn", True, False)


@pytest.mark.parametrize(
    ("facts", "status", "words"),
    [
        (WatchFacts(), "unknown", "no task"),
        (WatchFacts(tasks=2, run_at=NOW - HOUR), "ok", "2 tasks, last run 60 min ago"),
        (WatchFacts(tasks=1), "ok", "1 task, none ran yet"),
        (WatchFacts(tasks=2, runs_unjudged=1), "failed", "1 run past their time"),
        (WatchFacts(tasks=2, tasks_broken=1), "warn", "1 cannot be used"),
        (WatchFacts(tasks=2, alerts={"no-show": 1, "task-failed": 2}), "warn", "1 did not run, 2 failed"),
        (WatchFacts(tasks=2, alerts={"canary": 1}), "ok", "2 tasks"),
    ],
)
def test_tasks(facts: WatchFacts, status: str, words: str) -> None:
    """What was due ran; what did not is counted; a ledger nobody judges is a failure."""
    check = judge_tasks(facts, NOW)
    assert (check.status, words in check.detail) == (status, True), check


@pytest.mark.parametrize(
    ("last", "status", "idle"),
    [
        (None, "unknown", True),
        (LastCanary(NOW - HOUR, NOW - HOUR + SECOND, "ok", None), "ok", False),
        (LastCanary(NOW - HOUR, None, "failed", "recall"), "failed", False),
        (LastCanary(NOW - SECOND, None, None, None), "unknown", True),
        (LastCanary(NOW - HOUR, None, None, None), "failed", False),
        (LastCanary(NOW - 3 * HOUR, NOW - 3 * HOUR, "ok", None), "unknown", False),
    ],
)
def test_the_canary(last: LastCanary | None, status: str, idle: bool) -> None:
    """Well while the last one came through lately; one that never ended is lost, and old news proves nothing."""
    check = judge_canary(last, every=HOUR, now=NOW)
    assert (check.status, check.idle) == (status, idle)


def test_hooks() -> None:
    """Failed while an alert is open, unknown before the first report or while nobody compares."""
    facts = WatchFacts(machines=2, hook_at=NOW - HOUR)
    assert judge_hooks(facts, beats(watchdog=1), NOW).status == "ok"
    assert judge_hooks(facts, beats(watchdog=500), NOW).status == "unknown"
    assert judge_hooks(WatchFacts(), {}, NOW).is_well
    assert judge_hooks(replace(facts, alerts={"hooks-silent": 1}), {}, NOW).status == "failed"


def test_backups() -> None:
    """None yet is unknown; an old or an untried one is worth a look; a failed try shows, though an older one stands."""
    young, old = NOW - timedelta(days=2), NOW - timedelta(days=4)
    assert judge_backups(None, None, None, NOW).is_well
    assert judge_backups(young, young, "proven", NOW).status == "ok"
    assert judge_backups(old, old, "proven", NOW).status == "warn"
    assert judge_backups(None, young, "made", NOW).status == "warn"
    assert judge_backups(young, young, "failed", NOW).status == "failed"
    assert "none is proven" in judge_backups(None, None, "failed", NOW).detail


FAILED, WARN, UNKNOWN, OK = (Check(status, "") for status in ("failed", "warn", "unknown", "ok"))


@pytest.mark.parametrize(
    ("name", "check", "lasted", "verdict"),
    [
        ("segment", FAILED, FAILED_FOR, "raise"),
        ("segment", FAILED, FAILED_FOR - SECOND, "wait"),
        ("segment", WARN, WARN_FOR, "clear"),  # an audit tells it
        ("disk", WARN, WARN_FOR, "raise"),
        ("disk", WARN, WARN_FOR - SECOND, "wait"),
        ("embed", UNKNOWN, UNKNOWN_FOR, "raise"),
        ("embed", UNKNOWN, UNKNOWN_FOR - SECOND, "wait"),
        ("embed", Check("unknown", "", idle=True), WELL_FOR, "clear"),
        ("embed", OK, WELL_FOR, "clear"),
        ("embed", OK, WELL_FOR - SECOND, "wait"),
        ("canary", FAILED, HOUR, "wait"),
        ("tasks", FAILED, HOUR, "wait"),
        ("dagster", FAILED, HOUR, "wait"),
        ("dagster", UNKNOWN, HOUR, "raise"),
        ("watchdogs", WARN, HOUR, "raise"),
        ("watchdogs", FAILED, HOUR, "wait"),
    ],
)
def test_when_a_check_becomes_an_alert(name: str, check: Check, lasted: timedelta, verdict: str) -> None:
    """After its span, never twice for one thing, and clear only after it stayed well."""
    assert judge_alert(name, check, lasted, dagster_alarm=False) == verdict


@pytest.mark.parametrize("name", ["segment", "distill", "embed", "dedup", "dagster"])
def test_a_dead_dagster_is_told_once(name: str) -> None:
    """While watcher:dagster is open, the stages that stand because of it raise nothing; disk still does."""
    everything: Any = {"dagster_alarm": True}
    assert judge_alert(name, FAILED, HOUR, **everything) == "wait"
    assert judge_alert("disk", FAILED, HOUR, **everything) == "raise"
