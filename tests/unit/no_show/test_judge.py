"""The judgement of one occurrence, case by case."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus_memory.rules.no_show import (
    OVERRUN_MARGIN,
    RETRY_WAIT,
    Expectation,
    Facts,
    PauseFact,
    QueueFact,
    RunFact,
    Silence,
    describe,
    judge,
)

DUE = datetime(2027, 3, 1, 1, 0, tzinfo=UTC)
GRACE = timedelta(minutes=5)
EXPECTED = Expectation(DUE, DUE + GRACE, GRACE, timedelta(minutes=30), "UTC", "run", "expected")
MINUTE = timedelta(minutes=1)
WAITS = QueueFact("0a1b2c3d-0000", "QUEUED", DUE)


def status(facts: Facts, after: timedelta, expected: Expectation = EXPECTED) -> str:
    return judge(expected, facts, DUE + after).status


@pytest.mark.parametrize(
    ("facts", "within", "beyond"),
    [
        (Facts(), "expected", "missed"),
        (Facts(queue=WAITS), "queued", "late"),
        (Facts(queue=replace(WAITS, status="STARTED")), "queued", "late"),
        (Facts(queue=replace(WAITS, status="FAILURE")), "expected", "missed"),
        (Facts(queue=replace(WAITS, status="SUCCESS")), "expected", "missed"),
        (Facts(pause=PauseFact(DUE - MINUTE, None, "anna")), "paused", "paused"),
        (Facts(pause=PauseFact(DUE - MINUTE, None, "anna"), queue=WAITS), "queued", "late"),
        (Facts(busy_since=DUE - MINUTE), "expected", "skipped-overlap"),
        (Facts(off=Silence(DUE - MINUTE, DUE + MINUTE), newer_due=True), "expected", "missed"),
        (Facts(run=RunFact(1, DUE + MINUTE)), "started", "started"),
        (Facts(run=RunFact(1, DUE, DUE + MINUTE, "ok")), "ok", "ok"),
        (Facts(run=RunFact(1, DUE, DUE + MINUTE, "skipped", "nothing new")), "ok", "ok"),
        (Facts(run=RunFact(1, DUE, DUE + MINUTE, "failed")), "failed", "failed"),
        (Facts(run=RunFact(1, DUE, DUE + MINUTE, "timed-out")), "failed", "failed"),
        (Facts(run=RunFact(1, DUE, DUE + MINUTE, "orphaned", retries_left=2)), "failed", "failed"),
        (Facts(run=RunFact(1, DUE, DUE + MINUTE, "failed", retries_left=1)), "started", "started"),
    ],
)
def test_a_status_within_the_grace_and_beyond_it(facts: Facts, within: str, beyond: str) -> None:
    """Two minutes after it was due, and seven: the grace is five."""
    assert (status(facts, 2 * MINUTE), status(facts, 7 * MINUTE)) == (within, beyond)


def test_the_grace_ends_after_its_last_moment() -> None:
    """At the end of the grace it is still expected, a moment later it is missed."""
    assert status(Facts(), GRACE) == "expected"
    assert status(Facts(), GRACE + timedelta(microseconds=1)) == "missed"


def test_a_run_decides_over_everything_else() -> None:
    """A run that is there is started, even in a pause, behind another run, or after a silence."""
    facts = Facts(
        run=RunFact(1, DUE + MINUTE),
        queue=replace(WAITS, status="FAILURE"),
        pause=PauseFact(DUE, None, "anna"),
        busy_since=DUE,
        off=Silence(DUE, DUE),
        newer_due=True,
    )
    assert status(facts, 20 * MINUTE) == "started"


def test_overrunning_begins_after_the_runner_had_its_time_to_end_it() -> None:
    """max_runtime and the margin are counted from the start of the run."""
    facts = Facts(run=RunFact(1, DUE + MINUTE))
    limit = MINUTE + EXPECTED.max_runtime + OVERRUN_MARGIN
    assert status(facts, limit) == "started"
    assert status(facts, limit + timedelta(seconds=1)) == "overrunning"


@pytest.mark.parametrize("wrong_by", [timedelta(days=1), timedelta(days=-1)])
def test_a_reporter_whose_clock_is_wrong_by_a_day_does_not_overrun_or_come_late(wrong_by: timedelta) -> None:
    """A start outside of due … now is taken as the nearer end."""
    assert status(Facts(run=RunFact(1, DUE + wrong_by)), 2 * MINUTE) == "started"


def test_a_retry_that_never_comes_is_a_failure() -> None:
    """While Dagster has the next attempt in its queue it goes on; without one it fails after RETRY_WAIT."""
    run = RunFact(1, DUE, DUE + MINUTE, "failed", "exit code 2", retries_left=1)
    over = MINUTE + RETRY_WAIT + timedelta(seconds=1)
    assert status(Facts(run=run), over) == "failed"
    assert status(Facts(run=run, queue=WAITS), over) == "started"


def test_after_a_silence_the_latest_has_its_grace_anew_and_only_once() -> None:
    """The end of the grace is moved to the end of the silence and one grace; judged again it stays there."""
    facts = Facts(off=Silence(DUE - MINUTE, DUE + timedelta(hours=3)))
    first = judge(EXPECTED, facts, DUE + timedelta(hours=3))
    assert (first.status, first.start_by) == ("expected", DUE + timedelta(hours=3) + GRACE)
    again = judge(replace(EXPECTED, start_by=first.start_by), facts, first.start_by)
    assert again == first
    assert judge(replace(EXPECTED, start_by=first.start_by), facts, first.start_by + MINUTE).status == "missed"


def test_reasons_are_in_the_zone_of_the_task() -> None:
    """A person reads the wall clock of the task's zone."""
    berlin = replace(EXPECTED, timezone="Europe/Berlin")
    assert judge(berlin, Facts(), DUE + timedelta(hours=1)).reason == "no run had begun by 02:05"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-5, "0 s"),
        (59, "59 s"),
        (60, "1 min"),
        (3600, "1 h"),
        (11100, "3 h 5 min"),
        (86400, "1 d"),
        (190000, "2 d 4 h"),
    ],
)
def test_spans_have_two_units_at_most(seconds: int, words: str) -> None:
    """Spans in reasons are read, not counted."""
    assert describe(timedelta(seconds=seconds)) == words


