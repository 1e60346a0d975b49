"""What each recorded end of an engine counts as."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from argus_memory.models.engines.classify_claude import classify_claude
from argus_memory.models.engines.classify_codex import classify_codex
from argus_memory.models.engines.classify_text import is_limit_notice, read_failure
from argus_memory.models.engines.records import Ended, McpError, Verdict
from tests.stubs.engines.recordings import CLAUDE, CODEX, GOOD, TALK

NOW = datetime(2026, 3, 4, 13, 0, tzinfo=UTC)  # a Wednesday
VIENNA = ZoneInfo("Europe/Vienna")  # one hour ahead
Of = Callable[[str, str], Ended]
IN_2H = NOW + timedelta(hours=2)
CAPPED, INFRA, CONTENT, TIMEOUT, OK, CONFIG = "capped", "infra", "content", "timeout", "ok", "configuration"


def utc(day: int, hour: int, minute: int = 0, month: int = 3) -> datetime:
    return datetime(2026, month, day, hour, minute, tzinfo=UTC)


CLAUDE_KINDS: dict[str, tuple[str, datetime | None]] = {
    "ok": (OK, None), "ok-talks-about-limits": (OK, None), "ok-done": (OK, None), "ok-after-warning": (OK, None),
    "ok-without-cost": (OK, None), "ok-fenced": (OK, None), "json": (OK, None), "prose": (OK, None),
    "distilled": (OK, None), "rejected": (CAPPED, IN_2H), "rejected-exit-0": (CAPPED, IN_2H), "rejected-no-result": (CAPPED, IN_2H),
    "session-limit": (CAPPED, utc(4, 14, 45)), "weekly-limit": (CAPPED, utc(8, 23)), "opus-limit": (CAPPED, utc(4, 17)),
    "limit-with-zone": (CAPPED, utc(4, 15)), "old-limit": (CAPPED, IN_2H), "old-limit-exit-0": (CAPPED, IN_2H),
    "extra-usage": (CAPPED, utc(4, 20)), "spend-limit": (CAPPED, None), "blocking-limit": (CAPPED, None),
    "limit-on-stderr": (CAPPED, utc(4, 14, 45)), "credit-balance": (CONFIG, None),
    "not-your-limit": (INFRA, None), "overloaded": (INFRA, None), "rejected-429": (INFRA, None),
    "server-error": (INFRA, None), "status-only": (INFRA, None), "logged-out": (CONFIG, None),
    "token-expired": (CONFIG, None), "old-version": (CONFIG, None), "max-turns": (CONTENT, None),
    "max-budget": (CONTENT, None), "during-execution": (INFRA, None), "too-long": (CONTENT, None),
    "error-inside": (CONTENT, None), "empty": (CONTENT, None), "exit-1-silent": (INFRA, None),
    "exit-143": (INFRA, None), "killed": (INFRA, None), "retries": (INFRA, None), "hang": (TIMEOUT, None),
    "hang-with-child": (TIMEOUT, None), "hang-after-result": (OK, None), "noise": (OK, None), "flood": (OK, None),
    "mcp-skipped": (OK, None), "mcp-failed": (OK, None), "mcp-absent": (OK, None), "mcp-connected": (OK, None),
}  # fmt: skip
CODEX_KINDS: dict[str, tuple[str, datetime | None]] = {
    "ok": (OK, None), "ok-talks-about-limits": (OK, None), "ok-after-reconnect": (OK, None), "json": (OK, None),
    "limit": (CAPPED, utc(5, 11, 16)), "limit-dated": (CAPPED, utc(28, 20, 3, month=4)),
    "limit-span": (CAPPED, NOW + timedelta(days=2, hours=3, minutes=5)),
    "limit-api": (CAPPED, NOW + timedelta(seconds=5400)), "limit-no-time": (CAPPED, None), "quota": (CONFIG, None),
    "logged-out": (CONFIG, None), "unauthorized": (CONFIG, None), "stream": (INFRA, None),
    "server-error": (INFRA, None), "too-long": (CONTENT, None), "unknown": (INFRA, None), "empty": (CONTENT, None),
    "exit-1-silent": (INFRA, None), "exit-2": (CONFIG, None), "killed": (INFRA, None), "hang": (TIMEOUT, None),
    "mcp-required": (INFRA, None), "mcp-optional": (OK, None),
}  # fmt: skip


def named(verdict: Verdict) -> str:
    return CONFIG if verdict.configuration else verdict.outcome


def test_every_recording_has_an_expected_verdict() -> None:
    """A new recording cannot be forgotten here."""
    assert CLAUDE.keys() == CLAUDE_KINDS.keys()
    assert CODEX.keys() == CODEX_KINDS.keys()


@pytest.mark.parametrize("kind", CLAUDE_KINDS)
def test_claude_is_judged_by_result_events_and_errors(ended: Of, kind: str) -> None:
    """Each kind of end is what the table says, with the reset as a UTC time; every failure has a reason."""
    verdict = classify_claude(ended("claude", kind), NOW, VIENNA)
    assert (named(verdict), verdict.reset_at) == CLAUDE_KINDS[kind]
    assert bool(verdict.reason) == (verdict.outcome != "ok")
    assert bool(verdict.text) == (verdict.outcome == "ok")


@pytest.mark.parametrize("kind", CODEX_KINDS)
def test_codex_is_judged_by_its_last_turn_and_errors(ended: Of, kind: str) -> None:
    """Each kind of end is what the table says; its cost is never known."""
    verdict = classify_codex(ended("codex", kind), NOW, VIENNA)
    assert (named(verdict), verdict.reset_at) == CODEX_KINDS[kind]
    assert bool(verdict.reason) == (verdict.outcome != "ok")
    assert verdict.cost_usd is None


def test_an_answer_and_a_tool_may_talk_about_limits(ended: Of) -> None:
    """A file's text or an answer that holds "usage limit" is no cap."""
    for engine, classify in (("claude", classify_claude), ("codex", classify_codex)):
        assert classify(ended(engine, "ok-talks-about-limits"), NOW, VIENNA).text == TALK


