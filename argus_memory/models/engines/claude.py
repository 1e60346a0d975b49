"""The engine `claude`: Claude Code without a terminal, `claude -p`.

Never --bare: it reads no subscription's login. Hooks are off by settings, and ARGUS_SESSION marks the session for
those that run all the same. The prompt comes as standard input (it may be longer than an argument, and `ps` shows
arguments), the context and the MCP configuration as files of mode 0600 in a folder that goes with the run.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Final

from argus_memory.models.engines.classify_claude import classify_claude
from argus_memory.models.engines.process import engine_environment, find_executable, run_process
from argus_memory.models.engines.records import Access, EngineRequest, Verdict

READ_TOOLS: Final = ("Read", "Glob", "Grep", "WebFetch", "WebSearch", "TodoWrite")
WRITE_TOOLS: Final = (*READ_TOOLS, "Edit", "Write", "NotebookEdit", "Bash")


@dataclass(frozen=True, slots=True)
class Claude:
    """`command` is ARGUS_CLAUDE; `zone` that of the times in its messages."""

    command: str
    zone: tzinfo
    name: str = "claude"

    def why_not(self, request: EngineRequest) -> str | None:
        if find_executable(self.command, engine_environment(os.environ, request.env, request.session)) is None:
            return f"not installed: no executable {self.command!r} (ARGUS_CLAUDE)"
        return None

    def run(self, request: EngineRequest, *, now: Callable[[], datetime]) -> Verdict:
        env = engine_environment(os.environ, request.env, request.session)
        with tempfile.TemporaryDirectory(prefix="argus-engine-") as name:  # 0700
            scratch = Path(name)
            argv = [find_executable(self.command, env) or self.command, *arguments(request, scratch)]
            try:
                ended = run_process(
                    argv,
                    prompt=write_private(scratch / "prompt", request.prompt),
                    folder=scratch if request.access == "none" else request.folder,
                    env=env,
                    time_limit=request.time_limit,
                )
            except OSError as error:
                return Verdict("infra", reason=f"{self.command} could not be started: {error}")
        return classify_claude(ended, now(), self.zone, servers=tuple(request.mcp_servers))


def arguments(request: EngineRequest, scratch: Path) -> list[str]:
    """The command line after the executable; writes the files it names into `scratch`."""
    servers = {name: dict(entry) for name, entry in request.mcp_servers.items()}
    mcp = write_private(scratch / "mcp.json", json.dumps({"mcpServers": servers}))
    system = write_private(scratch / "context.md", request.system)
    given = [
        "-p",
        "--output-format", "stream-json",
        "--verbose",
        "--mcp-config", str(mcp),
        "--strict-mcp-config",
        "--append-system-prompt-file", str(system),
        "--settings", '{"disableAllHooks":true}',
        *permissions(request.access, tuple(request.mcp_servers)),
    ]  # fmt: skip
    if request.max_turns is not None:
        given += ["--max-turns", str(request.max_turns)]
    if request.budget_usd is not None:
        given += ["--max-budget-usd", f"{request.budget_usd:.4f}"]
    return given


def permissions(access: Access, servers: tuple[str, ...]) -> list[str]:
    """What it may do unasked; nobody is there to be asked for more."""
    if access == "none":
        return ["--tools", ""]
    if access == "all":
        return ["--permission-mode", "bypassPermissions"]
    tools = WRITE_TOOLS if access == "write" else READ_TOOLS
    mode = ["--permission-mode", "acceptEdits"] if access == "write" else []
    return [*mode, "--allowedTools", ",".join([*tools, *(f"mcp__{name}" for name in servers)])]


def write_private(path: Path, text: str) -> Path:
    """A file that only this user reads."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(text.encode("utf-8", "replace").decode("utf-8"))
    return path
