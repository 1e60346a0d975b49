"""What every agent is told, and which servers it gets."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from argus_memory.errors import UsageError
from argus_memory.models.engines.api import Api
from argus_memory.models.engines.claude import Claude
from argus_memory.models.engines.codex import Codex
from argus_memory.models.engines.records import EngineRequest
from argus_memory.models.llm import LlmDoor
from argus_memory.models.llm_records import Spent
from argus_memory.settings import CODE_FOLDER, Settings, load_settings
from argus_memory.tasks.agent import AgentRequest, make_engine_request
from argus_memory.tasks.agent_context import FILES, read_context
from argus_memory.tasks.mcp_config import judge_mcp, load_mcp_config
from tests.stubs.llm_server import LlmServer

STAND_INS = Path(__file__).parents[2] / "stubs" / "engines"
SHIPPED = CODE_FOLDER / "tasks" / "context"
# A sentence of each shipped file that a prompt without the file could not hold.
SENTENCES = {
    "SOUL.md": "What was measured",
    "rulebook.md": "I have no verified evidence",
    "USER.md": "# The person you work for",
    "GOALS.md": "# Goals",
}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load_settings({"ARGUS_HOME": str(tmp_path / "home"), "ARGUS_MCP_TOKEN": "mcp-token-for-tests-only", "ARGUS_TASKS": str(CODE_FOLDER / "tasks")})


def request_of(settings: Settings, request_for: Callable[..., EngineRequest]) -> EngineRequest:
    """What run_agent would give to an engine, with the stand-ins' variables."""
    given = request_for()
    agent = AgentRequest("garden", "Look after the beds.", given.folder, timedelta(seconds=20), env=given.env)
    return make_engine_request(settings, agent)


@pytest.mark.parametrize("engine", ["claude", "codex", "api"])
def test_every_agent_prompt_holds_the_four_files(
    settings: Settings, request_for: Callable[..., EngineRequest], calls: Callable[[str], list[dict[str, Any]]], engine: str
) -> None:
    """What reaches each engine has SOUL, rulebook, USER and GOALS as shipped, and the task's own prompt."""
    request = request_of(settings, request_for)
    if engine == "api":
        with LlmServer(rule=lambda _asked: "an answer") as server:
            door = LlmDoor(replace(settings, llm_base_url=server.base_url), record_call=lambda _call: None, spent=lambda _stage: Spent(0, 0))
            verdict = Api(door).run(replace(request, api_models=("openai/small",)), now=lambda: datetime.now(UTC))
            told = json.dumps(server.calls[0].body["messages"], ensure_ascii=False).replace("\\n", "\n")
    elif engine == "claude":
        verdict = Claude(str(STAND_INS / "claude"), UTC).run(request, now=lambda: datetime.now(UTC))
        told = calls("claude")[0]["files"]["context.md"] + calls("claude")[0]["stdin"]
    else:
        verdict = Codex(str(STAND_INS / "codex"), UTC).run(request, now=lambda: datetime.now(UTC))
        told = calls("codex")[0]["stdin"]
    assert verdict.outcome == "ok"
    for name in FILES:
        assert name in told
        assert SENTENCES[name] in told
    assert "Look after the beds." in told
    assert "the task `garden`" in told


def test_the_shipped_files_say_what_they_must() -> None:
    """The order of truth, and the four rules, in the files that are shipped."""
    soul, rules = ((SHIPPED / name).read_text() for name in ("SOUL.md", "rulebook.md"))
    order = [soul.index(word) for word in ("**What was measured**", "**What is recorded**", "**What is remembered**", "**What is inferred**")]
    assert order == sorted(order)
    for word in ("destructive", "confirm first", "private network", "Verify", "I have no verified evidence", "no invented number"):
        assert word in rules


def test_notes_for_the_person_are_left_out(tmp_path: Path) -> None:
    """Text in <!-- --> reaches no prompt; an empty file says that it is."""
    for name in FILES:
        (tmp_path / name).write_text(f"{name} says <!-- fill\nthis in --> something")
    (tmp_path / "USER.md").write_text("<!-- nothing yet -->")
    text = read_context(tmp_path)
    assert "fill" not in text
    assert "GOALS.md says  something" in text
    assert "Nothing is written here yet." in text


