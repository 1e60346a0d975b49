"""The engines against stand-in executables: command line, input, files, environment, limits, what is left behind."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from argus_memory.models.engines.claude import Claude
from argus_memory.models.engines.codex import Codex, mcp_overrides
from argus_memory.models.engines.process import engine_environment, find_executable, local_zone, run_process
from argus_memory.models.engines.records import EngineRequest, McpError
from tests.helpers import wait_until
from tests.stubs.engines.recordings import GOOD

STAND_INS = Path(__file__).parents[2] / "stubs" / "engines"
CLAUDE = Claude(str(STAND_INS / "claude"), UTC)
CODEX = Codex(str(STAND_INS / "codex"), UTC)
Make = Callable[..., EngineRequest]
Calls = Callable[[str], list[dict[str, Any]]]
TOOLS = {"tools": {"type": "http", "url": "https://tools.example/mcp", "headers": {"Authorization": "Bearer ${TOOLS_TOKEN}"}}}


def now() -> datetime:
    return datetime.now(UTC)


def after(argv: list[str], flag: str) -> str:
    return argv[argv.index(flag) + 1]


def test_claude_is_called_as_a_subscription_needs_it(request_for: Make, calls: Calls) -> None:
    """Stream of JSON, strict MCP configuration, hooks off, the context as a file, the prompt as input; never --bare."""
    verdict = CLAUDE.run(request_for(max_turns=7, budget_usd=0.5, mcp_servers=TOOLS), now=now)
    (call,) = calls("claude")
    argv = call["argv"]
    assert (verdict.outcome, verdict.text) == ("ok", GOOD)
    assert argv[0] == "-p"
    assert "--bare" not in argv
    assert {"--verbose", "--strict-mcp-config"} <= set(argv)
    assert after(argv, "--output-format") == "stream-json"
    assert after(argv, "--settings") == '{"disableAllHooks":true}'
    assert (after(argv, "--max-turns"), after(argv, "--max-budget-usd")) == ("7", "0.5000")
    assert "mcp__tools" in after(argv, "--allowedTools").split(",")
    assert "Bash" not in after(argv, "--allowedTools").split(",")
    assert call["stdin"] == "Look after the beds."
    assert call["files"]["context.md"] == "600 SYSTEM TEXT"
    assert call["files"]["mcp.json"].startswith("600 ")


def test_secrets_are_written_nowhere(request_for: Make, calls: Calls) -> None:
    """The MCP file and the command lines hold the variable's name; the files are gone when the run is over."""
    env = {"TOOLS_TOKEN": "very-secret-value"}
    CLAUDE.run(request_for(mcp_servers=TOOLS, env=env), now=now)
    CODEX.run(request_for(mcp_servers=TOOLS, env=env), now=now)
    for call in (*calls("claude"), *calls("codex")):
        assert "very-secret-value" not in str(call["argv"]) + str(call["files"])
        assert call["env"]["TOOLS_TOKEN"] == "very-secret-value"
    assert "${TOOLS_TOKEN}" in calls("claude")[0]["files"]["mcp.json"]
    assert not Path(after(calls("claude")[0]["argv"], "--mcp-config")).exists()


def test_codex_is_called_with_its_settings_behind_exec(request_for: Make, calls: Calls) -> None:
    """JSON events, a sandbox, each server required, context and prompt as input."""
    verdict = CODEX.run(request_for(mcp_servers=TOOLS), now=now)
    (call,) = calls("codex")
    argv = call["argv"]
    assert (verdict.outcome, verdict.text) == ("ok", GOOD)
    assert argv[:3] == ["exec", "--json", "--skip-git-repo-check"]
    assert after(argv, "--sandbox") == "read-only"
    assert 'mcp_servers.tools.bearer_token_env_var="TOOLS_TOKEN"' in argv
    assert "mcp_servers.tools.required=true" in argv
    assert argv[-1] == "-"
    assert call["stdin"].startswith("SYSTEM TEXT")
    assert call["stdin"].endswith("Look after the beds.")


def test_codex_gets_the_values_of_servers_by_variables() -> None:
    """env and headers of a server stand in the environment, by name on the command line."""
    servers = {
        "local": {"type": "stdio", "command": "${HOME}/serve", "args": ["--deep", 'a"b'], "env": {"KEY": "${K}", "MODE": "fast"}},
        "far-1": {"type": "http", "url": "https://x.example", "headers": {"X-Key": "${K}", "X-Team": "red"}},
    }
    settings, env = mcp_overrides(servers, {"HOME": "/home/kim", "K": "secret"})
    assert 'mcp_servers.local.command="/home/kim/serve"' in settings
    assert 'mcp_servers.local.args=["--deep", "a\\"b"]' in settings
    assert 'mcp_servers.local.env_vars=["KEY", "MODE"]' in settings
    assert 'mcp_servers.far-1.env_http_headers={"X-Key" = "K", "X-Team" = "MCP_FAR_1_X_TEAM"}' in settings
    assert env == {"KEY": "secret", "MODE": "fast", "MCP_FAR_1_X_TEAM": "red"}
    assert "secret" not in str(settings)


@pytest.mark.parametrize(
    ("access", "claude_says", "sandbox"),
    [("none", ["--tools", ""], "read-only"), ("write", ["--permission-mode", "acceptEdits"], "workspace-write"), ("all", ["--permission-mode", "bypassPermissions"], "danger-full-access")],
)
def test_access_means_the_same_for_both(request_for: Make, calls: Calls, access: str, claude_says: list[str], sandbox: str) -> None:
    """One word decides what tools may touch; without any the engine stands in an empty folder."""
    request = request_for(access=access)
    CLAUDE.run(request, now=now)
    CODEX.run(request, now=now)
    argv = calls("claude")[0]["argv"]
    assert after(argv, claude_says[0]) == claude_says[1]
    assert after(calls("codex")[0]["argv"], "--sandbox") == sandbox
    assert all((call["cwd"] == str(request.folder)) == (access != "none") for call in (*calls("claude"), *calls("codex")))


