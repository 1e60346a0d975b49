"""tasks/context/mcp.json → the MCP servers of an agent, and what is wrong with the others.

    {"argus": false, "mcpServers": {"tools": {"type": "http", "url": "https://…", "headers": {"X-Key": "${KEY}"}}}}

`"argus": true` adds Argus's own endpoint, ARGUS_API_URL/mcp. `${NAME}` stands for a variable and is expanded by the
engine, so that no secret is written down. An entry that no engine could load is a problem with its name: engines skip
some of those without a word, and the check of the run would see nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from argus_memory.models.engines.records import McpError

OWN: Final = "argus"
TOKEN: Final = "ARGUS_MCP_TOKEN"  # noqa: S105 — a variable's name
FILE_MAX: Final = 1024 * 1024
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_VARIABLE: Final = re.compile(r"\$\{(\w+)\}")
_KINDS: Final = ("stdio", "http", "sse")


@dataclass(frozen=True, slots=True)
class McpConfig:
    """`servers` as an `mcpServers` object has them; `problems` name those that are left out."""

    servers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    problems: tuple[McpError, ...] = ()


def load_mcp_config(path: Path, *, api_url: str, env: Mapping[str, str]) -> McpConfig:
    """The file's servers, judged; no file: none. `env` is what the engine will see."""
    try:
        if path.stat().st_size > FILE_MAX:
            return _broken(path, f"is larger than {FILE_MAX:,} bytes")
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return McpConfig()
    except (OSError, UnicodeDecodeError) as error:
        return _broken(path, f"cannot be read: {error}")
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        return _broken(path, f"is not JSON: {error}")
    return judge_mcp(data, api_url=api_url, env=env)


def judge_mcp(data: object, *, api_url: str, env: Mapping[str, str]) -> McpConfig:
    """Pure: the usable entries and what is wrong with the rest."""
    if not isinstance(data, dict) or not isinstance(data.get("mcpServers", {}), dict):
        return McpConfig(problems=(McpError("mcp.json", 'must be an object: {"mcpServers": {…}}'),))
    given = dict(data.get("mcpServers", {}))
    problems: list[McpError] = []
    if data.get("argus") is True:
        if OWN in given:
            problems.append(McpError(OWN, "is the name of Argus's own endpoint: give your entry another one"))
        given[OWN] = own_entry(api_url)
    servers: dict[str, Mapping[str, Any]] = {}
    for name, entry in given.items():
        if isinstance(entry, dict) and entry.get("disabled") is True:
            continue
        problem = _find_problem(name, entry, env)
        if problem:
            problems.append(McpError(name, problem))
        else:
            servers[name] = {"type": "stdio", **entry} if "command" in entry else entry
    return McpConfig(servers, tuple(problems))


def own_entry(api_url: str) -> dict[str, Any]:
    """Argus's endpoint, with the token by the variable's name."""
    return {"type": "http", "url": f"{api_url}/mcp", "headers": {"Authorization": f"Bearer ${{{TOKEN}}}"}}


def _find_problem(name: str, entry: object, env: Mapping[str, str]) -> str | None:
    if not _NAME.fullmatch(name):
        return "its name must be letters, digits, _ and -, at most 64"
    if not isinstance(entry, dict):
        return "must be an object"
    kind = entry.get("type", "stdio" if "command" in entry else None)
    if kind not in _KINDS:
        return 'has no "type": write "http" or "sse" beside its url, or give it a command'
    needed = "command" if kind == "stdio" else "url"
    if not isinstance(entry.get(needed), str) or not entry[needed]:
        return f'of type {kind} needs "{needed}"'
    for key, wanted in (("args", list), ("env", dict), ("headers", dict)):
        if key in entry and not isinstance(entry[key], wanted):
            return f'"{key}" must be {"a list" if wanted is list else "an object"}'
    missing = sorted({variable for text in _texts(entry) for variable in _VARIABLE.findall(text)} - env.keys())
    return f"needs the variable {', '.join(missing)}, which is not set for this task" if missing else None


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)


def _broken(path: Path, problem: str) -> McpConfig:
    return McpConfig(problems=(McpError(path.name, problem),))
