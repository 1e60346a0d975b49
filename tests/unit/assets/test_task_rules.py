"""The pure rules behind tasks in Dagster: tags, intervals on the clock, answers of checks, events of an outcome."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import dagster as dg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus_assets.defs.tasks.body import events_of, metadata_of
from argus_assets.defs.tasks.intervals import due_since, last_multiple, tick_intervals
from argus_assets.defs.tasks.schedules import told_pause
from argus_assets.defs.tasks.tags import attempt_of, due_of, due_tags, due_text, starter_of
from argus_memory.records import BrokenTask, Outcome, RunResult, TaskList, TaskSpec
from argus_memory.rules.cron import occurrences, parse_schedule
from argus_memory.tasks.registry import Pause
from argus_memory.watch.task_checks import CheckState, checks_of, judge_config, judge_rows

NOW = datetime(2026, 3, 2, 12, 0, 7, tzinfo=UTC)
SPEC = TaskSpec("sweep", "code", Path("/t/sweep"), Path("/t/config.ini"), 3, command="true", schedule="@every 90m")
SPAN = timedelta(minutes=90)
SPANS = st.integers(min_value=1, max_value=60 * 24 * 8).map(lambda minutes: timedelta(minutes=minutes))
MOMENTS = st.datetimes(datetime(1999, 1, 1), datetime(2050, 1, 1), timezones=st.just(UTC))


# --- tags ----------------------------------------------------------------------------------------------------
def test_a_due_time_survives_the_way_through_a_tag() -> None:
    """The tag is UTC in whole seconds with its offset, and reads back as the same moment."""
    due = NOW.replace(second=0)
    assert due_text(due) == "2026-03-02T12:00:00+00:00"
    assert due_of(due_tags(SPEC, due, NOW)) == due
    assert due_of({}) is None


@pytest.mark.parametrize(
    ("minutes", "starter"), [(0, "schedule"), (4, "schedule"), (5, "schedule"), (5.1, "catch-up"), (2880, "catch-up")]
)
def test_what_is_asked_for_after_its_grace_is_a_catch_up(minutes: float, starter: str) -> None:
    """Within the grace a run is scheduled; asked for later it makes up for a time when nobody asked."""
    due = NOW - timedelta(minutes=minutes)
    assert starter_of(due_tags(SPEC, due, NOW)) == starter


def test_a_run_that_a_person_starts_again_is_a_persons() -> None:
    """A run started again keeps the first one's tags; only Dagster's own stand-in stays what the first was."""
    tags = due_tags(SPEC, NOW, NOW)
    again = {**tags, "dagster/parent_run_id": "x"}
    assert starter_of(again) == "person"
    assert starter_of({**again, "dagster/retry_number": "1"}) == "schedule"
    assert starter_of({}) == "person"


def test_attempts_count_on_over_stand_in_runs() -> None:
    """A retry within a run and a run in place of a dead one are both the next attempt."""
    assert attempt_of({}, 0) == 0
    assert attempt_of({}, 2) == 2
    assert attempt_of({"dagster/retry_number": "1"}, 1) == 2


# --- intervals -----------------------------------------------------------------------------------------------
@given(SPANS, MOMENTS)
def test_multiples_are_those_of_the_ledger(span: timedelta, now: datetime) -> None:
    """What the sensor asks for is what the ledger expects: the last occurrence of the same schedule."""
    minutes = int(span.total_seconds() // 60)
    expected = list(occurrences(parse_schedule(f"@every {minutes}m"), "UTC", now - span, now))
    assert [last_multiple(span, now)] == expected


@given(SPANS, MOMENTS, st.lists(st.floats(min_value=0.1, max_value=400), min_size=1, max_size=60))
def test_no_interval_is_left_out_or_asked_for_twice(span: timedelta, start: datetime, steps: list[float]) -> None:
    """Ticks at any pace ask for each due time at most once, in order, and for the last one always."""
    specs = {"sweep": (SPEC, span)}
    cursor, now, asked = start.isoformat(), start, []
    for step in steps:
        now += timedelta(seconds=step)
        result = tick_intervals(specs, {}, cursor, now)
        asked += [request.tags["argus/due_at"] for request in result.run_requests or []]
        cursor = result.cursor or ""
    assert asked == sorted(set(asked))
    due = [
        due_text(at)
        for at in occurrences(parse_schedule(f"@every {int(span.total_seconds() // 60)}m"), "UTC", start, now)
    ]
    if span >= timedelta(seconds=400):
        assert asked == due
    assert asked[-1:] == due[-1:]


def test_the_first_tick_asks_for_nothing() -> None:
    """A sensor that was never there begins with the next due time."""
    result = tick_intervals({"sweep": (SPEC, SPAN)}, {}, None, NOW)
    assert not result.run_requests
    assert result.cursor == NOW.isoformat()


def test_after_two_days_asleep_the_last_time_alone_is_asked_for() -> None:
    """As with cron: one catch-up run, whatever was missed before it is the ledger's to tell."""
    result = tick_intervals({"sweep": (SPEC, SPAN)}, {}, (NOW - timedelta(days=2)).isoformat(), NOW)
    (request,) = result.run_requests or []
    assert request.run_key == f"sweep@{due_text(last_multiple(SPAN, NOW))}"
    assert request.asset_selection == [dg.AssetKey(["task", "sweep"])]


