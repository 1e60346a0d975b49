"""What a run of `codex exec --json` came to. Pure.

Only errors are searched for words: `error` events, `turn.failed`, error items, and stderr where none of them came.
What commands printed and what the agent said are never searched. An `error` event before a turn that completed was
a reconnection, not an end. Codex tells no cost.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta, tzinfo
from typing import Final

from argus_memory.models.engines.classify_parts import (
    Event,
    by_exit,
    failed,
    find_reset,
    number_of,
    object_of,
    over,
    sum_of,
    text_of,
)
from argus_memory.models.engines.classify_text import read_failure, reason_of
from argus_memory.models.engines.records import Ended, McpError, Verdict
from argus_memory.models.engines.reset_times import from_epoch

_REQUIRED_MCP: Final = re.compile(r"required MCP servers failed to initialize:?\s*([^\n\"]*)", re.IGNORECASE)
_MCP_START: Final = re.compile(
    r"MCP (?:client|server)(?: for)? [`'\"]?([\w-]+)[`'\"]? "
    r"(?:failed to start|startup failed|timed out)[:\s]*([^\n\"]*)",
    re.IGNORECASE,
)


def classify_codex(ended: Ended, now: datetime, zone: tzinfo, *, servers: Sequence[str] = ()) -> Verdict:
    """The verdict; `servers` are the MCP servers that were asked for, `zone` that of times without one."""
    errors = list(_errors(ended.events))
    completed = _last(ended.events, "turn.completed")
    usage = object_of((completed or {}).get("usage"))
    started = _last(ended.events, "thread.started")
    return replace(
        _judge(ended, errors, completed, now, zone),
        session=text_of((started or {}).get("thread_id")) or None,
        exit_code=ended.exit_code,
        prompt_tokens=sum_of(usage, "input_tokens"),  # cached ones are among them
        completion_tokens=sum_of(usage, "output_tokens"),
        mcp_errors=find_mcp_errors("\n".join([*errors, ended.noise, ended.stderr]), servers),
    )


def find_mcp_errors(text: str, servers: Sequence[str]) -> tuple[McpError, ...]:
    """Servers that codex says did not start."""
    found = {name: reason_of(why) or "it did not start" for name, why in _MCP_START.findall(text) if name in servers}
    for said in _REQUIRED_MCP.findall(text):
        named = [name for name in servers if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", said)]
        for name in named or ["unknown"]:
            found.setdefault(name, reason_of(said) or "it did not start")
    return tuple(McpError(name, error) for name, error in sorted(found.items()))


def _judge(ended: Ended, errors: list[str], completed: Event | None, now: datetime, zone: tzinfo) -> Verdict:
    turn_failed = _last(ended.events, "turn.failed")
    done = completed is not None and (turn_failed is None or _after(ended.events, completed, turn_failed))
    if done and (ended.exit_code == 0 or ended.timed_out):
        answer = _answer(ended.events)
        return Verdict("ok", text=answer) if answer.strip() else Verdict("content", reason="the answer is empty")
    if ended.timed_out:
        return over(ended)
    texts = errors[-3:][::-1] or [text for text in (ended.stderr, ended.noise) if text.strip()]
    for text in texts:
        kind = read_failure(text)
        if kind == "capped":
            return Verdict("capped", reason=reason_of(_said(text)), reset_at=_reset(text, now, zone))
        if kind is not None:
            return failed(kind, [_said(text)], now, zone)
    if texts and errors:
        return Verdict("infra", reason=reason_of(_said(texts[0])))
    verdict = by_exit(ended, "without an end of its turn")
    said = reason_of(" ".join(texts))
    return replace(verdict, reason=f"{verdict.reason}: {said}") if said else verdict


def _errors(events: Sequence[Event]) -> Iterator[str]:
    for event in events:
        kind = event.get("type")
        if kind == "error":
            yield text_of(event.get("message"))
        elif kind == "turn.failed":
            yield text_of(object_of(event.get("error")).get("message"))
        elif kind in ("item.completed", "item.started") and object_of(event.get("item")).get("type") == "error":
            yield text_of(object_of(event.get("item")).get("message"))


def _answer(events: Sequence[Event]) -> str:
    """The last message of the agent."""
    for event in reversed(events):
        item = object_of(event.get("item"))
        if event.get("type") == "item.completed" and item.get("type") == "agent_message":
            return text_of(item.get("text"))
    return ""


def _said(text: str) -> str:
    """The message inside an error that the API gave as JSON."""
    inner = _payload(text)
    return text_of(inner.get("message")) or text_of(object_of(inner.get("error")).get("message")) or text


def _payload(text: str) -> Event:
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end < start:
        return {}
    try:
        return object_of(json.loads(text[start : end + 1]))
    except ValueError:
        return {}


def _reset(text: str, now: datetime, zone: tzinfo) -> datetime | None:
    """resets_at, then resets_in_seconds of the API's own error, then the words."""
    inner = _payload(text)
    error = object_of(inner.get("error")) or inner
    at = from_epoch(error.get("resets_at"))
    if at is None and (seconds := number_of(error.get("resets_in_seconds"))) is not None:
        at = now + timedelta(seconds=min(max(seconds, 0), 40 * 86_400))
    return at or find_reset([text], now, zone)


def _last(events: Sequence[Event], kind: str) -> Event | None:
    return next((event for event in reversed(events) if event.get("type") == kind), None)


def _after(events: Sequence[Event], one: Event, other: Event) -> bool:
    """Whether `one` came after `other`; both are objects of `events`."""
    places = {id(event): at for at, event in enumerate(events)}
    return places[id(one)] > places[id(other)]
