"""/mcp in the application. The SDK is imported behind the door, at the first request."""

from __future__ import annotations

from typing import Final

from fastapi import FastAPI
from starlette.routing import Route

from argus_api.auth import Level
from argus_api.host_check import own_names
from argus_api.hub import Hub
from argus_api.mcp.door import PATH, McpDoor, Served

METHODS: Final = ("POST", "GET", "DELETE")  # a message; the event stream and the end of a session of older clients


def add_mcp(app: FastAPI, hub: Hub) -> McpDoor:
    """Put the door in its place; its `open()` belongs to the lifespan."""

    def build() -> Served:
        from argus_api.mcp.server import McpServer

        return McpServer(hub)

    def user_of(level: Level) -> object:
        from argus_api.mcp.server import user_of

        return user_of(level)

    door = McpDoor(hub.tokens, own_names(hub.settings), build, user_of)
    app.router.routes.extend(Route(path, endpoint=door, methods=METHODS) for path in (PATH, f"{PATH}/"))
    return door
