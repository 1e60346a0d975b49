"""Reading the event: bounded in bytes and time, whatever the other end does with the pipe."""

from __future__ import annotations

import errno
import json
import os
import select
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Mapping, Tuple

EVENT_MAX = 16 * 1024 * 1024  # bytes; a prompt of 50 MB is refused
EVENT_WAIT_S = 2.0  # an open pipe that says nothing more is not waited for any longer


def read_event(fd: int = 0) -> Tuple[Dict[str, Any], str, bytes]:
    """The event on stdin, what was wrong with it (empty: nothing), and its bytes.

    Does not wait for the end of the stream: a caller that leaves the pipe open would hang the session. It ends as
    soon as what has come is a whole JSON object. Empty input is an empty event, not an error.
    """
    data, problem = _read_bounded(fd)
    if problem:
        return {}, problem, b""
    if not data.strip():
        return {}, "", b""
    try:
        event = json.loads(data.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        return {}, "the event is not JSON (%d bytes)" % len(data), data
    if not isinstance(event, dict):
        return {}, "the event is not a JSON object", data
    return event, "", data


def _read_bounded(fd: int) -> Tuple[bytes, str]:
    deadline = time.monotonic() + EVENT_WAIT_S
    chunks = bytearray()
    while True:
        left = deadline - time.monotonic()
        try:
            ready = left > 0 and bool(select.select([fd], [], [], left)[0])
        except (OSError, ValueError):  # no pipe to select on: closed, or Windows
            ready = True
        if not ready:
            return bytes(chunks), "" if _whole(chunks) else "stdin stayed open without a whole event"
        try:
            piece = os.read(fd, 1 << 16)
        except OSError as error:
            if error.errno in (errno.EAGAIN, errno.EINTR):
                continue
            return bytes(chunks), ""  # no stdin at all
        if not piece:
            return bytes(chunks), ""
        chunks += piece
        if len(chunks) > EVENT_MAX:
            return b"", "the event is larger than %d MB and was refused" % (EVENT_MAX >> 20)
        if len(piece) < 1 << 16 and _whole(chunks):
            return bytes(chunks), ""


def _whole(data: bytearray) -> bool:
    """Whether the bytes are a whole JSON object (or nothing at all)."""
    text = bytes(data).strip()
    if not text:
        return True
    if not text.endswith(b"}"):
        return False
    try:
        json.loads(text.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        return False
    return True


def own_session(environment: Mapping[str, str], marker: str) -> bool:
    """Whether Argus itself started this session: its own words must not become memories."""
    return environment.get(marker, "") not in ("", "0")
