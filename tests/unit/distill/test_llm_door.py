"""The door to chat models, against a server on loopback: every way a call can end, and what it counts as."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from argus_memory.errors import (
    BudgetExceeded,
    ConfigurationFailure,
    ContentFailure,
    InfraFailure,
    ModelFailure,
)
from argus_memory.models.llm import LlmDoor
from argus_memory.models.llm_failures import worst
from argus_memory.models.llm_litellm import address_of
from argus_memory.models.llm_records import CallRecord, Spent
from argus_memory.settings import Settings, load_settings
from tests.stubs.llm_server import LlmServer, refused_url

SCHEMA = {
    "type": "object",
    "properties": {"verdict": {"type": "string", "enum": ["distinct", "duplicate"]}},
    "required": ["verdict"],
}


@pytest.fixture(scope="module")
def stub() -> Iterator[LlmServer]:
    with LlmServer() as server:
        yield server


@pytest.fixture
def server(stub: LlmServer) -> LlmServer:
    stub.calls.clear()
    stub.model_real.clear()
    stub._behaviours = {"*": ["ok"]}
    return stub


class Door:
    """A door whose books are lists."""

    def __init__(self, server: LlmServer, tmp_path: Path, **changes: Any) -> None:
        base = load_settings({"ARGUS_HOME": str(tmp_path)})
        self.settings: Settings = replace(
            base, **{"llm_base_url": server.base_url, "llm_timeout": timedelta(seconds=5), **changes}
        )
        self.rows: list[CallRecord] = []
        self.pauses: list[float] = []
        self.spent = Spent(0, 0)
        self.door = LlmDoor(
            self.settings, record_call=self.rows.append, spent=lambda _stage: self.spent, pause=self.pauses.append
        )

    def ask(self, *models: str) -> tuple[dict[str, Any], Any]:
        return self.door.complete_json("judge", SCHEMA, "You judge.", "Two notes.", models or ("openai/small",))


@pytest.fixture
def door(server: LlmServer, tmp_path: Path) -> Door:
    return Door(server, tmp_path)


def test_an_answer_comes_with_who_gave_it(door: Door, server: LlmServer) -> None:
    """The answer, both names of the model, its tier, tokens; a cost nobody knows is None and not 0."""
    server.model_real["small"] = "small-v2"
    value, info = door.ask()
    assert value == {"verdict": "distinct"}
    assert (info.model, info.model_real, info.tier, info.calls, info.cost_usd) == (
        "openai/small",
        "small-v2",
        0,
        1,
        None,
    )
    assert [(r.outcome, r.status_code, r.stage) for r in door.rows] == [("ok", 200, "judge")]


def test_the_schema_is_asked_for_and_no_size_or_tool_beside_it(door: Door, server: LlmServer) -> None:
    """The request carries the schema strictly, temperature 0, and asks for nothing else."""
    door.ask()
    body = server.calls[0].body
    assert body["response_format"]["json_schema"]["schema"] == SCHEMA
    assert body["response_format"]["json_schema"]["strict"] is True
    assert set(body) <= {"model", "messages", "temperature", "max_tokens", "response_format"}


@pytest.mark.parametrize(
    ("behaviour", "failure", "calls"),
    [
        ("prose", ContentFailure, 2),
        ("invalid-json", ContentFailure, 2),
        ("wrong-shape", ContentFailure, 2),
        ("empty", ContentFailure, 2),
        ("refusal", ContentFailure, 1),
        ("content-filter", ContentFailure, 1),
        ("context-window", ContentFailure, 1),
        ("content-policy", ContentFailure, 1),
        ("400", ContentFailure, 1),
        ("422", ContentFailure, 1),
        ("401", ConfigurationFailure, 1),
        ("402", ConfigurationFailure, 1),
        ("403", ConfigurationFailure, 1),
        ("404", ConfigurationFailure, 1),
        ("408", InfraFailure, 1),
        ("429", InfraFailure, 2),
        ("500", InfraFailure, 2),
        ("502", InfraFailure, 2),
        ("503", InfraFailure, 2),
        ("529", InfraFailure, 2),
        ("drop", InfraFailure, 2),
    ],
)
def test_every_failure_has_its_class(
    door: Door, server: LlmServer, behaviour: str, failure: type[ModelFailure], calls: int
) -> None:
    """By status: content, configuration or infra; a repair for a wrong shape, a retry for trouble on the way."""
    server.behave(behaviour)
    with pytest.raises(failure) as caught:
        door.ask()
    assert caught.value.kind == failure.kind
    assert server.count("chat") == calls
    assert [row.outcome for row in door.rows] == [failure.kind] * calls
    assert len(door.pauses) == (calls - 1 if failure is InfraFailure else 0)


def test_a_refused_connection_is_infra(server: LlmServer, tmp_path: Path) -> None:
    """LiteLLM calls it a 500 of the server's; it is nobody's fault but the network's."""
    door = Door(server, tmp_path, llm_base_url=refused_url())
    with pytest.raises(InfraFailure):
        door.ask()
    assert [row.outcome for row in door.rows] == ["infra", "infra"]


def test_a_call_that_hangs_ends_with_the_limit(server: LlmServer, tmp_path: Path) -> None:
    """The time-out of the settings ends it, and it is not asked again at once."""
    server.behave("hang")
    door = Door(server, tmp_path, llm_timeout=timedelta(seconds=0.3))
    with pytest.raises(InfraFailure):
        door.ask()
    assert server.count("chat") == 1
    assert door.rows[0].milliseconds < 5000