def test_a_clock_that_steps_back_asks_again_with_the_same_key() -> None:
    """A cursor ahead of the clock does not silence the sensor until the clock gets there; keys keep runs single."""
    specs = {"sweep": (SPEC, SPAN)}
    ahead = tick_intervals(specs, {}, (NOW + timedelta(days=1)).isoformat(), NOW)
    assert not ahead.run_requests
    assert due_since(specs, datetime.fromisoformat(ahead.cursor or ""), NOW + SPAN)


def test_a_paused_interval_is_passed_over() -> None:
    """Nothing is asked for in a pause, and the tick says until when and by whom."""
    pause = Pause(1, "sweep", NOW, NOW + timedelta(hours=3), "ann", "moving house")
    result = tick_intervals({"sweep": (SPEC, SPAN)}, {"sweep": pause}, (NOW - SPAN).isoformat(), NOW)
    assert not result.run_requests
    assert result.skip_reason
    assert str(result.skip_reason.skip_message) == "sweep is paused by ann until 2026-03-02 15:00 UTC: moving house"
    assert told_pause(replace(pause, until_at=None, reason=None)) == "paused by ann until it is resumed"


# --- checks --------------------------------------------------------------------------------------------------
ROW: dict[str, Any] = {
    "name": "sweep", "status": None, "due_at": NOW, "due_reason": None, "rid": uuid4(), "outcome": None,
    "run_reason": None, "finished_at": NOW, "tools_known": False, "tool_errors": None,
}  # fmt: skip


def judged(agents: set[str] = frozenset(), **values: Any) -> list[CheckState]:  # type: ignore[assignment]
    return list(judge_rows([{**ROW, **values}], set(agents)))


def test_what_nothing_is_known_of_has_no_answer() -> None:
    """A task that was never due and never ran is neither on time nor late, neither well nor failing."""
    assert judged() == []


@pytest.mark.parametrize(
    ("status", "passed", "severity"),
    [
        ("ok", True, "error"),
        ("started", True, "error"),
        ("failed", True, "error"),
        ("late", False, "warn"),
        ("missed", False, "error"),
        ("overrunning", False, "error"),
    ],
)
def test_on_time_is_about_time_alone(status: str, passed: bool, severity: str) -> None:
    """A run that failed came on time; a missed, late or overrunning one did not, and says when it was due."""
    (state,) = judged(status=status, due_reason="no run is known")
    assert (state.check, state.passed, state.severity) == ("on_time", passed, severity)
    assert "due 2026-03-02 12:00 UTC" in state.reason


