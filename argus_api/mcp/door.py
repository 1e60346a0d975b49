"""The door to /mcp: Host, Origin and token are checked before a byte of a message is read.

The server behind it is made at the first request: whoever uses no agent does not pay for it (half a second at the
start, 26 MB). It lives in a task of its own, because the SDK's session manager must end in the task it began in.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Final, Protocol
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from argus_api.auth import Level, Tokens
from argus_api.errors import Forbidden, Unauthorized, WrongHost, error_reply
from argus_api.host_check import is_own
from argus_memory.errors import ArgusError, Unreachable

PATH: Final = "/mcp"
OPEN_SECONDS: Final = 30.0  # for the first request, on a machine that is busy

log = logging.getLogger(__name__)


class Served(Protocol):
    """What stands behind the door."""

    @property
    def app(self) -> ASGIApp: ...

    def running(self) -> AbstractAsyncContextManager[None]: ...


@dataclass(slots=True)
class _Life:
    """One run of the application: `wanted` by the first request, `ready` when there is an answer to give."""

    wanted: asyncio.Event
    ready: asyncio.Event
    app: ASGIApp | None = None


class McpDoor:
    """An ASGI application; `open()` belongs to the API's lifespan."""

    def __init__(
        self, tokens: Tokens, names: frozenset[str], build: Callable[[], Served], wrap: Callable[[Level], object]
    ) -> None:
        self._tokens = tokens
        self._names = names
        self._build = build
        self._wrap = wrap
        self._life: _Life | None = None

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Stand ready; at the end every session is closed."""
        self._life = _Life(asyncio.Event(), asyncio.Event())
        task = asyncio.create_task(self._serve(self._life), name="mcp")
        try:
            yield
        finally:
            self._life = None
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def _serve(self, life: _Life) -> None:
        await life.wanted.wait()
        try:
            served = await asyncio.to_thread(self._build)
            async with served.running():
                life.app = served.app
                life.ready.set()
                await asyncio.get_running_loop().create_future()  # until the application ends
        except Exception:  # the API goes on without it; each call says so
            log.exception("the MCP server could not be started")
        finally:
            life.app = None
            life.ready.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        try:
            level = self._check(request)
            app = await self._find_app()
        except ArgusError as error:
            reply = error_reply(request, error.http_status, error.code, str(error))
            if isinstance(error, Unauthorized):
                reply.headers["WWW-Authenticate"] = "Bearer"
            await reply(scope, receive, send)
            return
        await app({**scope, "user": self._wrap(level)}, receive, send)

    def _check(self, request: Request) -> Level:
        """The caller's level. A call with a token is held to the hub's names as well: agents run in browsers too."""
        host = request.headers.get("host", "")
        if not is_own(host, self._names):
            raise WrongHost(
                f"{host[:100]!r} is not a name of this hub: use 127.0.0.1, or set ARGUS_API_URL to the address it is"
                " reached by"
            )
        origin = request.headers.get("origin")
        if origin and not is_own(_place_of(origin), self._names):
            raise Forbidden(f"a page of {origin[:100]!r} may not call this hub")
        level = self._tokens.level_of(request.headers.get("authorization"))
        if level == Level.NOBODY:
            raise Unauthorized(
                "this call needs the header `Authorization: Bearer …` with the MCP token; `argus mcp config` prints"
                " what to set"
            )
        if level < Level.MCP:
            raise Forbidden(f"the {level.name.lower()} token may not do this: use the MCP token")
        return level

    async def _find_app(self) -> ASGIApp:
        life = self._life
        if life is None:
            raise Unreachable("the hub is stopping or not started yet: try again")
        life.wanted.set()
        try:
            await asyncio.wait_for(life.ready.wait(), OPEN_SECONDS)
        except TimeoutError:
            raise Unreachable("the MCP server is still being started: try again") from None
        if life.app is None:
            raise Unreachable("the MCP server could not be started; the API's log tells why")
        return life.app


def _place_of(origin: str) -> str:
    """The host and port of an Origin header; "" for `null` and for what is no address."""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return ""
