"""One line a request: method, path, status, milliseconds. Never a query, a header or a word of a body.

A healthy /healthz is left out: the supervisor asks it all day.
"""

from __future__ import annotations

import logging
import sys
import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

PATH_MAX = 200  # characters
QUIET = ("/healthz", 200)

log = logging.getLogger(__name__)


def write_to_stderr() -> None:
    """Give the log its place; uvicorn leaves all loggers but its own without one. A second call changes nothing."""
    if not log.handlers:
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
        log.addHandler(handler)
        log.setLevel(logging.INFO)


def describe(method: str, path: str, status: int, seconds: float) -> str:
    """`POST /capture 201 3.2 ms`; what could break a line in two is escaped."""
    plain = path[:PATH_MAX].encode("unicode_escape").decode("ascii")
    return f"{method} {plain} {status} {seconds * 1000:.1f} ms"


class AccessLog:
    """Plain ASGI, around everything else: refusals and failures are requests too."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began = time.perf_counter()
        status = 500  # what the server makes of an application that answers nothing

        async def note_status(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, note_status)
        finally:
            if (scope["path"], status) != QUIET:
                log.info(describe(scope["method"], scope["path"], status, time.perf_counter() - began))
