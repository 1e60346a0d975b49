"""What a report of POST /runs means, and what is made of its clock."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus_memory.tasks.due_match import EARLY, match_due
from argus_memory.tasks.report_form import Refused, judge_times, read_report

NOW = datetime(2027, 3, 1, 6, 0, tzinfo=UTC)
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


def report(**fields: Any) -> Any:
    return read_report({"task": "watering", "event": "end", "exit_code": 0, **fields})


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"exit_code": 0}, ("end", "ok", 0)),
        ({"exit_code": 3}, ("end", "failed", 3)),
        ({"exit_code": 3, "outcome": "timed-out"}, ("end", "timed-out", 3)),
        ({"outcome": "ok"}, ("end", "ok", None)),
        ({"outcome": "skipped"}, ("skip", "skipped", None)),
        ({"event": "skip"}, ("skip", "skipped", None)),
        ({"event": "start"}, ("start", None, None)),
    ],
)
def test_event_and_outcome(fields: dict[str, Any], expected: tuple[Any, ...]) -> None:
    """Event, outcome and exit code each follow from what is given."""
    found = read_report({"task": "watering", **fields})
    assert (found.event, found.outcome, found.exit_code) == expected


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "task"),
        ({"task": 5, "event": "start"}, "task"),
        ({"task": "a"}, "event"),
        ({"task": "a", "event": "dance"}, "event"),
        ({"task": "a", "event": "end"}, "outcome"),
        ({"task": "a", "event": "start", "exit_code": 0}, "event"),
        ({"task": "a", "outcome": "ok", "exit_code": 2}, "outcome"),
        ({"task": "a", "outcome": "splendid"}, "outcome"),
        ({"task": "a", "outcome": "ok", "exit_code": 0.5}, "exit_code"),
        ({"task": "a", "outcome": "ok", "exit_code": True}, "exit_code"),
        ({"task": "a", "outcome": "ok", "exit_code": 2**40}, "exit_code"),
        ({"task": "a", "outcome": "ok", "at": "soon"}, "at"),
        ({"task": "a", "outcome": "ok", "started_at": []}, "started_at"),
        ({"task": "a", "outcome": "ok", "metrics": {"beds": "four"}}, "metrics.beds"),
        ({"task": "a", "outcome": "ok", "metrics": [1]}, "metrics"),
        ({"task": "a", "outcome": "ok", "cost_usd": -1}, "cost_usd"),
        ({"task": "a", "outcome": "ok", "stdout": 1}, "stdout"),
        ({"task": "a", "outcome": [], "exit_code": 0}, "outcome"),
    ],
)
def test_what_cannot_be_used_is_refused_by_field(body: dict[str, Any], field: str) -> None:
    """The sentence begins with the field."""
    with pytest.raises(Refused, match=f"^{field}: "):
        read_report(body)


def test_another_schedulers_name_of_a_run_is_always_the_same_run() -> None:
    """A UUID is kept; any other text becomes one that depends on task and text alone."""
    known = "0b9f5f0e-4c8b-4f7e-9a4c-2f3b8f6f1d11"
    assert report(rid=known).rid == known
    assert report(rid="build-17").rid == report(rid="build-17").rid != report(rid="build-18").rid


@pytest.mark.parametrize("off", [DAY, -DAY])
def test_a_clock_a_day_off_gives_our_time_and_says_so(off: timedelta) -> None:
    """The time of receipt stands for `at`, the run keeps its length, and the difference is told."""
    times = judge_times(report(at=(NOW + off).isoformat(), started_at=(NOW + off - HOUR).isoformat()), now=NOW)
    assert (times.at, times.started_at) == (NOW, NOW - HOUR)
    assert "1 day" in (times.note or "")


def test_a_clock_that_agrees_is_taken_at_its_word() -> None:
    """A report that was a minute on its way keeps its own times, and nothing is said."""
    times = judge_times(report(at=(NOW - MINUTE).isoformat(), started_at=(NOW - HOUR).isoformat()), now=NOW)
    assert (times.at, times.started_at, times.note) == (NOW - MINUTE, NOW - HOUR, None)


@pytest.mark.parametrize("off", [DAY, -DAY])
def test_a_start_alone_that_is_a_day_off_is_noticed(off: timedelta) -> None:
    """Without `at` the start is held against our time of receipt."""
    times = judge_times(report(started_at=(NOW + off).isoformat()), now=NOW)
    assert times.started_at == NOW
    assert times.note


@given(
    at=st.none() | st.timedeltas(-3 * DAY, 3 * DAY),
    start=st.none() | st.timedeltas(-3 * DAY, 3 * DAY),
)
def test_a_run_never_ends_before_it_starts_or_after_now(at: timedelta | None, start: timedelta | None) -> None:
    """Whatever the sender's clock says: started <= ended <= now."""
    fields = {}
    if at is not None:
        fields["at"] = (NOW + at).isoformat()
    if start is not None:
        fields["started_at"] = (NOW + start).isoformat()
    times = judge_times(report(**fields), now=NOW)
    assert times.started_at <= times.at <= NOW


DUES = [NOW, NOW + HOUR, NOW + 2 * HOUR]


@pytest.mark.parametrize(
    ("started_at", "taken", "expected"),
    [
        (NOW + MINUTE, [], NOW),
        (NOW - MINUTE, [], NOW),
        (NOW + HOUR - EARLY, [], NOW + HOUR),
        (NOW + 30 * MINUTE, [], NOW),  # late, and nothing else is near
        (NOW + HOUR + MINUTE, [NOW + HOUR], None),  # a second run of the same occurrence is none of the one before
        (NOW - 2 * MINUTE, [], None),
    ],
)
def test_a_run_belongs_to_the_nearest_occurrence(started_at: datetime, taken: list[datetime], expected: datetime | None) -> None:
    """Within the grace the nearest; past it the latest before; nothing that has its run already."""
    assert match_due(DUES, started_at, start_grace=5 * MINUTE, taken=taken) == expected


@given(st.integers(-120, 300), st.sets(st.sampled_from(DUES)))
def test_no_occurrence_gets_two_runs(minutes: int, taken: set[datetime]) -> None:
    """What is taken is never given again, and what is given is one of the dues."""
    found = match_due(DUES, NOW + minutes * MINUTE, start_grace=10 * MINUTE, taken=taken)
    assert found is None or (found in DUES and found not in taken)
