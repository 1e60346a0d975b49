"""run_agent on a real database: attempts, states, alerts, the captured answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from argus_memory.db import Database
from argus_memory.errors import UsageError
from argus_memory.rules.fence import fence
from argus_memory.settings import Settings
from argus_memory.stages.engine_books import find_attempts, find_states
from argus_memory.tasks.agent import AgentRequest, run_agent
from tests.stubs.engines.recordings import GOOD
from tests.stubs.llm_server import LlmServer

Job = Callable[..., AgentRequest]


def steps(db: Database, request: AgentRequest) -> list[tuple[str, str, str | None]]:
    return [(row["engine"], row["outcome"], row["next_engine"]) for row in find_attempts(db, str(request.rid))]


def subjects(db: Database) -> list[str]:
    return [row["subject"] for row in db.fetch_all("select subject from alerts where closed_at is null order by id")]


def test_an_answer_is_captured_with_its_provenance(db: Database, stood_in: Settings, job: Job) -> None:
    """A synthesis of source task that names task, run, engine and model; the attempt has cost, tokens and session."""
    request = job(project="garden")
    result = run_agent(db, stood_in, request)
    row = db.fetch_one("select * from raw_items where id = %(id)s", {"id": result.raw_id})
    assert row
    assert (row["source"], row["kind"], row["body"], row["project"], row["session"]) == ("task", "synthesis", GOOD, "garden", "task/garden")
    assert {**row["metadata"], "original_timestamp": 0} == {
        "task": "garden", "rid": request.rid, "turn": 0, "engine": "claude", "model": "claude-fable-5", "recalled_blocks": 0, "original_timestamp": 0,
    }  # fmt: skip
    (attempt,) = find_attempts(db, str(request.rid))
    assert (float(attempt["cost_usd"]), attempt["prompt_tokens"], attempt["model"], attempt["exit_code"]) == (0.0421, 1000, "claude-fable-5", 0)


def test_what_was_recalled_is_marked_and_does_not_come_back(db: Database, stood_in: Settings, job: Job) -> None:
    """The item counts the recalled blocks of its prompt; fenced text in the answer is cut out."""
    request = job("ok-fenced", prompt="Go on.\n" + fence("The pump is blue."))
    result = run_agent(db, stood_in, request)
    row = db.fetch_one("select body, metadata from raw_items where id = %(id)s", {"id": result.raw_id})
    assert row
    assert row["metadata"]["recalled_blocks"] == 1
    assert "pump" not in row["body"]
    assert row["body"].startswith("Before.")


def test_a_cap_falls_to_the_next_engine_and_rests_until_its_reset(db: Database, stood_in: Settings, job: Job, asked: Callable[[str], list[Any]]) -> None:
    """Claude capped for two hours: codex answers, also the next time, without claude being asked; cost is unknown."""
    first, second = job("rejected"), job("rejected")
    result = run_agent(db, stood_in, first)
    assert (result.chain.outcome, result.chain.engine, result.chain.cost_usd) == ("ok", "codex", None)
    assert steps(db, first) == [("claude", "capped", "codex"), ("codex", "ok", None)]
    assert run_agent(db, stood_in, second).chain.engine == "codex"
    assert steps(db, second) == [("claude", "left-alone", "codex"), ("codex", "ok", None)]
    assert len(asked("claude")) == 1
    (state,) = find_states(db)
    ahead = state["capped_until"] - datetime.now(UTC)
    assert timedelta(hours=1, minutes=55) < ahead <= timedelta(hours=2)
    third = job("rejected,ok")
    assert run_agent(db, stood_in, third, clock=lambda: datetime.now(UTC) + timedelta(hours=3)).chain.engine == "claude"
    assert [row["capped_until"] for row in find_states(db)] == [None]


def test_all_capped_captures_nothing_and_raises_no_alert(db: Database, stood_in: Settings, job: Job) -> None:
    """Not a failure: the earliest reset is told, nothing is written but the attempts."""
    request = job("session-limit", "limit-no-time")
    result = run_agent(db, stood_in, request)
    assert (result.chain.outcome, result.raw_id) == ("capped", None)
    assert result.chain.reset_at is not None
    assert steps(db, request) == [("claude", "capped", "codex"), ("codex", "capped", "api"), ("api", "left-alone", None)]
    assert subjects(db) == []
    assert db.fetch_all("select 1 from raw_items") == []


def test_logged_out_is_told_once_and_cleared_when_it_works_again(db: Database, stood_in: Settings, job: Job) -> None:
    """The alert engine:claude opens at the first run, not again at the second, and closes with the next answer."""
    for _ in range(2):
        assert run_agent(db, stood_in, job("logged-out")).chain.engine == "codex"
    assert subjects(db) == ["engine:claude"]
    messages = db.fetch_all("select kind, title from deliveries")
    assert [row["kind"] for row in messages] == ["alert"]
    assert "run /login" in messages[0]["title"]
    run_agent(db, stood_in, job("logged-out,logged-out,ok"))
    assert subjects(db) == []


def test_a_missing_executable_is_left_alone_without_an_alert(db: Database, stood_in: Settings, job: Job) -> None:
    """A row says why; a machine without codex is no fault."""
    request = job()
    assert run_agent(db, replace(stood_in, claude="/no/such/claude"), request).chain.engine == "codex"
    assert steps(db, request) == [("claude", "left-alone", "codex"), ("codex", "ok", None)]
    assert subjects(db) == []


def test_the_last_resort_is_the_api(db: Database, stood_in: Settings, job: Job) -> None:
    """Both programs fail: a model answers through LiteLLM, with a row in llm_calls."""
    with LlmServer(rule=lambda _asked: "The API's report.") as server:
        settings = replace(stood_in, llm_base_url=server.base_url, agent_model=("openai/big",))
        request = job("overloaded", "stream")
        result = run_agent(db, settings, request)
    assert (result.chain.engine, result.chain.text, result.chain.model) == ("api", "The API's report.", "big")
    assert steps(db, request) == [("claude", "infra", "codex"), ("codex", "infra", "api"), ("api", "ok", None)]
    assert [row["stage"] for row in db.fetch_all("select stage from llm_calls")] == ["agent"]


def test_the_stanzas_order_stands_before_the_setting(db: Database, stood_in: Settings, job: Job) -> None:
    """`engines = codex` asks codex alone."""
    request = job(engines=("codex",))
    run_agent(db, stood_in, request)
    assert steps(db, request) == [("codex", "ok", None)]


@pytest.mark.parametrize("prompt", ["", " \n"])
def test_an_empty_prompt_is_refused(db: Database, stood_in: Settings, job: Job, prompt: str) -> None:
    """Before any engine is asked."""
    with pytest.raises(UsageError, match="empty prompt"):
        run_agent(db, stood_in, job(prompt=prompt))


def test_text_that_no_database_takes_is_survived(db: Database, stood_in: Settings, job: Job) -> None:
    """NUL characters and broken lines among the output: the answer is there and on record."""
    assert run_agent(db, stood_in, job("noise")).raw_id is not None
