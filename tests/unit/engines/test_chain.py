"""The order of engines: who is asked, who is left alone, what it all comes to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from argus_memory.models.engines.chain import COOL_DOWN, REST_MAX, REST_MIN, rest_until, run_chain
from argus_memory.models.engines.records import (
    Attempt,
    EngineRequest,
    EngineResult,
    EngineState,
    McpError,
    Verdict,
)

START = datetime(2026, 3, 4, 13, 0, tzinfo=UTC)
REQUEST = EngineRequest("p", "s", Path("/"), timedelta(minutes=10), "task/garden")
CAP = Verdict("capped", reason="limit", reset_at=START + timedelta(hours=2))
OK = Verdict("ok", text="done", cost_usd=0.5, model="m")
INFRA = Verdict("infra", reason="529", cost_usd=0.1)
LOGGED_OUT = Verdict("infra", reason="please log in", configuration=True)


@dataclass
class Clock:
    at: datetime = START

    def __call__(self) -> datetime:
        return self.at


@dataclass
class Fake:
    """An engine that gives these verdicts in turn, each after `takes`."""

    name: str
    verdicts: list[Verdict]
    clock: Clock
    absent: str | None = None
    takes: timedelta = timedelta(seconds=30)
    asked: list[EngineRequest] = field(default_factory=list)

    def why_not(self, request: EngineRequest) -> str | None:
        return self.absent

    def run(self, request: EngineRequest, *, now: Callable[[], datetime]) -> Verdict:
        self.asked.append(request)
        self.clock.at += self.takes
        return self.verdicts[min(len(self.asked), len(self.verdicts)) - 1]


@dataclass
class States:
    known: dict[str, EngineState] = field(default_factory=dict)

    def find(self, engine: str) -> EngineState:
        return self.known.get(engine, EngineState())

    def cap(self, engine: str, until: datetime, reason: str, *, now: datetime) -> None:
        self.known[engine] = EngineState(until, reason)

    def clear(self, engine: str, *, now: datetime) -> None:
        self.known.pop(engine, None)


class World:
    """Engines by what they do; a str is the reason an engine cannot be asked for."""

    def __init__(self, **does: Verdict | list[Verdict] | str) -> None:
        self.clock, self.states = Clock(), States()
        self.rows: list[Attempt] = []
        self.engines = [
            Fake(name, [], self.clock, absent=what)
            if isinstance(what, str)
            else Fake(name, what if isinstance(what, list) else [what], self.clock)
            for name, what in does.items()
        ]

    def run(self, request: EngineRequest = REQUEST) -> EngineResult:
        self.rows.clear()
        return run_chain(request, engines=self.engines, state=self.states, record=self.rows.append, now=self.clock)

    @property
    def steps(self) -> list[tuple[str, str, str | None]]:
        return [(row.engine, row.verdict.outcome, row.next_engine) for row in self.rows]


def test_the_first_engine_that_answers_ends_it() -> None:
    """Those behind it are not asked and leave no row."""
    world = World(claude=OK, codex=OK)
    result = world.run()
    assert (result.outcome, result.engine, result.text, result.cost_usd) == ("ok", "claude", "done", 0.5)
    assert world.steps == [("claude", "ok", None)]
    assert not world.engines[1].asked


def test_a_capped_engine_is_left_alone_until_its_reset() -> None:
    """The next one does the job; the second run does not ask the capped one; after the reset it is asked again."""
    world = World(claude=[CAP, OK], codex=OK)
    assert world.run().engine == "codex"
    assert world.steps == [("claude", "capped", "codex"), ("codex", "ok", None)]
    assert world.run().engine == "codex"
    assert world.steps == [("claude", "left-alone", "codex"), ("codex", "ok", None)]
    assert "capped until 2026-03-04 15:00 UTC: limit" in (world.rows[0].verdict.reason or "")
    world.clock.at = START + timedelta(hours=2)
    assert world.run().engine == "claude"
    assert world.states.known == {}


def test_an_engine_that_is_not_installed_is_left_alone_with_the_reason() -> None:
    """It leaves a row and stops nothing."""
    world = World(claude="not installed", codex=INFRA, api=OK)
    result = world.run()
    assert result.engine == "api"
    assert world.steps == [("claude", "left-alone", "codex"), ("codex", "infra", "api"), ("api", "ok", None)]


def test_all_capped_is_no_failure_and_names_the_earliest_reset() -> None:
    """Capped, left alone as capped and not installed: the outcome is capped."""
    later = Verdict("capped", reason="weekly", reset_at=START + timedelta(hours=9))
    world = World(claude=CAP, codex=later, api="not configured")
    result = world.run()
    assert (result.outcome, result.reset_at) == ("capped", CAP.reset_at)
    assert "weekly" in str(result.reason)
    assert "not configured" in str(result.reason)
    assert world.run().outcome == "capped"
    assert [row.verdict.outcome for row in world.rows] == ["left-alone"] * 3


def test_a_cap_without_a_time_cools_down_and_says_until_when() -> None:
    """The row's reset is the end of the rest."""
    world = World(codex=Verdict("capped", reason="limit"))
    assert world.run().reset_at == world.clock.at + COOL_DOWN["codex"]


