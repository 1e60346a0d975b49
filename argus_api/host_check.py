"""Refuse a page that reached this hub under a name of its own (DNS rebinding).

A browser that was lured to `evil.example`, whose address then changes to 127.0.0.1, still sends that name as Host.
An address in digits cannot be rebound, and a call with a token is judged by its token. `/capture` is left to its
token as well: any refusal but 401 would make a hook take its turns for refused for good.
"""

from __future__ import annotations

import ipaddress
import socket
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from argus_api.errors import WrongHost, error_reply
from argus_memory.settings import Settings


def own_names(settings: Settings) -> frozenset[str]:
    """Names this hub is called by: loopback, the configured host, and the one hooks are told."""
    names = {"localhost", settings.api_host, urlsplit(settings.api_url).hostname or "", socket.gethostname()}
    return frozenset(name.lower().rstrip(".") for name in names if name)


def is_own(host: str, names: frozenset[str]) -> bool:
    """Whether a Host header (`name`, `name:port`, `[::1]:port`) names this hub."""
    try:
        name = urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return False
    if name.rstrip(".") in names or name.endswith(".localhost"):
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


class HostCheck:
    """The check as plain ASGI: a few microseconds a request."""

    def __init__(self, app: ASGIApp, names: frozenset[str]) -> None:
        self.app = app
        self.names = names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] != "/capture":
            headers = dict(scope["headers"])
            host = headers.get(b"host", b"").decode("latin-1")
            if b"authorization" not in headers and not is_own(host, self.names):
                message = (
                    f"{host[:100]!r} is not a name of this hub: use 127.0.0.1, or set ARGUS_API_URL to the address"
                    " it is reached by"
                )
                reply = error_reply(Request(scope), WrongHost.http_status, WrongHost.code, message)
                await reply(scope, receive, send)
                return
        await self.app(scope, receive, send)