def test_fenced_json_is_json(door: Door, server: LlmServer) -> None:
    """A model that cannot help writing ```json is understood without a repair."""
    server.behave("fenced")
    assert door.ask()[0] == {"verdict": "distinct"}
    assert server.count("chat") == 1


def test_the_chain_goes_on_to_the_next_model(door: Door, server: LlmServer) -> None:
    """A wrong key for the first, trouble at the second: the third answers, as tier 2, and all are on record."""
    server.behave("401", model="one")
    server.behave("503", model="two")
    _, info = door.ask("openai/one", "openai/two", "openai/three")
    assert (info.model, info.tier, info.calls) == ("openai/three", 2, 4)
    assert [(row.model, row.outcome) for row in door.rows] == [
        ("openai/one", "configuration"),
        ("openai/two", "infra"),
        ("openai/two", "infra"),
        ("openai/three", "ok"),
    ]


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        ([ContentFailure, InfraFailure], InfraFailure),
        ([ConfigurationFailure, ContentFailure], ContentFailure),
        ([ConfigurationFailure, ConfigurationFailure], ConfigurationFailure),
        ([InfraFailure, ConfigurationFailure], InfraFailure),
    ],
)
def test_a_chain_counts_as_content_only_when_nobody_was_away(
    kinds: list[type[ModelFailure]], expected: type[ModelFailure]
) -> None:
    """The failure that stands for a chain: infra before content before configuration."""
    assert type(worst([kind("x") for kind in kinds])) is expected


@pytest.mark.parametrize("spent", [Spent(600, 0), Spent(0, 2_000_000)])
def test_a_used_up_budget_lets_no_call_out(door: Door, server: LlmServer, spent: Spent) -> None:
    """Calls or tokens of the hour are gone: BudgetExceeded, a configuration failure, and no request."""
    door.spent = spent
    with pytest.raises(BudgetExceeded, match=r"judge used .* this hour"):
        door.ask("openai/one", "openai/two")
    assert issubclass(BudgetExceeded, ConfigurationFailure)
    assert (server.count(), door.rows) == (0, [])


def test_without_a_model_the_setting_is_named(door: Door) -> None:
    """An empty chain is a configuration failure that says which variable to set."""
    with pytest.raises(ConfigurationFailure, match="ARGUS_JUDGE_MODEL"):
        door.door.complete_json("judge", SCHEMA, "s", "u", ())


def test_the_key_stands_in_no_record(server: LlmServer, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Sent as a bearer token, masked everywhere else, also when the server repeats it in its error."""
    caplog.set_level("DEBUG")
    server.rule = lambda _request: "the key was sk-test-secret-000, said the server"
    try:
        door = Door(server, tmp_path, llm_api_key="sk-test-secret-000")
        with pytest.raises(ContentFailure) as caught:
            door.ask()
    finally:
        del server.rule
    assert server.calls[0].authorization == "Bearer sk-test-secret-000"
    assert "sk-test-secret" not in f"{caught.value} {door.rows}"
    assert "sk-test-secret" not in "\n".join(r.getMessage() for r in caplog.records if r.name.startswith("argus"))


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("openai/x", {"api_base": "http://127.0.0.1:1/v1", "api_key": "none"}),
        ("litellm_proxy/x", {"api_base": "http://127.0.0.1:1/v1", "api_key": "none"}),
        ("x", {"api_base": "http://127.0.0.1:1/v1", "api_key": "none", "custom_llm_provider": "openai"}),
        ("org/x", {"api_base": "http://127.0.0.1:1/v1", "api_key": "none", "custom_llm_provider": "openai"}),
        ("anthropic/x", {}),
        ("ollama/x", {}),
    ],
)
def test_where_a_model_is_asked(tmp_path: Path, model: str, expected: dict[str, str]) -> None:
    """Models of the configured address go there; another provider's are left to LiteLLM."""
    settings = replace(load_settings({"ARGUS_HOME": str(tmp_path)}), llm_base_url="http://127.0.0.1:1/v1")
    assert address_of(model, settings, ["openai", "anthropic", "ollama", "litellm_proxy"]) == expected
    assert address_of(model, replace(settings, llm_base_url=None), ["openai"]) == {}


def test_litellm_is_imported_with_the_first_call_only() -> None:
    """Importing the door, the distiller and the stage leaves LiteLLM out of the process."""
    code = (
        "import sys, argus_memory.stages.distill, argus_memory.models.llm_distill;"
        "sys.exit(any(name.split('.')[0] in ('litellm', 'openai') for name in sys.modules))"
    )
    root = Path(__file__).resolve().parents[3]
    assert subprocess.run([sys.executable, "-c", code], cwd=root, check=False).returncode == 0


def test_a_call_names_its_trace_where_langfuse_is_set(server: LlmServer, tmp_path: Path) -> None:
    """The proxy is given the trace that the record keeps; without the setting it is given none."""
    server.rule = lambda _request: {"verdict": "distinct"}
    traced = Door(server, tmp_path, langfuse_url="http://traces.example")
    traced.ask()
    (row,) = traced.rows
    assert row.trace_id
    assert server.calls[-1].body["metadata"]["trace_id"] == row.trace_id
    plain = Door(server, tmp_path)
    plain.ask()
    assert plain.rows[0].trace_id is None
    assert "metadata" not in server.calls[-1].body