def test_a_failure_beside_a_cap_is_a_failure() -> None:
    """Only caps and absences make a capped run; a failed engine failed."""
    assert World(claude=CAP, codex=INFRA).run().outcome == "infra"
    assert World(claude=INFRA, codex=CAP).run().outcome == "infra"


def test_logged_out_goes_on_to_the_next_and_is_for_a_person() -> None:
    """Alone it is a configuration problem; beside a cap the run is capped; with an answer it is ok."""
    assert World(claude=LOGGED_OUT).run().outcome == "configuration"
    assert World(claude=LOGGED_OUT, codex=CAP).run().outcome == "capped"
    assert World(claude=LOGGED_OUT, codex=OK).run().outcome == "ok"
    assert World(claude="not installed").run().outcome == "configuration"
    assert World().run().outcome == "configuration"


def test_used_up_limits_of_the_job_end_the_chain() -> None:
    """Another engine would begin from scratch against them."""
    world = World(claude=Verdict("content", reason="turns", final=True), codex=OK)
    assert world.run().outcome == "content"
    assert not world.engines[1].asked


def test_what_is_left_of_the_time_is_given_to_the_next() -> None:
    """The limit is of the whole chain; when it is over nobody else is asked."""
    world = World(claude=INFRA, codex=INFRA, api=OK)
    world.engines[1].takes = timedelta(minutes=9, seconds=30)
    assert world.run().outcome == "infra"
    assert world.engines[1].asked[0].time_limit == timedelta(minutes=9, seconds=30)
    assert not world.engines[2].asked


def test_an_unknown_cost_makes_the_sum_unknown() -> None:
    """A refused request costs nothing; any other attempt without a figure leaves the sum unknown, never 0."""
    assert World(claude=CAP, codex=OK).run().cost_usd == 0.5
    assert World(claude=INFRA, codex=OK).run().cost_usd == 0.6
    assert World(claude=INFRA, codex=Verdict("ok", text="x")).run().cost_usd is None
    assert World(claude=Verdict("infra", reason="gone"), codex=OK).run().cost_usd is None
    assert World(claude=CAP).run().cost_usd is None


def test_servers_that_were_not_there_are_those_of_the_engine_that_answered() -> None:
    """With the entries no engine could load; without an answer, those of every engine."""
    mine = (McpError("tools", "its status is failed"),)
    answered = World(claude=Verdict("infra", reason="x", mcp_errors=mine), codex=OK)
    assert answered.run().mcp_errors == ()
    assert World(claude=Verdict("infra", reason="x", mcp_errors=mine)).run().mcp_errors == mine
    bad = McpError("old", "has no type")
    request = EngineRequest("p", "s", Path("/"), timedelta(minutes=1), "task/x", mcp_problems=(bad,))
    assert answered.run(request).mcp_errors == (bad,)


@given(ahead=st.none() | st.timedeltas(timedelta(days=-2), timedelta(days=40)), engine=st.sampled_from(["claude", "codex", "api"]))
def test_no_engine_rests_for_ever_or_not_at_all(ahead: timedelta | None, engine: str) -> None:
    """Between a minute and a day, exactly the reset where that lies between."""
    until = rest_until(engine, None if ahead is None else START + ahead, START)
    assert START + REST_MIN <= until <= START + REST_MAX
    if ahead is not None and REST_MIN <= ahead <= REST_MAX:
        assert until == START + ahead
