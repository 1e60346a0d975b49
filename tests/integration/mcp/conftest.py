"""The MCP server as agents meet it: a real process, called by the SDK's own client in both generations."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.types import CallToolResult, Implementation

from argus_cli.embedded_postgres import EmbeddedPostgres
from tests.api_process import MCP, ApiProcess, api_process

OLD, NEW = "legacy", "2026-07-28"
TASKS = """\
[backup]
handler = code
command = true
schedule = @daily

[watched]
mode = observe
schedule = @daily
"""


@pytest.fixture(scope="session")
def api(postgres: EmbeddedPostgres, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiProcess]:
    folder = tmp_path_factory.mktemp("mcp")
    tasks = folder / "tasks"
    tasks.mkdir()
    (tasks / "config.ini").write_text(TASKS)
    for name in ("backup", "watched"):
        Path(tasks / name).mkdir()
    with api_process(postgres, folder) as running:
        yield running


@asynccontextmanager
async def connect(
    url: str, *, mode: str = NEW, token: str | None = MCP, name: str = "claude-code"
) -> AsyncIterator[Client]:
    """The SDK's client, shaking hands as `name` (legacy) or naming itself with each request."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with create_mcp_http_client(headers=headers) as http:
        transport = streamable_http_client(f"{url}/mcp", http_client=http)
        async with Client(transport, mode=mode, client_info=Implementation(name=name, version="1.0")) as client:
            yield client


def ask(url: str, work: Callable[[Client], Awaitable[Any]], **how: Any) -> Any:
    """What `work` gives with a client of its own."""

    async def go() -> Any:
        async with connect(url, **how) as client:
            return await work(client)

    return asyncio.run(go())


def call(api: ApiProcess, tool: str, /, mode: str = NEW, agent: str = "claude-code", **arguments: Any) -> Any:
    """The JSON a tool gives; fails when the tool refused."""
    result: CallToolResult = ask(api.url, lambda client: client.call_tool(tool, arguments), mode=mode, name=agent)
    assert not result.is_error, text_of(result)
    return json.loads(text_of(result))


def refusal(api: ApiProcess, tool: str, /, mode: str = NEW, **arguments: Any) -> str:
    """The sentence a tool refuses with."""
    result: CallToolResult = ask(api.url, lambda client: client.call_tool(tool, arguments), mode=mode)
    assert result.is_error, text_of(result)
    return text_of(result)


def text_of(result: CallToolResult) -> str:
    return "".join(part.text for part in result.content if part.type == "text")
