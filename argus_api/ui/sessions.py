"""Sessions of the pages: a signed cookie, a token against forged requests, one-line messages. Pure; `now` is given.

The key is derived from the admin token: a new token ends every session. Nothing is stored on the server.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

COOKIE: Final = "argus_session"
FLASH_COOKIE: Final = "argus_flash"
LIVES_FOR: Final = timedelta(days=30)
FLASH_MAX: Final = 600  # characters of a message; a cookie has room for 4,096 bytes


@dataclass(frozen=True, slots=True)
class Session:
    """`csrf` goes into every form; `cookie`: the value that was sent, empty for a caller with a bearer token."""

    csrf: str
    cookie: str = ""


def key_of(admin_token: str | None) -> bytes | None:
    """None without an admin token: nobody can sign in then."""
    return hashlib.sha256(b"argus pages\0" + admin_token.encode()).digest() if admin_token else None


def open_session(key: bytes, *, now: datetime) -> str:
    """The value of a new session's cookie: `until.nonce.signature`."""
    body = f"{int((now + LIVES_FOR).timestamp())}.{secrets.token_urlsafe(16)}"
    return f"{body}.{_sign(key, 'session', body)}"


def read_session(key: bytes | None, cookie: str, *, now: datetime) -> Session | None:
    """None for a cookie that is forged, cut, or over."""
    body, _, signature = cookie.rpartition(".")
    if key is None or not _same(signature, _sign(key, "session", body)):
        return None
    until = body.partition(".")[0]
    if not until.isascii() or not until.isdigit() or not now.timestamp() < int(until):
        return None
    return Session(_sign(key, "csrf", body), cookie)


def is_csrf(session: Session, given: str) -> bool:
    return _same(given, session.csrf)


def write_flash(key: bytes, text: str, *, bad: bool) -> str:
    """A message for the next page, as a cookie's value."""
    body = ("!" if bad else ".") + (text if len(text) <= FLASH_MAX else f"{text[: FLASH_MAX - 1]}…")
    return f"{base64.urlsafe_b64encode(body.encode('utf-8', 'replace')).decode()}.{_sign(key, 'flash', body)}"


def read_flash(key: bytes | None, cookie: str) -> tuple[str, bool] | None:
    """The message and whether it tells of a failure; None where it is none of ours."""
    coded, _, signature = cookie.rpartition(".")
    try:
        body = base64.urlsafe_b64decode(coded).decode("utf-8")
    except (binascii.Error, ValueError):
        return None
    if key is None or not body or not _same(signature, _sign(key, "flash", body)):
        return None
    return body[1:], body[0] == "!"


def _sign(key: bytes, use: str, body: str) -> str:
    digest = hmac.new(key, f"{use}\0{body}".encode("utf-8", "replace"), hashlib.sha256).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def _same(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), wanted.encode())
