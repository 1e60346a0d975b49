"""A long job: when it goes on, when it stops, and what a stanza or a request asks for."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus_memory.errors import UsageError
from argus_memory.models.engines.records import EngineResult
from argus_memory.records import TaskSpec
from argus_memory.tasks.agent import AgentRequest, AgentResult
from argus_memory.tasks.agent_job import job_of_request, job_of_spec
from argus_memory.tasks.agent_loop import LoopResult, LoopRule, run_loop, says_done
from argus_memory.tasks.prompt_text import prompt_values, read_prompt

START = datetime(2026, 3, 4, 13, 0, tzinfo=UTC)


def answer(text: str = "going on", cost: float | None = 0.4) -> EngineResult:
    return EngineResult("ok", (), text=text, engine="claude", cost_usd=cost)


@dataclass
class Work:
    """Runs the given results in turn, a minute each."""

    results: list[EngineResult]
    at: datetime = START
    asked: list[AgentRequest] = field(default_factory=list)
    reports: list[int] = field(default_factory=list)

    def run(self, request: AgentRequest) -> AgentResult:
        self.asked.append(request)
        self.at += timedelta(minutes=1)
        return AgentResult(self.results[min(len(self.asked), len(self.results)) - 1])

    def loop(self, folder: Path, rule: LoopRule, minutes: float = 60) -> LoopResult:
        request = AgentRequest("build", "Build the shed.", folder, timedelta(minutes=minutes))
        return run_loop(request, rule, run=self.run, report=lambda turns, _: self.reports.append(len(turns)), clock=lambda: self.at)


def test_one_turn_is_the_prompt_alone(tmp_path: Path) -> None:
    """A job without a loop says nothing of turns."""
    work = Work([answer()])
    assert work.loop(tmp_path, LoopRule()).stopped == "turns"
    assert [request.prompt for request in work.asked] == ["Build the shed."]


def test_each_turn_knows_its_number_and_the_last_report(tmp_path: Path) -> None:
    """And a report goes out after each."""
    work = Work([answer("walls stand </argus-recalled-memory>"), answer("roof is on")])
    result = work.loop(tmp_path, LoopRule(turns=3))
    assert result.stopped == "turns"
    assert "turn 1 of at most 3" in work.asked[0].prompt
    assert "walls stand" in work.asked[1].prompt
    assert "roof is on" in work.asked[2].prompt
    assert [request.turn for request in work.asked] == [0, 1, 2]
    assert work.reports == [1, 2, 3]


@pytest.mark.parametrize("last", ['All done.\n{"done": true}', 'x\n```\n{"done": true, "why": "checked"}\n```', "SHED STANDS"])
def test_an_answer_may_end_it(tmp_path: Path, last: str) -> None:
    """By the JSON line or the phrase of the stanza."""
    work = Work([answer(), answer(last), answer()])
    result = work.loop(tmp_path, LoopRule(turns=9, phrase="SHED STANDS"))
    assert (result.stopped, len(result.turns)) == ("done", 2)


def test_a_command_may_end_it(tmp_path: Path) -> None:
    """It is asked after each turn, in the task's folder, and ends the loop when it exits 0."""
    work = Work([answer()])
    result = work.loop(tmp_path, LoopRule(turns=9, command="echo x >> tried; test $(wc -l < tried) -ge 3"))
    assert (result.stopped, len(result.turns)) == ("done", 3)


def test_the_budget_ends_it_and_shrinks_for_each_turn(tmp_path: Path) -> None:
    """What is left goes to the engine; a turn whose cost is not known makes the sum unknown."""
    work = Work([answer(cost=0.4)])
    result = work.loop(tmp_path, LoopRule(turns=9, budget_usd=1.0))
    assert (result.stopped, len(result.turns)) == ("budget", 3)
    assert [round(request.budget_usd or 0, 6) for request in work.asked] == [1.0, 0.6, 0.2]
    assert result.cost_known
    assert not Work([answer(cost=None)]).loop(tmp_path, LoopRule(turns=2, budget_usd=1.0)).cost_known


def test_time_a_cap_and_a_failure_end_it(tmp_path: Path) -> None:
    """Each by its name; what was done so far stays counted."""
    assert Work([answer()]).loop(tmp_path, LoopRule(turns=9), minutes=2).stopped == "time"
    capped = Work([answer(), EngineResult("capped", (), reason="limit")]).loop(tmp_path, LoopRule(turns=9))
    assert (capped.stopped, capped.done, capped.cost_known) == ("capped", 1, True)
    assert Work([EngineResult("infra", (), reason="529")]).loop(tmp_path, LoopRule(turns=9)).stopped == "failed"


@given(turns=st.integers(1, 12), costs=st.lists(st.none() | st.floats(0, 2), min_size=1, max_size=12), budget=st.none() | st.floats(0.01, 5))
def test_no_loop_goes_over_its_turns_or_starts_a_turn_without_budget(turns: int, costs: list[float | None], budget: float | None) -> None:
    """Whatever the engines cost."""
    work = Work([answer(cost=cost) for cost in costs])
    result = work.loop(Path("/"), LoopRule(turns=turns, budget_usd=budget))
    assert 1 <= len(result.turns) <= turns
    assert all(request.budget_usd is None or request.budget_usd > 0 for request in work.asked)


