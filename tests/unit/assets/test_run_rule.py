"""When a run starts: the pure rule behind the sensor."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus_memory.settings import EMBED_BATCH
from argus_memory.watch.pending import EMBED_PAUSE, FREE_PASSES, PendingWork, decide_run

NOW = datetime(2026, 3, 2, 12, 0, 5, tzinfo=UTC)
NOTHING = PendingWork(
    tails_due=0, tails_urgent=0, tails_newest=None, tails_oldest=None, tails_key=None, tails_open=2,
    units_due=0, units_newest=None, units_oldest=None, units_key=None, units_later=0, units_next_at=None,
    units_parked=0, turns_queued=0, turns_since=None, notes_queued=0, notes_newest=None, embed_attempts=0,
    embed_parked=0, unspaced_since=None, notes_undeduped=0, undeduped_newest=None, embedded_at=None, passes_lately=0,
    raw_id=0, captured={}, injection_id=0, recalled=0,
)  # fmt: skip
TAIL = replace(NOTHING, tails_due=1, tails_urgent=1, tails_newest=NOW, tails_oldest=NOW, tails_key="a")
UNIT = replace(NOTHING, units_due=1, units_newest=NOW, units_oldest=NOW, units_key="a")


def waiting_turns(count: int, minutes: float) -> PendingWork:
    return replace(NOTHING, turns_queued=count, turns_since=NOW - timedelta(minutes=minutes))


def test_nothing_to_do_is_said_aloud() -> None:
    """Without work there is no run, and the reason says pending=0 and what is there but not due."""
    work = replace(NOTHING, units_later=3, units_next_at=NOW + timedelta(minutes=5), units_parked=1, embed_parked=4)
    decision = decide_run(work, NOW)
    assert decision.run_key is None
    assert decision.reason == (
        "pending=0: 2 open tails, none due, 3 units to be tried later, next at 12:05:05 UTC, 1 units parked,"
        " 4 items that cannot be embedded"
    )


@pytest.mark.parametrize(
    ("work", "reason"),
    [
        (TAIL, "1 tails due to close"),
        (UNIT, "1 units to distill"),
        (waiting_turns(3, 10), "3 turns without vector for 10 min"),
        (
            replace(NOTHING, unspaced_since=NOW - timedelta(hours=1)),
            "the first turns without vector for 60 min",
        ),
        (replace(NOTHING, notes_queued=2, notes_newest=7), "2 notes without vector"),
        (replace(NOTHING, notes_undeduped=2, undeduped_newest=7), "2 notes not deduplicated"),
    ],
)
def test_each_kind_of_work_starts_a_run(work: PendingWork, reason: str) -> None:
    """A due tail, a due unit, patient turns, and notes to embed or to compare each start a run, and say so."""
    decision = decide_run(work, NOW)
    assert decision.run_key
    assert decision.reason == reason


def test_turns_wait_ten_minutes_for_company() -> None:
    """Turns that lack only their vectors start no run in their first ten minutes."""
    assert decide_run(waiting_turns(EMBED_BATCH * 10, 9.9), NOW).run_key is None


def test_few_turns_leave_a_pause_after_a_pass() -> None:
    """On a day with many passes less than a batch of turns starts no run soon after the last; a full batch does."""
    just_now = {"embedded_at": NOW - EMBED_PAUSE + timedelta(seconds=1), "passes_lately": FREE_PASSES}
    assert decide_run(replace(waiting_turns(EMBED_BATCH - 1, 12), **just_now), NOW).run_key is None
    assert decide_run(replace(waiting_turns(EMBED_BATCH, 12), **just_now), NOW).run_key
    assert decide_run(
        replace(waiting_turns(1, 12), embedded_at=NOW - EMBED_PAUSE, passes_lately=FREE_PASSES), NOW
    ).run_key
    quiet_day = {**just_now, "passes_lately": FREE_PASSES - 1}
    assert decide_run(replace(waiting_turns(1, 12), **quiet_day), NOW).run_key


def test_a_silent_tail_waits_for_company() -> None:
    """A tail that is due by silence alone, and only just, starts no run; with other work it is part of the run."""
    silent = replace(TAIL, tails_urgent=0)
    decision = decide_run(silent, NOW)
    assert decision.run_key is None
    assert "1 fell silent and wait for company" in decision.reason
    assert decide_run(replace(silent, units_due=1, units_key="a", units_oldest=NOW), NOW).run_key


def test_the_same_work_gives_the_same_key() -> None:
    """Asked again within minutes about unchanged work, the key stays, so that Dagster starts no second run."""
    assert decide_run(TAIL, NOW) == decide_run(TAIL, NOW + timedelta(minutes=9))


@pytest.mark.parametrize(
    "changed",
    [
        replace(TAIL, tails_key="b"),
        replace(TAIL, units_due=1, units_key="a", units_oldest=NOW),
        replace(TAIL, notes_queued=1, notes_newest=1),
        replace(TAIL, notes_undeduped=1, undeduped_newest=1),
    ],
)
def test_other_work_gives_another_key(changed: PendingWork) -> None:
    """A tail that went on, or any further work, is a run of its own."""
    assert decide_run(changed, NOW).run_key != decide_run(TAIL, NOW).run_key


def test_work_that_a_run_left_is_tried_again() -> None:
    """Unchanged work is tried again ten minutes later, and once an hour when it has waited for long."""
    old = replace(TAIL, tails_oldest=NOW - timedelta(hours=3))
    assert decide_run(TAIL, NOW + timedelta(minutes=10)).run_key != decide_run(TAIL, NOW).run_key
    assert decide_run(old, NOW + timedelta(minutes=50)).run_key == decide_run(old, NOW).run_key
    assert decide_run(old, NOW + timedelta(minutes=60)).run_key != decide_run(old, NOW).run_key


@given(st.integers(0, 5), st.integers(0, 5), st.integers(0, 5), st.integers(0, 5))
def test_a_run_exactly_when_something_is_due(tails: int, units: int, queued: int, undeduped: int) -> None:
    """Whatever waits together, there is a key exactly when one of them is due, and the counts are in the reason."""
    work = replace(
        NOTHING, tails_due=tails, tails_urgent=tails, units_due=units, notes_queued=queued, notes_undeduped=undeduped
    )
    decision = decide_run(work, NOW)
    assert (decision.run_key is not None) == bool(tails or units or queued or undeduped)
    for count, words in ((tails, "tails due"), (units, "units to"), (queued, "notes without")):
        assert (f"{count} {words}" in decision.reason) == bool(count)
