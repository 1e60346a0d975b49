"""What the overview says of the whole and of each hour."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from argus_memory.tasks.overview import LastRun, TaskRow
from argus_memory.upkeep.pages.overview import (
    HOURS,
    ROWS,
    Overview,
    Row,
    carry,
    judge_recall,
    judge_watcher,
    next_first,
)
from argus_memory.watch.beats import DAGSTER, SENDER, WATCHDOG, Beat
from argus_memory.watch.health_judge import Check

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def page(is_down: bool = False, **checks: Check) -> Overview:
    rows = tuple(Row(name, group, "", checks.get(name, Check("ok", "")), ()) for name, group, _ in ROWS)
    return Overview(rows, (), (), is_down)


def beat(watcher: str, age: float, *, since: float = 9000) -> Beat:
    return Beat(watcher, NOW - timedelta(seconds=age), NOW - timedelta(seconds=since), "hub", 1, 41.0, {})


def test_the_headline_is_one_sentence() -> None:
    """Well, one thing, more things the worst first, down; idle ones are well."""
    assert page().headline == "All is well"
    assert page(hooks=Check("unknown", "", idle=True)).headline == "All is well"
    assert page(disk=Check("warn", "")).headline == "1 thing needs a look: disk"
    wrong = page(capture=Check("unknown", ""), distill=Check("warn", ""), outbox=Check("failed", ""))
    assert wrong.headline == "3 things need a look: outbox, distill, capture"
    down = page(is_down=True, database=Check("failed", ""), capture=Check("unknown", ""))
    assert down.headline == "Argus is down: database failed, nothing can be captured"


def test_an_hour_goes_on_as_the_one_before_ended_but_silence_is_no_state() -> None:
    """A sample an hour is enough; two hours without one mean that nobody looked."""
    rows = [
        {"hours_ago": 10, "worst": "failed", "last": "ok"},
        {"hours_ago": HOURS, "worst": "warn", "last": "warn"},
    ]
    found = carry(rows)
    assert found == {HOURS - 1: "warn", 10: "failed", 9: "ok"}


def test_each_watchdog_is_judged_by_its_own_beats() -> None:
    """One that is silent is failed whatever the other does; at the start it is not yet."""
    both = {WATCHDOG: beat(WATCHDOG, 5), DAGSTER: beat(DAGSTER, 600)}
    assert judge_watcher(both, "watchdog", NOW).status == "ok"
    assert judge_watcher(both, "dagster-watchdog", NOW).status == "failed"
    starting = {WATCHDOG: beat(WATCHDOG, 5, since=30), DAGSTER: beat(DAGSTER, 600)}
    assert judge_watcher(starting, "dagster-watchdog", NOW) == Check(
        "unknown", "the hub has just started, it has not beaten yet", NOW - timedelta(seconds=600), idle=True
    )
    assert judge_watcher({SENDER: beat(SENDER, 5)}, "watchdog", NOW).is_well
    assert judge_watcher({DAGSTER: beat(DAGSTER, 5)}, "watchdog", NOW).status == "failed"


def test_recalls_are_well_unless_a_track_is_missing_from_most() -> None:
    """Finding nothing is no fault; going by keywords alone is."""
    last = NOW - timedelta(minutes=5)
    assert judge_recall(0, 0, 0, None, None, now=NOW).idle
    assert judge_recall(0, 0, 0, None, last, now=NOW).status == "ok"
    assert judge_recall(20, 0, 20, 80.0, last, now=NOW).status == "ok"
    assert judge_recall(20, 11, 0, 80.0, last, now=NOW).status == "warn"
    assert judge_recall(4, 4, 0, 80.0, last, now=NOW).status == "ok"


def test_tasks_that_went_wrong_come_first() -> None:
    """Then those that are due next; one without a schedule last."""

    def ran(outcome: str) -> LastRun:
        return LastRun("r", outcome, NOW, NOW, "schedule", None)

    rows = [
        TaskRow("by-hand", "by hand"),
        TaskRow("soon", "scheduled", next_due=NOW + timedelta(minutes=1), last=ran("ok")),
        TaskRow("late", "scheduled", next_due=NOW + timedelta(hours=1), last=ran("timed-out")),
        TaskRow("bad", "broken", problem="config.ini:3: no"),
    ]
    assert [row.name for row in next_first(rows, NOW)] == ["late", "bad", "soon", "by-hand"]
