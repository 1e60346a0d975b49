"""Answers that fit an agent: JSON in one text, at most ANSWER_CHARS of it, with a cursor for what was left off.

Agents are cut off at 25,000 tokens and warn at 10,000. ANSWER_CHARS stays under both in any script: a character of
Latin text is a quarter of a token, of others at most about one.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import orjson
from mcp.types import CallToolResult, TextContent

from argus_memory.errors import UsageError

ANSWER_CHARS: Final = 9_000  # of the rows in one answer
CURSOR_MAX: Final = 2_000  # characters of a cursor that are looked at


def give(data: Mapping[str, Any]) -> CallToolResult:
    """The answer; fields that say nothing are left out, but for its own lists; times are ISO 8601 in UTC."""
    shown = {key: lean(value) for key, value in data.items() if value is not None}
    return CallToolResult(content=[TextContent(type="text", text=orjson.dumps(shown).decode())])


def refuse(sentence: str) -> CallToolResult:
    """A failure that the agent can read and act on."""
    return CallToolResult(content=[TextContent(type="text", text=sentence)], is_error=True)


def lean(value: Any) -> Any:
    """Without fields that are None or empty: an agent pays for each."""
    if isinstance(value, Mapping):
        return {key: lean(each) for key, each in value.items() if each is not None and each != () and each != []}
    if isinstance(value, list | tuple):
        return [lean(each) for each in value]
    return value


def fit(rows: Sequence[Mapping[str, Any]], room: int = ANSWER_CHARS) -> list[Mapping[str, Any]]:
    """The first rows that find room together, always at least one."""
    kept: list[Mapping[str, Any]] = []
    for row in rows:
        room -= len(orjson.dumps(lean(row), default=str).decode())
        if kept and room < 0:
            break
        kept.append(row)
    return kept


def write_cursor(**place: Any) -> str:
    """Where an answer ended, as one word; a tool reads back only what it wrote."""
    return base64.urlsafe_b64encode(orjson.dumps(place)).decode().rstrip("=")


def read_cursor(text: str | None, **kinds: type) -> dict[str, Any]:
    """The place in a cursor, {} without one. Raises UsageError for what is no cursor of this tool."""
    if not text:
        return {}
    wrong = UsageError("cursor: it is not one that this tool gave; ask again without it")
    if len(text) > CURSOR_MAX:
        raise wrong
    try:
        place = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except (ValueError, binascii.Error, RecursionError):
        raise wrong from None
    if not isinstance(place, dict) or place.keys() != kinds.keys():
        raise wrong
    for name, kind in kinds.items():
        value = place[name]
        if not isinstance(value, kind) or isinstance(value, bool):
            raise wrong
        if isinstance(value, int) and not 0 <= value < 2**63:
            raise wrong
    return place


def read_moment_of(place: Mapping[str, Any], name: str) -> datetime:
    """A moment that write_cursor wrote. Raises UsageError."""
    try:
        moment = datetime.fromisoformat(place[name])
    except ValueError:
        raise UsageError("cursor: it is not one that this tool gave; ask again without it") from None
    if moment.tzinfo is None:
        raise UsageError("cursor: it is not one that this tool gave; ask again without it")
    return moment
