"""Who may call what: three bearer tokens, each of which may do what the ones before it may.

    capture < mcp < admin

Tokens are compared in constant time, all three every time, and appear in no log and no answer.
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import IntEnum

from fastapi import Depends, Request
from fastapi.params import Depends as Dependency

from argus_api.errors import Forbidden, Unauthorized
from argus_memory.settings import Settings


class Level(IntEnum):
    """What a token is good for; a higher one includes the lower."""

    NOBODY = 0
    CAPTURE = 1
    MCP = 2
    ADMIN = 3


@dataclass(frozen=True, slots=True, repr=False)
class Tokens:
    """The tokens as bytes, lowest level first; one that is not set fits nothing."""

    by_level: tuple[tuple[Level, bytes], ...]

    @classmethod
    def of(cls, settings: Settings) -> Tokens:
        given = (
            (Level.CAPTURE, settings.capture_token),
            (Level.MCP, settings.mcp_token),
            (Level.ADMIN, settings.admin_token),
        )
        return cls(tuple((level, token.encode()) for level, token in given if token))

    def level_of(self, authorization: str | None) -> Level:
        """The level of an Authorization header; NOBODY for none, for another scheme and for an unknown token."""
        scheme, _, token = (authorization or "").partition(" ")
        given = token.strip().encode("utf-8", "replace") if scheme.lower() == "bearer" else b""
        found = Level.NOBODY
        for level, known in self.by_level:
            if hmac.compare_digest(given, known):
                found = max(found, level)
        return found


def check_token(request: Request, needed: Level) -> None:
    """Raises Unauthorized without a known token and Forbidden with one that is too low."""
    tokens: Tokens = request.app.state.hub.tokens
    level = tokens.level_of(request.headers.get("authorization"))
    if level == Level.NOBODY:
        raise Unauthorized(
            f"this call needs the header `Authorization: Bearer …` with the {needed.name.lower()} token or a higher"
            " one; the tokens stand in the file env under ARGUS_HOME"
        )
    if level < needed:
        raise Forbidden(f"the {level.name.lower()} token may not do this: use the {needed.name.lower()} token")


def level_of(request: Request) -> Level:
    """What the caller's token is good for."""
    tokens: Tokens = request.app.state.hub.tokens
    return tokens.level_of(request.headers.get("authorization"))


def require(needed: Level) -> Dependency:
    """The check as a dependency of a route or router. It runs before the body is read."""
    return Depends(_check(needed))  # type: ignore[no-any-return]  # FastAPI types it as Any


def _check(needed: Level) -> Callable[[Request], Awaitable[None]]:
    async def check(request: Request) -> None:  # async: on the loop, without a thread of its own
        check_token(request, needed)

    return check
