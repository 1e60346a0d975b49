"""`argus mcp config` prints what each client can read."""

from __future__ import annotations

import json
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from argus_cli.main import main
from argus_cli.mcp_command import CLIENTS, export_line, make_pastes
from argus_memory.settings import load_settings
from argus_memory.tasks.mcp_config import judge_mcp

TOKEN = "a-token-of-the-tests-0123456789"
URL = "http://127.0.0.1:8484/mcp"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "a home"
    home.mkdir()
    (home / "env").write_text(f"ARGUS_MCP_TOKEN={TOKEN}\nARGUS_ADMIN_TOKEN=another-token-of-the-tests\n")
    for name in ("ARGUS_API_URL", "ARGUS_MCP_TOKEN", "ARGUS_ADMIN_TOKEN", "ARGUS_API_PORT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ARGUS_HOME", str(home))
    return home


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["mcp", "config", *words]) == 0
    return capsys.readouterr().out


def headers_in(value: Any) -> list[str]:
    if isinstance(value, dict):
        own = [value["Authorization"]] if "Authorization" in value else []
        return own + [each for inner in value.values() for each in headers_in(inner)]
    return []


@pytest.mark.parametrize("token", [None, TOKEN])
@pytest.mark.parametrize("client", CLIENTS)
def test_each_text_is_of_its_clients_form(client: str, token: str | None) -> None:
    """JSON or TOML that parses, with the address and one way to the token."""
    text = make_pastes(URL, token)[client].text
    parsed = tomllib.loads(text) if client == "codex" else json.loads(text)
    assert URL in json.dumps(parsed)
    if client == "codex" and token is None:
        assert parsed["mcp_servers"]["argus"] == {"url": URL, "bearer_token_env_var": "ARGUS_MCP_TOKEN"}
    else:
        (header,) = headers_in(parsed)
        assert header.startswith("Bearer ")
        assert (TOKEN in header) == (token is not None)


def test_claude_codes_text_is_what_agents_of_tasks_take_too() -> None:
    """The entry for Claude Code is one that the check of tasks/context/mcp.json finds nothing wrong with."""
    data = json.loads(make_pastes(URL, None)["claude-code"].text)
    data["mcpServers"]["memory"] = data["mcpServers"].pop("argus")
    judged = judge_mcp(data, api_url="http://127.0.0.1:8484", env={"ARGUS_MCP_TOKEN": "x"})
    assert judged.problems == ()
    assert judged.servers["memory"]["url"] == URL


def test_the_token_is_printed_only_when_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    """By default the variable's name stands for it; no other token is ever printed."""
    plain = printed(capsys)
    assert TOKEN not in plain
    assert all(f"== {client}" in plain for client in CLIENTS)
    told = printed(capsys, "--with-token")
    assert TOKEN in told
    assert "another-token" not in plain + told


def test_the_export_line_brings_the_token(home: Path) -> None:
    """The line for the profile, run by a shell, sets the variable to the home's token, in a folder with a blank too."""
    line = export_line(load_settings({"ARGUS_HOME": str(home)}))
    done = subprocess.run(["sh", "-c", f'{line}; printf %s "$ARGUS_MCP_TOKEN"'], capture_output=True, text=True, check=True)
    assert done.stdout == TOKEN


def test_json_has_one_entry_a_client(capsys: pytest.CaptureFixture[str]) -> None:
    """--json gives address, variable, line and texts; --client narrows to one."""
    given = json.loads(printed(capsys, "--json"))
    assert given["url"] == URL
    assert given["token_set"] is True
    assert given["variable"] == "ARGUS_MCP_TOKEN"
    assert tuple(given["clients"]) == CLIENTS
    assert given["clients"]["claude-code"]["command"].startswith("claude mcp add --transport http ")
    one = json.loads(printed(capsys, "--json", "--client", "codex"))
    assert list(one["clients"]) == ["codex"]


def test_without_a_token_it_cannot_be_written(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Before the first start there is none, and the sentence says what makes one."""
    (home / "env").unlink()
    assert main(["mcp", "config", "--with-token"]) == 2
    assert "`argus up` makes it" in capsys.readouterr().err
