"""Both generations of the protocol, and what an agent learns before its first call."""

from __future__ import annotations

import pytest
from mcp import Client

from tests.api_process import ADMIN, ApiProcess
from tests.integration.mcp.conftest import NEW, OLD, ask, call

VERBS = {
    "search", "get", "expand", "context", "remember", "correct", "forget", "pin", "before_you_try", "timeline", "what_changed", "tasks",
    "task_runs", "run_task", "health",
}  # fmt: skip
WRITES = {"remember", "correct", "forget", "pin", "run_task"}


@pytest.mark.parametrize("mode", [OLD, NEW, "auto"])
def test_every_verb_is_listed_and_explains_itself(api: ApiProcess, mode: str) -> None:
    """Each verb has a title, a sentence, described arguments, and says whether it only reads."""

    async def work(client: Client) -> object:
        return await client.list_tools()

    tools = {tool.name: tool for tool in ask(api.url, work, mode=mode).tools}
    assert tools.keys() == VERBS
    for name, tool in tools.items():
        assert tool.title, name
        assert len(tool.description or "") > 40, name
        assert " ".join((tool.description or "").split()) == tool.description, name
        assert tool.annotations is not None, name
        assert tool.annotations.read_only_hint is (name not in WRITES), name
        for argument, schema in tool.input_schema.get("properties", {}).items():
            assert schema.get("description"), f"{name}.{argument}"
        assert "ctx" not in tool.input_schema.get("properties", {}), name


@pytest.mark.parametrize("mode", [OLD, NEW])
def test_instructions_name_every_verb(api: ApiProcess, mode: str) -> None:
    """Hosts that load only names and instructions at first find each verb explained there."""

    async def work(client: Client) -> str:
        return client.instructions or ""

    instructions = ask(api.url, work, mode="auto" if mode == NEW else OLD)
    assert all(f"`{verb}`" in instructions for verb in VERBS)
    assert len(instructions) < 2_000


@pytest.mark.parametrize("mode", [OLD, NEW])
def test_the_agent_is_the_actor(api: ApiProcess, mode: str) -> None:
    """What an agent writes stands in the books under its program's own name, as an agent's, in both generations."""
    text = f"The {mode} printer of the workshop stands on the second floor"
    given = call(api, "remember", mode=mode, agent=f"codex-{mode[:4]}", text=text, project="workshop")
    assert given["outcome"] == "queued"
    row = api.db.fetch_one("select actor, actor_kind from note_writes where raw_id = %(id)s", {"id": int(given["captured_as"][5:])})
    assert row == {"actor": f"codex-{mode[:4]}", "actor_kind": "agent"}


def test_no_agent_goes_by_a_persons_name(api: ApiProcess) -> None:
    """A client that calls itself `cli`, or by control characters, is marked or cleaned."""
    given = call(api, "remember", agent="cli", text="The van is parked behind the bakery on weekdays")
    row = api.db.fetch_one("select actor from note_writes where raw_id = %(id)s", {"id": int(given["captured_as"][5:])})
    assert row == {"actor": "agent cli"}


def test_the_admin_token_is_an_agents_here_too(api: ApiProcess) -> None:
    """Whatever token it comes with, a call over MCP is an agent's and never a person's."""

    async def work(client: Client) -> object:
        return await client.call_tool("remember", {"text": "The cellar key hangs behind the blue door"})

    result = ask(api.url, work, token=ADMIN)
    assert '"queued"' in result.content[0].text