def test_tool_output_is_no_signal_of_a_failed_run_either(ended: Of) -> None:
    """A run that breaks off after a tool printed "usage limit reached" has broken off; it is not capped."""
    talked = ended("claude", "ok-talks-about-limits")
    broken = replace(talked, events=talked.events[:-1], exit_code=1)
    assert classify_claude(broken, NOW, VIENNA).outcome == "infra"
    printed = ended("codex", "ok")
    assert classify_codex(replace(printed, events=printed.events[:3], exit_code=1), NOW, VIENNA).outcome == "infra"


def test_an_answer_comes_with_its_figures(ended: Of) -> None:
    """Text, the model that did the work, session, cost and tokens; without a figure the cost is None and not 0."""
    verdict = classify_claude(ended("claude", "ok"), NOW, VIENNA)
    assert (verdict.text, verdict.model, verdict.cost_usd) == (GOOD, "claude-fable-5", 0.0421)
    assert (verdict.prompt_tokens, verdict.completion_tokens) == (1000, 250)
    assert verdict.session
    assert classify_claude(ended("claude", "ok-without-cost"), NOW, VIENNA).cost_usd is None
    codex = classify_codex(ended("codex", "ok"), NOW, VIENNA)
    assert (codex.text, codex.session, codex.prompt_tokens, codex.completion_tokens) == (GOOD, "0199-thread", 1200, 90)


def test_its_own_limits_end_the_chain_and_its_silence_does_not(ended: Of) -> None:
    """Used-up turns, budget and time are final; being silent for too long lets another engine try."""
    assert classify_claude(ended("claude", "max-turns"), NOW, VIENNA).final
    assert classify_claude(ended("claude", "hang"), NOW, VIENNA).final
    assert not classify_claude(replace(ended("claude", "hang"), silent=True), NOW, VIENNA).final
    assert not classify_claude(ended("claude", "empty"), NOW, VIENNA).final


def test_a_rejection_that_needs_credits_is_for_a_person(ended: Of) -> None:
    """`rejected` with credits_required ends when somebody pays, not at a time."""
    rejected = ended("claude", "rejected")
    info = {**rejected.events[1]["rate_limit_info"], "errorCode": "credits_required"}
    events = (rejected.events[0], {"type": "rate_limit_event", "rate_limit_info": info})
    assert classify_claude(replace(rejected, events=events), NOW, VIENNA).configuration


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("mcp-skipped", "url without type"),
        ("mcp-failed", "its status is failed"),
        ("mcp-absent", "it is not among the servers the engine started with"),
    ],
)
def test_a_server_that_did_not_load_is_named(ended: Of, kind: str, error: str) -> None:
    """Skipped, failed or absent: the answer counts, and the server is named with why."""
    verdict = classify_claude(ended("claude", kind), NOW, VIENNA, servers=("tools",))
    assert verdict.outcome == "ok"
    assert verdict.mcp_errors == (McpError("tools", error),)
    assert classify_claude(ended("claude", "mcp-connected"), NOW, VIENNA, servers=("tools",)).mcp_errors == ()


def test_codex_names_servers_that_did_not_start(ended: Of) -> None:
    """A required server ends the run, an optional one is told on the way; both are named."""
    required = classify_codex(ended("codex", "mcp-required"), NOW, VIENNA, servers=("tools",))
    assert [error.server for error in required.mcp_errors] == ["tools"]
    optional = classify_codex(ended("codex", "mcp-optional"), NOW, VIENNA, servers=("tools",))
    assert optional.mcp_errors == (McpError("tools", "timed out"),)


@pytest.mark.parametrize("text", ["You've hit your session limit · resets 3:45pm", "Error: usage limit reached"])
def test_a_notice_is_short_and_begins_with_the_limit(text: str) -> None:
    """The same words further on, or in a long text, are somebody's answer."""
    assert is_limit_notice(text)
    assert not is_limit_notice("I read that " + text)
    assert not is_limit_notice(text + " and more" * 60)


def test_not_the_usage_limit_is_said_about_servers() -> None:
    """A message that denies the plan's limit is infra, though it holds its words; an unknown one is nothing."""
    assert read_failure("Usage limit reached? No: not your usage limit") == "infra"
    assert read_failure("something odd") is None


def test_odd_shapes_of_json_are_survived() -> None:
    """Fields of the wrong type are as if they were not there."""
    odd = ({"type": "result", "result": 5, "usage": [], "modelUsage": 3, "errors": "x"}, {"type": 7}, {"type": "system", "subtype": "init", "mcp_servers": "none", "mcp_server_errors": [3]})
    assert classify_claude(Ended(odd, exit_code=0), NOW, VIENNA).outcome == "infra"
    assert classify_codex(Ended(({"type": "turn.failed", "error": []}, {"item": 4}), exit_code=1), NOW, VIENNA).outcome == "infra"
