"""The engine `codex`: `codex exec --json`.

It has no flag for a system prompt, so the agent's context stands before the prompt in its input. MCP servers are
`-c mcp_servers.…` overrides, which `ps` shows: a value that is `${NAME}` is given by the variable's name, and any
other value of a server's env or headers by a variable of the process. Each server is `required`, so that one which
does not start ends the run with its name instead of being left out.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any, Final

from argus_memory.models.engines.classify_codex import classify_codex
from argus_memory.models.engines.claude import write_private
from argus_memory.models.engines.process import engine_environment, find_executable, run_process
from argus_memory.models.engines.records import Access, EngineRequest, Verdict

SANDBOXES: Final[Mapping[Access, str]] = {
    "none": "read-only",
    "read": "read-only",
    "write": "workspace-write",
    "all": "danger-full-access",
}
_VARIABLE: Final = re.compile(r"\$\{(\w+)\}")
_BEARER: Final = re.compile(r"Bearer\s+\$\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Codex:
    """`command` is ARGUS_CODEX; `zone` that of the times in its messages."""

    command: str
    zone: tzinfo
    name: str = "codex"

    def why_not(self, request: EngineRequest) -> str | None:
        if find_executable(self.command, engine_environment(os.environ, request.env, request.session)) is None:
            return f"not installed: no executable {self.command!r} (ARGUS_CODEX)"
        return None

    def run(self, request: EngineRequest, *, now: Callable[[], datetime]) -> Verdict:
        base = engine_environment(os.environ, request.env, request.session)
        overrides, more = mcp_overrides(request.mcp_servers, base)
        env = {**base, **more}
        with tempfile.TemporaryDirectory(prefix="argus-engine-") as name:
            scratch = Path(name)
            try:
                ended = run_process(
                    [find_executable(self.command, env) or self.command, *arguments(request, overrides)],
                    prompt=write_private(scratch / "prompt", whole_prompt(request)),
                    folder=scratch if request.access == "none" else request.folder,
                    env=env,
                    time_limit=request.time_limit,
                )
            except OSError as error:
                return Verdict("infra", reason=f"{self.command} could not be started: {error}")
        return classify_codex(ended, now(), self.zone, servers=tuple(request.mcp_servers))


def arguments(request: EngineRequest, overrides: list[str]) -> list[str]:
    """The command line after the executable; `-c` must stand behind `exec`."""
    given = [
        "exec", "--json", "--skip-git-repo-check",
        "--sandbox", SANDBOXES[request.access],
        "-c", "features.hooks=false",
    ]  # fmt: skip
    if request.access == "none":
        given.append("--ephemeral")
    for override in overrides:
        given += ["-c", override]
    return [*given, "-"]


def whole_prompt(request: EngineRequest) -> str:
    return f"{request.system}\n\n# The task\n\n{request.prompt}" if request.system else request.prompt


def mcp_overrides(
    servers: Mapping[str, Mapping[str, Any]], env: Mapping[str, str]
) -> tuple[list[str], dict[str, str]]:
    """(`mcp_servers.…` settings, variables that the process needs for them)."""
    settings: list[str] = []
    more: dict[str, str] = {}
    for name, entry in servers.items():
        values: dict[str, Any] = {"required": True, "default_tools_approval_mode": "approve"}
        if "url" in entry:
            values["url"] = expand(str(entry["url"]), env)
            values |= _headers(name, entry.get("headers") or {}, env, more)
        else:
            values["command"] = expand(str(entry["command"]), env)
            values["args"] = [expand(str(each), env) for each in entry.get("args") or []]
            given = entry.get("env") or {}
            more |= {key: expand(str(value), env) for key, value in given.items()}
            if given:
                values["env_vars"] = sorted(given)
        settings += [f"mcp_servers.{name}.{key}={_toml(value)}" for key, value in values.items()]
    return settings, more


def _headers(name: str, headers: Mapping[str, Any], env: Mapping[str, str], more: dict[str, str]) -> dict[str, Any]:
    """A bearer token and other headers, each by the name of a variable."""
    values: dict[str, Any] = {}
    by_variable: dict[str, str] = {}
    for header, value in headers.items():
        bearer = _BEARER.fullmatch(str(value))
        if bearer and header.lower() == "authorization":
            values["bearer_token_env_var"] = bearer.group(1)
            continue
        whole = _VARIABLE.fullmatch(str(value))
        variable = whole.group(1) if whole else re.sub(r"\W", "_", f"MCP_{name}_{header}").upper()
        if not whole:
            more[variable] = expand(str(value), env)
        by_variable[header] = variable
    if by_variable:
        values["env_http_headers"] = by_variable
    return values


def expand(text: str, env: Mapping[str, str]) -> str:
    """`${NAME}` replaced by the variable; one that is not set stays as it is."""
    return _VARIABLE.sub(lambda found: env.get(found.group(1), found.group()), text)


def _toml(value: Any) -> str:
    """A value as TOML writes it: JSON's strings, numbers and lists are TOML's too; a table is inline."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {_toml(each)}" for key, each in value.items()) + "}"
    return json.dumps(value)