def test_an_engine_sees_no_secret_of_argus(request_for: Make, calls: Calls, monkeypatch: pytest.MonkeyPatch) -> None:
    """No database, no tokens, no marks of another session; its own session is marked for hooks."""
    for name in ("ARGUS_DATABASE_URL", "ARGUS_ADMIN_TOKEN", "ARGUS_MCP_TOKEN", "ARGUS_LLM_API_KEY", "PGPASSWORD", "CLAUDECODE"):
        monkeypatch.setenv(name, "postgresql://never-shown/x")
    CLAUDE.run(request_for(), now=now)
    env = calls("claude")[0]["env"]
    assert "never-shown" not in str(env)
    assert env["ARGUS_SESSION"] == "task/garden"


def test_the_mcp_token_is_seen_where_it_is_given() -> None:
    """It is there exactly when the request brings it."""
    assert "ARGUS_MCP_TOKEN" not in engine_environment({"ARGUS_MCP_TOKEN": "x"}, {}, "s")
    assert engine_environment({}, {"ARGUS_MCP_TOKEN": "x"}, "s")["ARGUS_MCP_TOKEN"] == "x"


def test_a_missing_executable_is_a_reason(request_for: Make) -> None:
    """Neither a name that is not on the PATH nor a file that cannot run raises."""
    assert "not installed" in (Claude("no-such-claude", UTC).why_not(request_for()) or "")
    assert "ARGUS_CODEX" in (Codex("/no/such/codex", UTC).why_not(request_for()) or "")
    assert CLAUDE.why_not(request_for()) is None


def test_an_executable_that_cannot_start_is_infra(request_for: Make, tmp_path: Path) -> None:
    """A file that is no program gives a verdict with the reason."""
    broken = tmp_path / "claude"
    broken.write_text("#!/no/such/interpreter\n")
    broken.chmod(broken.stat().st_mode | stat.S_IXUSR)
    verdict = Claude(str(broken), UTC).run(request_for(), now=now)
    assert verdict.outcome == "infra"
    assert "could not be started" in (verdict.reason or "")


def test_time_over_ends_the_whole_group(request_for: Make, calls: Calls, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine that ignores SIGTERM and has a child: both are gone, in a group that was their own."""
    monkeypatch.setattr("argus_memory.models.engines.process.GRACE_SECONDS", 0.2)
    verdict = CLAUDE.run(request_for("hang-with-child", time_limit=timedelta(seconds=5)), now=now)
    assert verdict.outcome == "timeout"
    (call,) = calls("claude")
    assert call["group"] == call["pid"] != os.getpgid(0)
    child = int((tmp_path / "log" / "child").read_text())
    wait_until(lambda: is_gone(call["pid"]) and is_gone(child), what="engine and child are gone")


def is_gone(pid: int) -> bool:
    """Gone, or dead and waiting for an init that collects it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().split(")")[-1].split()[0] == "Z"
    except FileNotFoundError:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        return False


def test_silence_is_a_time_out_of_its_own(request_for: Make, tmp_path: Path) -> None:
    """Long before the time is over, an engine that writes nothing is ended and said to be silent."""
    request = request_for("hang")
    prompt = tmp_path / "p"
    prompt.write_text("x")
    env = engine_environment(os.environ, request.env, request.session)
    left = run_process([CLAUDE.command], prompt=prompt, folder=tmp_path, env=env, time_limit=timedelta(minutes=5), silence=timedelta(seconds=1.5))
    assert left.timed_out
    assert left.silent
    assert left.seconds < 60


def test_output_is_bounded_and_tool_output_is_let_go(request_for: Make, tmp_path: Path) -> None:
    """Of megabytes of tool output nothing is kept, of stderr its end; the answer is there."""
    request = request_for("flood")
    prompt = tmp_path / "p"
    prompt.write_text("x")
    env = engine_environment(os.environ, request.env, request.session)
    left = run_process([CLAUDE.command], prompt=prompt, folder=tmp_path, env=env, time_limit=timedelta(seconds=20))
    assert [event["type"] for event in left.events] == ["system", "result"]
    assert len(left.stderr) <= 20_000


def test_a_long_prompt_arrives_whole(request_for: Make, calls: Calls) -> None:
    """Longer than an argument may be, with characters that are no text: it is input, not an argument."""
    prompt = "- begins like a flag ü \ud83d " + "x" * 300_000
    CLAUDE.run(replace(request_for(), prompt=prompt), now=now)
    assert len(calls("claude")[0]["stdin"]) == len(prompt)


def test_a_server_that_did_not_start_is_on_the_verdict(request_for: Make) -> None:
    """From the real stream, for both engines."""
    assert CLAUDE.run(request_for("mcp-failed", mcp_servers=TOOLS), now=now).mcp_errors == (McpError("tools", "its status is failed"),)
    verdict = CODEX.run(request_for(codex="mcp-required", mcp_servers=TOOLS), now=now)
    assert verdict.outcome == "infra"
    assert [error.server for error in verdict.mcp_errors] == ["tools"]


def test_the_zone_of_times_is_the_machines() -> None:
    """TZ first, then the system's; nonsense is UTC."""
    assert str(local_zone({"TZ": "Europe/Vienna"})) == "Europe/Vienna"
    assert str(local_zone({"TZ": "No/Such"})) == "UTC"
    assert local_zone({}) is not None
    assert find_executable("sh", {"PATH": os.defpath})
