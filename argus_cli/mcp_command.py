"""`argus mcp config`: what to paste so that Claude Code, Codex and others find Argus over MCP."""

from __future__ import annotations

import argparse
import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from argus_memory.errors import UsageError
from argus_memory.settings import Settings, load_settings

TOKEN: Final = "ARGUS_MCP_TOKEN"  # noqa: S105 — the variable's name
NAME: Final = "argus"


@dataclass(frozen=True, slots=True)
class Paste:
    """What one client needs: `text` goes into `file`; `command` does the same where the client has one."""

    client: str
    file: str
    text: str
    command: str | None = None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("config",))
    parser.add_argument("--client", choices=CLIENTS, help="one of them; all when not given")
    parser.add_argument(
        "--with-token", action="store_true", help=f"write the token itself instead of the variable {TOKEN}"
    )


def run(arguments: argparse.Namespace) -> int:
    settings = load_settings()
    if arguments.with_token and not settings.mcp_token:
        raise UsageError(f"{TOKEN} is not set yet: `argus up` makes it at the first start")
    url = f"{settings.api_url}/mcp"
    pastes = make_pastes(url, settings.mcp_token if arguments.with_token else None)
    wanted = {name: paste for name, paste in pastes.items() if arguments.client in (None, name)}
    export = None if arguments.with_token else export_line(settings)
    if arguments.json:
        print(json.dumps(as_json(url, export, wanted, token_set=bool(settings.mcp_token))))
    else:
        print(as_text(url, export, wanted))
    return 0


def make_pastes(url: str, token: str | None) -> dict[str, Paste]:
    """By client; with a token it is written out, without one each client reads it from the environment its way."""
    made = (
        _claude_code(url, token),
        _codex(url, token),
        _servers("cursor", "~/.cursor/mcp.json", {"url": url}, token or f"${{env:{TOKEN}}}"),
        _vs_code(url, token),
        _servers("gemini", "~/.gemini/settings.json", {"httpUrl": url}, token or f"${TOKEN}"),
        _servers("other", "its MCP settings", {"type": "http", "url": url}, token or f"the value of {TOKEN}"),
    )
    return {paste.client: paste for paste in made}


CLIENTS: Final = ("claude-code", "codex", "cursor", "vs-code", "gemini", "other")


def export_line(settings: Settings) -> str:
    """The line for a shell's profile that gives agents this one token and no other."""
    file = shlex.quote(str(settings.home / "env"))
    return f"export {TOKEN}=\"$(sed -n 's/^{TOKEN}=//p' {file})\""


def as_json(url: str, export: str | None, pastes: Mapping[str, Paste], *, token_set: bool) -> dict[str, Any]:
    return {
        "url": url,
        "variable": None if export is None else TOKEN,
        "export": export,
        "token_set": token_set,
        "clients": {
            name: {"file": paste.file, "text": paste.text, "command": paste.command} for name, paste in pastes.items()
        },
    }


def as_text(url: str, export: str | None, pastes: Mapping[str, Paste]) -> str:
    parts = [f"Argus over MCP: {url} (streamable HTTP, bearer token)"]
    if export is not None:
        parts.append(f"First, in your shell's profile (the token stays in the home):\n\n{export}")
    for name, paste in pastes.items():
        command = f"\n\nor: {paste.command}" if paste.command else ""
        parts.append(f"== {name}: into {paste.file}\n\n{paste.text}{command}")
    return "\n\n".join(parts)


def _claude_code(url: str, token: str | None) -> Paste:
    """`${NAME}` is expanded by Claude Code itself; the command's shell expands $NAME."""
    bearer = token or f"${{{TOKEN}}}"
    servers = {NAME: {"type": "http", "url": url, "headers": {"Authorization": f"Bearer {bearer}"}}}
    header = f'"Authorization: Bearer {token or f"${TOKEN}"}"'
    command = f"claude mcp add --transport http --scope user {NAME} {url} --header {header}"
    return Paste("claude-code", ".mcp.json of a project", _dump({"mcpServers": servers}), command)


def _codex(url: str, token: str | None) -> Paste:
    lines = [f"[mcp_servers.{NAME}]", f"url = {json.dumps(url)}"]
    if token:
        lines.append(f"http_headers = {{ Authorization = {json.dumps(f'Bearer {token}')} }}")
    else:
        lines.append(f"bearer_token_env_var = {json.dumps(TOKEN)}")
    return Paste("codex", "~/.codex/config.toml", "\n".join(lines))


def _vs_code(url: str, token: str | None) -> Paste:
    """Without a token the editor asks for it once and keeps it among its secrets."""
    bearer = token or "${input:argus-token}"
    settings: dict[str, Any] = {
        "servers": {NAME: {"type": "http", "url": url, "headers": {"Authorization": f"Bearer {bearer}"}}}
    }
    if not token:
        ask = {"type": "promptString", "id": "argus-token", "description": "Argus MCP token", "password": True}
        settings = {"inputs": [ask], **settings}
    return Paste("vs-code", ".vscode/mcp.json", _dump(settings))


def _servers(client: str, file: str, entry: dict[str, Any], bearer: str) -> Paste:
    servers = {NAME: {**entry, "headers": {"Authorization": f"Bearer {bearer}"}}}
    return Paste(client, file, _dump({"mcpServers": servers}))


def _dump(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
