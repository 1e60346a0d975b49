"""POST /ask: one prompt, who answered, what it cost, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from fastapi.testclient import TestClient

from argus_api.app import create_app
from argus_memory.db import Database
from argus_memory.settings import Settings
from tests.stubs.llm_server import LlmServer, refused_url

BASE = "http://127.0.0.1:8484"
MCP = {"Authorization": "Bearer mcp-token-for-tests-only"}


@pytest.fixture
def server() -> Iterator[LlmServer]:
    with LlmServer(rule=lambda request: f"{request.system}: {request.user}") as stub:
        yield stub


def client_of(settings: Settings, **changes: Any) -> TestClient:
    return TestClient(create_app(replace(settings, llm_timeout=timedelta(seconds=20), **changes)), base_url=BASE, raise_server_exceptions=False, headers=MCP)


@pytest.fixture
def client(db: Database, settings: Settings, server: LlmServer) -> Iterator[TestClient]:
    with client_of(settings, llm_base_url=server.base_url, ask_model=("openai/small", "openai/big")) as called:
        yield called


def test_the_answer_names_its_model_tier_and_cost(client: TestClient, server: LlmServer, db: Database) -> None:
    """Local first; an unknown cost is null; what is asked for reaches the model; the call is on record."""
    server.model_real["small"] = "small-v2"
    reply = client.post("/ask", json={"prompt": "Which bed?", "system": "Be brief", "max_tokens": 77})
    assert reply.status_code == 200
    told = reply.json()
    assert {**told, "tokens": 0} == {"text": "Be brief: Which bed?", "model": "openai/small", "model_real": "small-v2", "tier": 0, "cost_usd": None, "tokens": 0}
    assert told["tokens"]["completion"] > 0
    assert server.calls[0].body["max_tokens"] == 77
    assert "response_format" not in server.calls[0].body
    assert [row["stage"] for row in db.fetch_all("select stage from llm_calls")] == ["ask"]


def test_a_named_model_stands_before_the_setting(client: TestClient, server: LlmServer) -> None:
    """One, or a list that is tried in order."""
    server.behave("401", model="mine")
    reply = client.post("/ask", json={"prompt": "Which bed?", "model": ["openai/mine", "openai/yours"]})
    assert (reply.json()["model"], reply.json()["tier"]) == ("openai/yours", 1)


@pytest.mark.parametrize(
    ("body", "field"),
    [({}, "prompt"), ({"prompt": " "}, "prompt"), ({"prompt": 3}, "prompt"), ({"prompt": "x", "modell": "y"}, "modell"), ({"prompt": "x", "model": 3}, "model"),
     ({"prompt": "x", "model": [""]}, "model"), ({"prompt": "x", "model": "runtime"}, "model"), ({"prompt": "x", "model": ["m"] * 9}, "model"),
     ({"prompt": "x", "model": "a\0b"}, "model"), ({"prompt": "x", "model": "\ud83d"}, "model"),
     ({"prompt": "x", "max_tokens": 0}, "max_tokens"), ({"prompt": "x", "max_tokens": 1.5}, "max_tokens"), ({"prompt": "x", "max_tokens": "9"}, "max_tokens"), ({"prompt": "x", "system": []}, "system")],
)  # fmt: skip
def test_a_bad_request_is_422_and_names_the_field(client: TestClient, server: LlmServer, body: dict[str, Any], field: str) -> None:
    """Nothing is asked."""
    reply = client.post("/ask", content=json.dumps(body))
    assert reply.status_code == 422
    assert field in reply.json()["error"]["message"]
    assert server.count("chat") == 0


@pytest.mark.parametrize(("behaviour", "status"), [("refusal", 502), ("empty", 502), ("401", 502), ("503", 503), ("content-filter", 502)])
def test_failures_map_to_statuses(client: TestClient, server: LlmServer, behaviour: str, status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """No usable answer is 502, nobody there is 503; no key is in the message."""
    monkeypatch.setattr("argus_memory.models.llm_tier.PAUSE_SECONDS", 0.0)
    server.behave(behaviour)
    reply = client.post("/ask", json={"prompt": "Which bed?"})
    assert reply.status_code == status
    assert reply.json()["error"]["message"]


def test_nothing_configured_nobody_there_and_a_used_up_budget_are_503(db: Database, settings: Settings, server: LlmServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each says what to do."""
    monkeypatch.setattr("argus_memory.models.llm_tier.PAUSE_SECONDS", 0.0)
    with client_of(settings) as client:
        reply = client.post("/ask", json={"prompt": "Which bed?"})
        assert (reply.status_code, "ARGUS_ASK_MODEL" in reply.json()["error"]["message"]) == (503, True)
    with client_of(settings, llm_base_url=refused_url(), ask_model=("openai/small",)) as client:
        assert client.post("/ask", json={"prompt": "Which bed?"}).status_code == 503
    with client_of(settings, llm_base_url=server.base_url, ask_model=("openai/small",), llm_calls_per_hour=1) as client:
        reply = client.post("/ask", json={"prompt": "Which bed?"})
        assert (reply.status_code, "ARGUS_LLM_CALLS_PER_HOUR" in reply.json()["error"]["message"]) == (503, True)


def test_the_mcp_token_is_needed(client: TestClient) -> None:
    """A hook's token may not spend money; no token is 401."""
    assert client.post("/ask", json={"prompt": "x"}, headers={"Authorization": "Bearer capture-token-for-tests"}).status_code == 403
    assert client.post("/ask", json={"prompt": "x"}, headers={"Authorization": ""}).status_code == 401
