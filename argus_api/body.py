"""Reading a request's body: bounded while it streams in, then parsed by hand.

orjson is tried first. What it refuses is tried with the standard library, which takes lone surrogates (`"\\ud83d"`,
cut out of an emoji by some editors); they are replaced before anything is stored.
"""

from __future__ import annotations

import json
import math
from typing import Annotated, Any

import orjson
from fastapi import Depends, Request
from fastapi.concurrency import run_in_threadpool

from argus_api.errors import BadRequest, TooLarge
from argus_memory.errors import UsageError

SMALL_MAX = 1024 * 1024  # bytes; every body but a capture's is a few words
# What is above the limit is still taken off the line, up to this factor, and dropped: a client that is writing would
# otherwise see a broken connection instead of the answer.
DRAIN = 4
THREAD_ABOVE = 64 * 1024  # bytes that are parsed off the event loop
_INTEGER_MAX = 2**63 - 1


async def read_body(request: Request, limit: int) -> bytes:
    """At most `limit` bytes; raises TooLarge above that, at once where the client waits to be asked for the body."""
    told = request.headers.get("content-length", "")
    too_large = told.isdecimal() and int(told) > limit
    if too_large and (int(told) > limit * DRAIN or "expect" in request.headers):
        raise _too_large(limit)
    parts: list[bytes] = []
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > limit:
            too_large = True
            parts.clear()
        if size > limit * DRAIN:
            break
        if not too_large:
            parts.append(part)
    if too_large:
        raise _too_large(limit)
    return parts[0] if len(parts) == 1 else b"".join(parts)


async def read_json(request: Request, limit: int) -> Any:
    data = await read_body(request, limit)
    if len(data) > THREAD_ABOVE:
        return await run_in_threadpool(parse_json, data)
    return parse_json(data)


def parse_json(data: bytes) -> Any:
    """Raises BadRequest in one sentence on what is no UTF-8 or no JSON."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        pass
    if not data.strip():
        raise BadRequest("the body is empty: a JSON object is needed")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadRequest(f"the body is not UTF-8 (byte {error.start}, 0x{data[error.start]:02x})") from None
    try:
        return json.loads(text, parse_constant=_refuse, parse_int=_integer, parse_float=_number)
    except json.JSONDecodeError as error:
        raise BadRequest(f"the body is not JSON ({error.msg} at line {error.lineno}, column {error.colno})") from None
    except RecursionError:
        raise BadRequest("the body is nested too deeply to be read") from None


def require_object(data: object) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise UsageError(f"the body is {_a(data)}: a JSON object is needed")
    return data


async def read_object(request: Request) -> dict[str, Any]:
    """The small JSON object a call takes."""
    return require_object(await read_json(request, SMALL_MAX))


async def read_options(request: Request) -> dict[str, Any]:
    """The same for a call whose body may be left out."""
    data = await read_body(request, SMALL_MAX)
    return require_object(parse_json(data)) if data.strip() else {}


JsonObject = Annotated[dict[str, Any], Depends(read_object)]
JsonOptions = Annotated[dict[str, Any], Depends(read_options)]


def get_text(data: dict[str, Any], name: str) -> str | None:
    """The field's text, None where it is absent; raises UsageError on another type."""
    value = data.get(name)
    if value is not None and not isinstance(value, str):
        raise UsageError(f"{name}: is {_a(value)}, text is needed")
    return value or None


def get_flag(data: dict[str, Any], name: str, default: bool) -> bool:
    value = data.get(name, default)
    if not isinstance(value, bool):
        raise UsageError(f"{name}: is {_a(value)}, true or false is needed")
    return value


def get_number(data: dict[str, Any], name: str) -> float | None:
    value = data.get(name)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
        raise UsageError(f"{name}: is {_a(value)}, a number is needed")
    return value


def _too_large(limit: int) -> TooLarge:
    return TooLarge(f"the body has more than {limit // 1024:,} KiB, which is the limit: send it in parts")


def _a(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def _refuse(word: str) -> None:
    raise BadRequest(f"the body is not JSON ({word} is no JSON number)")


def _integer(digits: str) -> int | float:
    """As orjson reads it: what does not fit 64 bits is a float."""
    if len(digits) > 20:
        return _number(digits)
    value = int(digits)
    return value if abs(value) <= _INTEGER_MAX else float(value)


def _number(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise BadRequest("the body holds a number that is too large")
    return value