@pytest.mark.parametrize("outcome", ["ok", "failed", "timed-out", "orphaned"])
def test_succeeding_is_about_the_end(outcome: str) -> None:
    """Only a run that ended well passes; the reason stands in the answer."""
    (state,) = judged(outcome=outcome, run_reason="no bread")
    assert (state.check, state.passed) == ("succeeding", outcome == "ok")
    assert "no bread" in state.reason


def test_a_tool_that_did_not_load_fails_an_agents_check() -> None:
    """Each server that did not load is named, whichever form the engine reports it in; others have no such check."""
    errors = [{"name": "metamcp", "error": "connection refused"}, {"server": "notes"}, "odd"]
    values = {"outcome": "ok", "tools_known": True, "tool_errors": errors}
    state = judged({"sweep"}, **values)[-1]
    assert (state.check, state.passed) == ("tools_loaded", False)
    assert "metamcp (connection refused); notes; odd" in state.reason
    assert judged({"sweep"}, outcome="ok", tools_known=True)[-1].passed
    assert [state.check for state in judged(**values)] == ["succeeding"]


def test_a_broken_stanza_has_its_check_alone() -> None:
    """It fails with the sentence that names file, line, problem and cure."""
    broken = BrokenTask("odd", Path("/t/config.ini"), 7, "no such key `cron`", "write `schedule`")
    tasks = TaskList((SPEC,), (broken,))
    assert checks_of(tasks) == {"sweep": ("on_time", "succeeding", "config_valid"), "odd": ("config_valid",)}
    assert [(state.task, state.passed, state.reason) for state in judge_config(tasks)] == [
        ("sweep", True, "its stanza can be used"),
        ("odd", False, "config.ini:7: no such key `cron`; write `schedule`"),
    ]


# --- events --------------------------------------------------------------------------------------------------
def result_of(outcome: Outcome, **values: Any) -> RunResult:
    return RunResult("rid", "sweep", outcome, NOW, NOW + timedelta(seconds=2.5), **values)


def test_an_unknown_cost_is_absent_and_a_known_one_of_nothing_is_told() -> None:
    """Unknown is never shown as 0, and 0 is never left out."""
    assert "cost (USD)" not in metadata_of(result_of("ok"))
    assert metadata_of(result_of("ok", cost_usd=0.0))["cost (USD)"] == 0.0
    assert metadata_of(result_of("ok"))["seconds"] == 2.5


@given(st.text(alphabet="`a\n ", min_size=1, max_size=60).filter(str.strip))
def test_no_output_ends_its_own_block(tail: str) -> None:
    """The fence around a tail is longer than any run of backticks in it."""
    shown = metadata_of(result_of("ok", stdout_tail=tail, stdout_bytes=len(tail)))["stdout"].value
    fence = shown.split("\n")[0]
    assert set(fence) == {"`"}
    assert fence not in tail


@pytest.mark.parametrize("outcome", ["failed", "timed-out", "orphaned", "overrunning"])
def test_whatever_is_not_well_makes_the_run_red(outcome: Outcome) -> None:
    """The checks are told before the failure is raised, and its text is the reason."""
    state = CheckState("sweep", "succeeding", False, "no bread")
    events = events_of(SPEC, result_of(outcome, reason="no bread"), [state], {})
    told = next(events)
    assert isinstance(told, dg.AssetCheckEvaluation)
    with pytest.raises(dg.Failure, match=f"sweep {outcome}: no bread"):
        next(events)


def test_well_and_skipped() -> None:
    """A run that is well materializes, with what its code reported under its own figures; a skipped one does not."""
    (made,) = events_of(SPEC, result_of("ok"), [], {"rows": 4, "outcome": "mine"})
    assert isinstance(made, dg.MaterializeResult)
    assert made.metadata
    assert (made.metadata["rows"], made.metadata["outcome"]) == (4, "ok")
    (seen,) = events_of(SPEC, result_of("skipped", reason="nothing new"), [], {})
    assert isinstance(seen, dg.AssetObservation)
    assert seen.description == "nothing new"