@pytest.mark.parametrize("name", FILES)
def test_no_agent_runs_without_its_rules(tmp_path: Path, name: str) -> None:
    """A missing file stops the run with a sentence that names it."""
    for each in FILES:
        (tmp_path / each).write_text("text")
    (tmp_path / name).unlink()
    with pytest.raises(UsageError, match=name):
        read_context(tmp_path)
    (tmp_path / name).write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="not UTF-8"):
        read_context(tmp_path)


def test_as_shipped_no_server_is_asked_for(settings: Settings, request_for: Callable[..., EngineRequest]) -> None:
    """Nothing to load, nothing missing: a fresh installation's agent runs do not fail for want of a server."""
    request = request_of(settings, request_for)
    assert (request.mcp_servers, request.mcp_problems) == ({}, ())
    assert "ARGUS_MCP_TOKEN" not in request.env


def own(tmp_path: Path, settings: Settings, mcp: object) -> Settings:
    context = tmp_path / "tasks" / "context"
    context.mkdir(parents=True)
    for name in FILES:
        (context / name).write_text("text")
    (context / "mcp.json").write_text(json.dumps(mcp))
    return replace(settings, tasks=tmp_path / "tasks")


def test_argus_own_endpoint_comes_with_its_mark_and_a_token(tmp_path: Path, settings: Settings, request_for: Callable[..., EngineRequest]) -> None:
    """`"argus": true` adds it by the token's variable; without a token it is named as missing."""
    marked = own(tmp_path, settings, {"argus": True, "mcpServers": {}})
    request = request_of(marked, request_for)
    assert request.mcp_servers["argus"]["url"] == "http://127.0.0.1:8484/mcp"
    assert "mcp-token-for-tests-only" not in json.dumps(request.mcp_servers)
    assert request.env["ARGUS_MCP_TOKEN"] == "mcp-token-for-tests-only"
    without = request_of(replace(marked, mcp_token=None), request_for)
    assert [(error.server, "ARGUS_MCP_TOKEN" in error.error) for error in without.mcp_problems] == [("argus", True)]


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ({"url": "https://x.example"}, '"type"'),
        ({"type": "http"}, 'needs "url"'),
        ({"type": "carrier-pigeon", "url": "x"}, '"type"'),
        ({"type": "stdio", "command": ""}, 'needs "command"'),
        ({"command": "serve", "args": "--all"}, "a list"),
        ({"command": "serve", "env": ["A=1"]}, "an object"),
        ({"type": "http", "url": "https://x.example", "headers": {"X": "${NOT_SET}"}}, "NOT_SET"),
        ("serve", "an object"),
    ],
)
def test_an_entry_no_engine_could_load_is_named(entry: object, says: str) -> None:
    """It is left out and told, and its neighbour is loaded."""
    config = judge_mcp({"mcpServers": {"bad": entry, "good": {"command": "serve"}}}, api_url="http://h", env={})
    assert list(config.servers) == ["good"]
    assert config.servers["good"]["type"] == "stdio"
    assert [problem.server for problem in config.problems] == ["bad"]
    assert says in config.problems[0].error


def test_entries_that_need_no_word() -> None:
    """A disabled one is left out in silence, by choice; a default in a variable needs no variable; bad names are told."""
    config = judge_mcp(
        {"mcpServers": {"off": {"disabled": True}, "on": {"type": "sse", "url": "${BASE:-https://x.example}"}, "a b": {"command": "x"}}},
        api_url="http://h", env={},
    )
    assert list(config.servers) == ["on"]
    assert [problem.server for problem in config.problems] == ["a b"]
    taken = judge_mcp({"argus": True, "mcpServers": {"argus": {"command": "mine"}}}, api_url="http://h", env={"ARGUS_MCP_TOKEN": "t"})
    assert taken.servers["argus"]["url"] == "http://h/mcp"
    assert "another one" in taken.problems[0].error


@pytest.mark.parametrize("text", ["{", "[]", '{"mcpServers": []}', "\udcff", "[" * 100_000])
def test_a_broken_file_is_a_problem_and_not_a_crash(tmp_path: Path, text: str) -> None:
    """The file's name and what is wrong."""
    path = tmp_path / "mcp.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    config = load_mcp_config(path, api_url="http://h", env={})
    assert [problem.server for problem in config.problems] == ["mcp.json"]
    assert load_mcp_config(tmp_path / "none.json", api_url="http://h", env={}).problems == ()
