"""What a run of `claude -p --output-format stream-json` came to. Pure.

Read in this order; assistant texts and what tools printed are never searched for words:

1. The last result object. Success with an answer is ok, whatever happened on the way.
2. The last rate_limit_event, when it is `rejected`: capped until its resetsAt.
3. A result that is an error, also with exit code 0: by subtype, then status, then words.
4. No result: time over, a signal, then the words of stderr, of lines that are no JSON, of synthetic messages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, tzinfo
from typing import Final

from argus_memory.models.engines.classify_parts import (
    Event,
    by_exit,
    failed,
    find_reset,
    list_of,
    number_of,
    object_of,
    over,
    sum_of,
    text_of,
)
from argus_memory.models.engines.classify_text import Kind, is_limit_notice, read_failure, reason_of
from argus_memory.models.engines.records import Ended, McpError, Verdict
from argus_memory.models.engines.reset_times import from_epoch

OWN_LIMITS: Final[Mapping[str, str]] = {
    "error_max_turns": "it used up its turns before it was done",
    "error_max_budget_usd": "it used up its budget before it was done",
    "error_max_structured_output_retries": "it gave no answer of the asked shape",
}
_CONNECTED: Final = frozenset({"connected", "pending", "ok", "disabled"})


def classify_claude(ended: Ended, now: datetime, zone: tzinfo, *, servers: Sequence[str] = ()) -> Verdict:
    """The verdict; `servers` are the MCP servers that were asked for, `zone` that of times without one."""
    result = next((event for event in reversed(ended.events) if event.get("type") == "result"), None)
    verdict = _of_result(result, ended, now, zone) if result is not None else _without_result(ended, now, zone)
    usage = object_of((result or {}).get("usage"))
    init = _init(ended.events)
    return replace(
        verdict,
        model=_model(result, init),
        session=text_of((result or {}).get("session_id")) or text_of((init or {}).get("session_id")) or None,
        exit_code=ended.exit_code,
        cost_usd=number_of((result or {}).get("total_cost_usd")),
        prompt_tokens=sum_of(usage, "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"),
        completion_tokens=sum_of(usage, "output_tokens"),
        mcp_errors=find_mcp_errors(init, servers),
    )


def find_mcp_errors(init: Event | None, servers: Sequence[str]) -> tuple[McpError, ...]:
    """Servers that were skipped, did not connect, or are not even named in system/init."""
    if init is None:
        return ()
    found: dict[str, str] = {}
    for error in list_of(init.get("mcp_server_errors")):
        entry = object_of(error)
        name = text_of(entry.get("name") or entry.get("server")) or "unknown"
        why = text_of(entry.get("message") or entry.get("error") or entry.get("type"))
        found[name] = reason_of(why or str(error))
    entries = map(object_of, list_of(init.get("mcp_servers")))
    named = {text_of(entry.get("name")): text_of(entry.get("status")) for entry in entries}
    for name in servers:
        if name in found:
            continue
        if name not in named:
            found[name] = "it is not among the servers the engine started with"
        elif named[name] and named[name] not in _CONNECTED:
            found[name] = f"its status is {named[name]}"
    return tuple(McpError(name, error) for name, error in sorted(found.items()))


def _of_result(result: Event, ended: Ended, now: datetime, zone: tzinfo) -> Verdict:
    subtype, said = text_of(result.get("subtype")), text_of(result.get("result"))
    good = subtype == "success" and result.get("is_error") is not True
    clean = ended.exit_code == 0 or ended.timed_out  # timed out after its result: a child of it hung
    if good and clean and not is_limit_notice(said):
        return _answer(said)
    messages = [said, *map(text_of, list_of(result.get("errors"))), text_of(result.get("terminal_reason"))]
    texts = [text for text in messages if text]
    limit = _last_rejected(ended.events)
    if limit is not None:
        return _capped(limit, texts, now, zone)
    if subtype in OWN_LIMITS:
        return Verdict("content", reason=OWN_LIMITS[subtype], final=subtype != "error_max_structured_output_retries")
    kind = _kind_of(texts, result.get("api_error_status"))
    if kind is None and good and not clean:
        return by_exit(ended, "after its result")
    if kind is None and subtype == "success":
        kind = "content"  # an error that says nothing known is the job's own
    return failed(kind or "infra", texts or [f"the result says {subtype or 'nothing'}"], now, zone)


def _answer(said: str) -> Verdict:
    if not said.strip():
        return Verdict("content", reason="the answer is empty")
    return Verdict("ok", text=said)


def _without_result(ended: Ended, now: datetime, zone: tzinfo) -> Verdict:
    texts = [text for text in (*_synthetic(ended.events), ended.noise, ended.stderr) if text.strip()]
    limit = _last_rejected(ended.events)
    if limit is not None and not ended.timed_out:
        return _capped(limit, texts, now, zone)
    if ended.timed_out:
        return over(ended)
    kind = _kind_of(texts, None)
    if kind is not None:
        return failed(kind, texts, now, zone)
    retried = [event for event in ended.events if event.get("subtype") == "api_retry"]
    if retried:
        why = reason_of(text_of(retried[-1].get("error")))
        return Verdict("infra", reason=f"gave up after {len(retried)} tries: {why}")
    verdict = by_exit(ended, "without a result")
    said = reason_of(" ".join(texts))
    return replace(verdict, reason=f"{verdict.reason}: {said}") if said else verdict


def _last_rejected(events: Sequence[Event]) -> Event | None:
    """The rate-limit state that holds at the end, when it is a rejection."""
    for event in reversed(events):
        if event.get("type") == "rate_limit_event":
            info = object_of(event.get("rate_limit_info"))
            return info if info.get("status") == "rejected" else None
    return None


def _capped(info: Event, texts: Sequence[str], now: datetime, zone: tzinfo) -> Verdict:
    if info.get("errorCode") == "credits_required" or any(read_failure(text) == "configuration" for text in texts):
        return Verdict("infra", reason=reason_of(" ".join(texts) or "credits are required"), configuration=True)
    kind = text_of(info.get("rateLimitType")).replace("_", " ")
    said = next((reason_of(text) for text in texts if text), "")
    reason = said or f"its {kind + ' ' if kind else ''}limit is reached"
    return Verdict("capped", reason=reason, reset_at=from_epoch(info.get("resetsAt")) or find_reset(texts, now, zone))


def _kind_of(texts: Sequence[str], status: object) -> Kind | None:
    """By words first: a plan's limit comes with status 429 as well."""
    kind = next((kind for text in texts if (kind := read_failure(text))), None)
    if kind is None and isinstance(status, int):
        if status in (401, 402, 403):
            return "configuration"
        return "infra" if status in (408, 409, 425, 429) or status >= 500 else "content"
    return kind


def _synthetic(events: Sequence[Event]) -> Iterator[str]:
    """Messages that the program wrote in the model's place: errors, never a model's or a tool's words."""
    for event in events:
        message = object_of(event.get("message"))
        if event.get("type") != "assistant" or not (event.get("error") or message.get("model") == "<synthetic>"):
            continue
        for block in list_of(message.get("content")):
            if object_of(block).get("type") == "text":
                yield text_of(object_of(block).get("text"))


def _init(events: Sequence[Event]) -> Event | None:
    found = (event for event in reversed(events) if event.get("type") == "system" and event.get("subtype") == "init")
    return next(found, None)


def _model(result: Event | None, init: Event | None) -> str | None:
    """The model that did most of the work, else the one it started with."""
    used = object_of((result or {}).get("modelUsage"))
    if used:
        return max(used, key=lambda name: number_of(object_of(used[name]).get("outputTokens")) or 0)
    return text_of((init or {}).get("model")) or None