moments = st.integers(-7200, 200_000).map(lambda seconds: DUE + timedelta(seconds=seconds))
runs = st.builds(
    RunFact,
    id=st.just(1),
    started_at=moments,
    finished_at=st.none() | moments,
    outcome=st.sampled_from(["ok", "failed", "timed-out", "skipped", "orphaned"]),
    retries_left=st.integers(0, 2),
)
all_facts = st.builds(
    Facts,
    run=st.none() | runs,
    queue=st.none()
    | st.builds(
        QueueFact, st.just("0a1b2c3d"), st.sampled_from(["QUEUED", "STARTED", "FAILURE", "CANCELED"]), moments
    ),
    pause=st.none() | st.builds(PauseFact, moments, st.none() | moments, st.just("anna")),
    busy_since=st.none() | moments,
    off=st.none() | st.just(Silence(DUE - MINUTE, DUE + timedelta(hours=1))),
    newer_due=st.booleans(),
    has_run=st.booleans(),
)


@given(all_facts, st.integers(0, 200_000))
def test_missed_only_when_nothing_explains_the_absence_and_always_then(facts: Facts, seconds: int) -> None:
    """missed exactly when no run is known, none waits, no pause, no overlap, and the grace is over."""
    now = DUE + timedelta(seconds=seconds)
    judged = judge(EXPECTED, facts, now)
    absent = facts.run is None and facts.pause is None and facts.busy_since is None
    absent = absent and not (facts.queue is not None and facts.queue.waits)
    end = EXPECTED.start_by
    if facts.off is not None and not facts.newer_due:
        end = DUE + timedelta(hours=1) + GRACE
    if absent:
        assert judged.status == ("missed" if now > end else "expected")
    else:
        assert judged.status != "missed"


@given(all_facts, st.integers(0, 200_000))
def test_every_final_judgement_but_a_plain_ok_has_a_reason(facts: Facts, seconds: int) -> None:
    """A person who sees anything but expected, queued, started or ok is told why, in words that have no break."""
    judged = judge(EXPECTED, facts, DUE + timedelta(seconds=seconds))
    if judged.status not in ("expected", "queued", "started", "ok"):
        assert judged.reason
        assert "\n" not in judged.reason