@pytest.mark.parametrize("text", ["", "done", '{"done": false}', '{"done": 1}', '{"done": true}\nbut not the roof', "[true]", "{"])
def test_what_is_no_sign_of_the_end(text: str) -> None:
    """Only the last line, an object, and `true`."""
    assert not says_done(text)


def spec(folder: Path, **changes: Any) -> TaskSpec:
    values: dict[str, Any] = {"name": "shed", "handler": "agent", "folder": folder, "file": folder / "config.ini", "line": 1, "prompt": "Build for {{WHO}}.", "env": {"WHO": "Kim"}, **changes}
    return TaskSpec(**values)


def test_a_stanza_becomes_a_job(tmp_path: Path) -> None:
    """Limits, engines, budget, loop and access come from its keys and env; the time leaves room for the report."""
    env = {"WHO": "Kim", "AGENT_ACCESS": "write", "AGENT_LOOP": "5", "AGENT_STOP_PHRASE": "STANDS", "AGENT_STOP_COMMAND": "true", "AGENT_PROJECT": "shed"}
    job = job_of_spec(spec(tmp_path, env=env, engines=("codex",), model=("m",), budget_usd=2.0, max_turns=30), {"ARGUS_TASK_RID": "r"})
    assert job.rule == LoopRule(5, 2.0, "STANDS", "true")
    assert (job.request.access, job.request.engines, job.request.models, job.request.project) == ("write", ("codex",), ("m",), "shed")
    assert (job.request.prompt, job.request.max_turns, job.request.rid) == ("Build for Kim.", 30, "r")
    assert job.request.time_limit == timedelta(hours=1) - timedelta(seconds=15)


@pytest.mark.parametrize("env", [{"AGENT_ACCESS": "root"}, {"AGENT_LOOP": "0"}, {"AGENT_LOOP": "many"}, {"AGENT_LOOP": "1001"}])
def test_a_bad_value_is_told_by_its_name(tmp_path: Path, env: dict[str, str]) -> None:
    """In one sentence, before any engine is asked."""
    with pytest.raises(UsageError, match=next(iter(env))):
        job_of_spec(spec(tmp_path, prompt="x", env=env), {})


def test_a_request_of_taskkit_becomes_a_job(tmp_path: Path) -> None:
    """The task and the run are those of the process it is asked from."""
    data = {"prompt": "p", "engines": "codex", "model": ["m"], "access": "none", "max_turns": 3, "budget_usd": 1, "loop": 2, "stop_phrase": "END", "capture": False, "timeout_seconds": 60}
    job = job_of_request(data, {"ARGUS_TASK": "garden", "ARGUS_TASK_RID": "r"}, tmp_path)
    assert (job.request.task, job.request.rid, job.request.engines, job.request.models) == ("garden", "r", ("codex",), ("m",))
    assert (job.request.time_limit, job.request.capture, job.rule) == (timedelta(seconds=60), False, LoopRule(2, 1.0, "END", None))


@pytest.mark.parametrize(
    "data",
    [[], {}, {"prompt": 3}, {"prompt": ""}, {"prompt": "p", "engine": "x"}, {"prompt": "p", "engines": "grok"}, {"prompt": "p", "budget_usd": -1},
     {"prompt": "p", "max_turns": "3"}, {"prompt": "p", "model": [3]}, {"prompt": "p", "loop": 1.5}, {"prompt": "p", "access": "root"}],
)  # fmt: skip
def test_a_bad_request_is_refused_in_a_sentence(tmp_path: Path, data: object) -> None:
    """Naming what is wrong; nothing is started."""
    with pytest.raises(UsageError):
        job_of_request(data, {}, tmp_path)


def test_a_prompt_may_be_a_file_with_variables(tmp_path: Path) -> None:
    """Below the task's folder; the stanza's env and what the runner gives can be named, nothing else."""
    (tmp_path / "prompt.md").write_text("For {{WHO}}, due {{ ARGUS_TASK_DUE_AT }}: {not this} {{WHO}}")
    values = prompt_values({"ARGUS_TASK_DUE_AT": "noon", "ARGUS_DATABASE_URL": "secret"}, {"WHO": "Kim {{X}}"})
    assert read_prompt("file:prompt.md", tmp_path, values) == "For Kim {{X}}, due noon: {not this} Kim {{X}}"
    with pytest.raises(UsageError, match="ARGUS_DATABASE_URL"):
        read_prompt("{{ARGUS_DATABASE_URL}}", tmp_path, values)


@pytest.mark.parametrize("prompt", [None, "", "  ", "file:none.md", "file:../outside.md", "file:", "file:bad.md"])
def test_a_prompt_that_cannot_be_used_is_told(tmp_path: Path, prompt: str | None) -> None:
    """Empty, away, outside the folder, a folder, not UTF-8."""
    (tmp_path / "task").mkdir()
    (tmp_path / "outside.md").write_text("x")
    (tmp_path / "task" / "bad.md").write_bytes(b"\xff")
    with pytest.raises(UsageError):
        read_prompt(prompt, tmp_path / "task", {})
