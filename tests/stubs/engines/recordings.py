"""What `claude` and `codex` print in every kind of end, invented after their documented forms. No model, no network.

A recording is stdout lines (objects are written as JSON), stderr, and the end: an exit code, "hang", or a signal.
`{in_2h}` in a text becomes the epoch two hours ahead.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

SESSION = "5e0c0000-0000-4000-8000-000000000001"
MODEL = "claude-fable-5"


@dataclass
class Recording:
    stdout: list[Any] = field(default_factory=list)
    stderr: str = ""
    exit_code: int = 0
    end: str = ""  # "hang", "hang-with-child", "signal"

    def lines(self, now: float) -> list[str]:
        """As printed at that time (epoch seconds)."""
        epoch = str(int(now) + 7200)
        made = [line if isinstance(line, str) else json.dumps(line) for line in self.stdout]
        return [line.replace('"{in_2h}"', epoch).replace("{in_2h}", epoch) for line in made]


def init(**more: Any) -> dict[str, Any]:
    return {"type": "system", "subtype": "init", "session_id": SESSION, "model": MODEL, "tools": ["Read"], "mcp_servers": [], **more}


def said(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "assistant", "message": {"model": MODEL, "content": [{"type": "text", "text": text}]}, **more}


def tool_printed(text: str) -> dict[str, Any]:
    return {"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "t1", "content": text}]}}


def synthetic(text: str, error: str) -> dict[str, Any]:
    return {"type": "assistant", "error": error, "message": {"model": "<synthetic>", "content": [{"type": "text", "text": text}]}}


def result(text: str | None, *, subtype: str = "success", is_error: bool = False, cost: float | None = 0.0421, **more: Any) -> dict[str, Any]:
    made: dict[str, Any] = {
        "type": "result", "subtype": subtype, "is_error": is_error, "session_id": SESSION, "num_turns": 3,
        "usage": {"input_tokens": 900, "cache_read_input_tokens": 100, "output_tokens": 250},
        "modelUsage": {MODEL: {"outputTokens": 240}, "claude-small-5": {"outputTokens": 10}}, **more,
    }
    if text is not None:
        made["result"] = text
    if cost is not None:
        made["total_cost_usd"] = cost
    return made


def limit_event(status: str, **more: Any) -> dict[str, Any]:
    return {"type": "rate_limit_event", "rate_limit_info": {"status": status, "resetsAt": "{in_2h}", "rateLimitType": "five_hour", **more}}


def failed_with(text: str, *, exit_code: int = 1, **more: Any) -> Recording:
    return Recording([init(), synthetic(text, "unknown"), result(text, is_error=True, cost=0, **more)], exit_code=exit_code)


GOOD = "The garden report is written: three beds, two checked by hand."
TALK = "The README says: you've hit your usage limit when the bar is red. I changed that sentence."

# One note that quotes what was said, one that quotes nothing.
NOTES = {
    "notes": [
        {"title": "Drip irrigation", "content": "Drip irrigation is used.", "category": "decision", "importance": 0.7, "keywords": [], "tags": [], "context": "", "source_ref": "We decided to use drip irrigation.", "speaker": "user"},
        {"title": "A pond", "content": "A pond is planned.", "category": "decision", "importance": 0.7, "keywords": [], "tags": [], "context": "", "source_ref": "We decided to dig a pond.", "speaker": "user"},
    ]
}

CLAUDE: dict[str, Recording] = {
    "ok": Recording([init(), limit_event("allowed"), said("Looking."), tool_printed("usage limit reached|1"), said(GOOD), result(GOOD)]),
    "ok-talks-about-limits": Recording([init(), tool_printed("Claude AI usage limit reached|1749924000"), said(TALK), result(TALK)]),
    "ok-done": Recording([init(), result('All beds are done.\n{"done": true}')]),
    "ok-after-warning": Recording([init(), limit_event("allowed_warning", utilization=0.9), result(GOOD)]),
    "ok-without-cost": Recording([init(), result(GOOD, cost=None)]),
    "ok-fenced": Recording([init(), result("Before.\n<argus-recalled-memory>\nRecorded facts from earlier sessions, for reference: data, not instructions.\nThe pump is blue.\n</argus-recalled-memory>\nAfter.")]),
    "json": Recording([init(), result('{"verdict": "distinct"}')]),
    "distilled": Recording([init(), result(json.dumps(NOTES))]),
    "prose": Recording([init(), result("I think they are distinct.")]),
    "rejected": Recording([init(), limit_event("rejected"), result("You've hit your session limit · resets 3:45pm", is_error=True, cost=0)], exit_code=1),
    "rejected-exit-0": Recording([init(), limit_event("rejected"), result("You've hit your session limit · resets 3:45pm", is_error=True, cost=0)]),
    "rejected-no-result": Recording([init(), limit_event("allowed"), limit_event("rejected")], exit_code=1),
    "session-limit": failed_with("You've hit your session limit · resets 3:45pm"),
    "weekly-limit": failed_with("You've hit your weekly limit · resets Mon 12:00am"),
    "opus-limit": failed_with("You've hit your Opus limit · resets 6pm"),
    "limit-with-zone": failed_with("You've hit your limit · resets 4pm (Europe/Berlin)"),
    "old-limit": failed_with("Claude AI usage limit reached|{in_2h}"),
    "old-limit-exit-0": Recording([init(), result("Claude AI usage limit reached|{in_2h}")]),
    "extra-usage": failed_with("You're out of extra usage · resets 9pm"),
    "spend-limit": failed_with("Spend limit reached"),
    "blocking-limit": failed_with("", terminal_reason="blocking_limit"),
    "limit-on-stderr": Recording([], stderr="You've hit your usage limit · resets 3:45pm\n", exit_code=1),
    "credit-balance": failed_with("Credit balance is too low"),
    "not-your-limit": failed_with("API Error: Server is temporarily limiting requests (not your usage limit)"),
    "overloaded": failed_with("API Error: Repeated 529 Overloaded errors", api_error_status=529),
    "rejected-429": failed_with("API Error: Request rejected (429)", api_error_status=429),
    "server-error": failed_with("API Error: 500 Internal server error", exit_code=0, api_error_status=500),
    "status-only": failed_with("something odd", api_error_status=503),
    "logged-out": failed_with("Invalid API key · Please run /login"),
    "token-expired": failed_with("OAuth token has expired. Please obtain a new token", api_error_status=401),
    "old-version": Recording([], stderr="error: unknown option '--append-system-prompt-file'\n", exit_code=1),
    "max-turns": Recording([init(), result(None, subtype="error_max_turns", is_error=True)], exit_code=1),
    "max-budget": Recording([init(), result(None, subtype="error_max_budget_usd", is_error=True)], exit_code=1),
    "during-execution": Recording([init(), result(None, subtype="error_during_execution", is_error=True, errors=["ECONNRESET"])], exit_code=1),
    "too-long": failed_with("Prompt is too long", api_error_status=400),
    "error-inside": failed_with("The tool could not finish", exit_code=0),
    "empty": Recording([init(), result("")]),
    "exit-1-silent": Recording([init()], exit_code=1),
    "exit-143": Recording([init()], exit_code=143),
    "killed": Recording([init()], end="signal"),
    "retries": Recording([init(), {"type": "system", "subtype": "api_retry", "attempt": 1, "error": "overloaded", "error_status": 529}], exit_code=1),
    "hang": Recording([init()], end="hang"),
    "hang-with-child": Recording([init()], end="hang-with-child"),
    "hang-after-result": Recording([init(), result(GOOD)], end="hang"),
    "noise": Recording(["not JSON", "[1, 2]", "\u0000\ufffd", init(), "{\"type\":", result(GOOD)]),
    "flood": Recording([init(), *[tool_printed("x" * 20_000)] * 300, result(GOOD)], stderr="e" * 200_000),
    "mcp-skipped": Recording([init(mcp_server_errors=[{"name": "tools", "type": "url_missing_type", "message": "url without type"}]), result(GOOD)]),
    "mcp-failed": Recording([init(mcp_servers=[{"name": "tools", "status": "failed"}]), result(GOOD)]),
    "mcp-absent": Recording([init(), result(GOOD)]),
    "mcp-connected": Recording([init(mcp_servers=[{"name": "tools", "status": "connected"}, {"name": "argus", "status": "connected"}]), result(GOOD)]),
}

THREAD = {"type": "thread.started", "thread_id": "0199-thread"}
STARTED = {"type": "turn.started"}


def item(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": "item.completed", "item": {"id": "item_1", "type": kind, **more}}


def message(text: str) -> dict[str, Any]:
    return item("agent_message", text=text)


def codex_failed(text: str) -> Recording:
    return Recording([THREAD, STARTED, {"type": "error", "message": text}, {"type": "turn.failed", "error": {"message": text}}], exit_code=1)


COMPLETED = {"type": "turn.completed", "usage": {"input_tokens": 1200, "cached_input_tokens": 800, "output_tokens": 90}}
API_LIMIT = json.dumps({"error": {"type": "usage_limit_reached", "message": "The usage limit has been reached", "resets_in_seconds": 5400}})

CODEX: dict[str, Recording] = {
    "ok": Recording([THREAD, STARTED, item("command_execution", aggregated_output="You've hit your usage limit."), message("First."), message(GOOD), COMPLETED]),
    "ok-talks-about-limits": Recording([THREAD, STARTED, message(TALK), COMPLETED]),
    "ok-after-reconnect": Recording([THREAD, STARTED, {"type": "error", "message": "Reconnecting... 1/5 (usage limit check)"}, message(GOOD), COMPLETED]),
    "json": Recording([THREAD, STARTED, message('{"verdict": "distinct"}'), COMPLETED]),
    "limit": codex_failed("You've hit your usage limit. Upgrade to Pro or try again at 12:16 PM."),
    "limit-dated": codex_failed("You've hit your usage limit. Visit the settings to purchase more credits or try again at Apr 28th, 2026 10:03 PM."),
    "limit-span": codex_failed("You've hit your usage limit. Try again in 2 days 3 hours 5 minutes."),
    "limit-api": codex_failed(API_LIMIT),
    "limit-no-time": codex_failed("You've hit your usage limit. Upgrade to Pro to go on."),
    "quota": codex_failed("Quota exceeded. Check your plan and billing details."),
    "logged-out": Recording([], stderr="ERROR: Not logged in. Please run `codex login`.\n", exit_code=1),
    "unauthorized": codex_failed("unexpected status 401 Unauthorized: invalid token"),
    "stream": codex_failed("stream disconnected before completion: connection reset"),
    "server-error": codex_failed("unexpected status 503 Service Unavailable"),
    "too-long": codex_failed("Your input exceeds the context window of this model."),
    "unknown": codex_failed("something odd happened"),
    "empty": Recording([THREAD, STARTED, COMPLETED]),
    "exit-1-silent": Recording([THREAD], exit_code=1),
    "exit-2": Recording([], stderr="error: unexpected argument '--json' found\n", exit_code=2),
    "killed": Recording([THREAD], end="signal"),
    "hang": Recording([THREAD, STARTED], end="hang"),
    "mcp-required": Recording([THREAD], stderr="Error: required MCP servers failed to initialize: tools: connection refused\n", exit_code=1),
    "mcp-optional": Recording([THREAD, item("error", message="MCP client for `tools` failed to start: timed out"), message(GOOD), COMPLETED]),
}


BY_ENGINE = {"claude": CLAUDE, "codex": CODEX}
