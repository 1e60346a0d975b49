"""When the next message may go, what an answer means, and where a channel leads."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus_memory.errors import SettingError
from argus_memory.rules.send_answers import judge_break, judge_http, judge_telegram
from argus_memory.rules.send_pace import GROUP_MAX, backoff, is_group, next_slot
from argus_memory.settings import Settings, load_settings
from argus_memory.watch.channels import Route, Target, describe_lack, find_channels
from argus_memory.watch.sender_state import SenderFacts, SenderState, ServiceState, judge_sender, read_state

NOW = datetime(2026, 5, 4, 9, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
TELEGRAM = {"ARGUS_TELEGRAM_TOKEN": "1:token-for-the-tests", "ARGUS_TELEGRAM_CHATS": "main=100,team=-200/7,all=-200/1"}


def settings_with(**more: str) -> Settings:
    return load_settings({"ARGUS_HOME": "/tmp/argus-none", **more})


@given(st.lists(st.integers(0, 600), max_size=60), st.booleans())
def test_messages_sent_at_their_slots_keep_the_limits(wishes: list[int], group: bool) -> None:
    """Whatever moments one wishes for: one a second, and in a group never more than 20 in a minute."""
    sent: list[datetime] = []
    now = NOW
    for seconds in sorted(wishes):
        now = max(now, NOW + timedelta(seconds=seconds))
        now = next_slot([at for at in sent if now - at < MINUTE], group=group, now=now)
        sent.append(now)
    assert all(b - a >= timedelta(seconds=1) for a, b in pairwise(sent))
    if group:
        assert all(b - a >= MINUTE for a, b in zip(sent, sent[GROUP_MAX:], strict=False))


def test_a_free_chat_takes_a_message_at_once() -> None:
    """No wait without a reason."""
    assert next_slot([NOW - timedelta(seconds=2)], group=True, now=NOW) == NOW


@given(st.integers(1, 5000), st.floats(0, 1, exclude_max=True))
def test_the_wait_after_failures_grows_to_its_cap(failures: int, chance: float) -> None:
    """Never above the cap, never below half of what the number of failures asks, and never nothing."""
    wait = backoff(failures, cap=MINUTE, chance=chance)
    assert timedelta(seconds=1) <= wait <= MINUTE
    assert wait >= min(MINUTE, timedelta(seconds=2 ** min(failures, 6))) / 2


def test_groups_and_channels_are_told_from_persons() -> None:
    """A negative number or a name."""
    assert [is_group(chat) for chat in ("100", "-100200", "@news")] == [False, True, True]


@pytest.mark.parametrize(
    ("status", "description", "kind"),
    [
        (400, "Bad Request: can't parse entities: Can't find end tag", "markup"),
        (400, "Bad Request: message thread not found", "no-topic"),
        (400, "Bad Request: TOPIC_CLOSED", "no-topic"),
        (400, "Bad Request: chat not found", "no-chat"),
        (400, "Bad Request: message is too long", "refused"),
        (401, "Unauthorized", "key"),
        (403, "Forbidden: bot was blocked by the user", "no-chat"),
        (404, "Not Found", "key"),
        (409, "Conflict: terminated by other getUpdates request", "away"),
        (413, "Request Entity Too Large", "refused"),
        (429, "Too Many Requests: retry after 3", "slow-down"),
        (500, "Internal Server Error", "away"),
        (502, "Bad Gateway", "away"),
        (504, "Gateway Timeout", "unknown"),
        (200, "an answer that is not the Bot API's", "unknown"),
        (302, "", "away"),
    ],
)
def test_each_answer_of_telegram_has_its_meaning(status: int, description: str, kind: str) -> None:
    """As the table in rules/send_answers.py says."""
    assert judge_telegram(status, description) == kind


def test_each_answer_of_a_webhook_has_its_meaning() -> None:
    """2xx has arrived; an address or token that is wrong waits for a person; the words may be to blame."""
    kinds = {status: judge_http(status) for status in (204, 302, 400, 401, 404, 408, 413, 429, 500, 503, 504)}
    assert kinds == {
        204: "sent", 302: "key", 400: "refused", 401: "key", 404: "key", 408: "away", 413: "refused",
        429: "slow-down", 500: "away", 503: "away", 504: "unknown",
    }  # fmt: skip


def test_only_what_cannot_have_left_this_machine_is_surely_not_sent() -> None:
    """A refused connection is; one that broke while reading may have delivered."""
    assert [judge_break(name) for name in ("ConnectError", "ConnectTimeout", "ReadTimeout", "RemoteProtocolError")] == [
        "away", "away", "unknown", "unknown",
    ]  # fmt: skip


def test_a_channel_leads_to_its_chat_topic_or_address() -> None:
    """The general topic (1) is addressed without a thread; addresses are shown without user and password."""
    channels = find_channels(
        settings_with(**TELEGRAM, ARGUS_WEBHOOK_URL="https://kim:pw@hooks.test/x", ARGUS_NTFY_URL="https://ntfy.test/top")
    )
    assert {name: target.address for name, target in channels.by_name.items()} == {
        "main": "telegram:100", "team": "telegram:-200/7", "all": "telegram:-200", "webhook": "webhook:hooks.test",
        "ntfy": "ntfy:ntfy.test/top",
    }  # fmt: skip


def test_an_unknown_channel_leads_to_main_with_a_line() -> None:
    """Also `webhook` where no address is set."""
    channels = find_channels(settings_with(**TELEGRAM))
    for name in ("webhook", "nowhere"):
        route = channels.find_route(name)
        assert route is not None
        assert route.target.chat == "100"
        assert name in (route.note or "")


def test_main_is_what_there_is() -> None:
    """With ntfy alone, `main` is ntfy, and no line complains."""
    settings = settings_with(ARGUS_NTFY_URL="https://ntfy.test/top")
    assert find_channels(settings).find_route("main") == Route(Target("ntfy", "ntfy:ntfy.test/top"))


def test_half_a_configuration_sends_nothing_and_says_what_lacks() -> None:
    """A token without chats, chats without a token, nothing at all."""
    token_only = settings_with(ARGUS_TELEGRAM_TOKEN="1:token-for-the-tests")
    chats_only = settings_with(ARGUS_TELEGRAM_CHATS="main=1")
    assert [find_channels(each).main for each in (token_only, chats_only, settings_with())] == [None] * 3
    assert "ARGUS_TELEGRAM_CHATS names no chat" in describe_lack(token_only)
    assert "ARGUS_TELEGRAM_TOKEN is not" in describe_lack(chats_only)


@pytest.mark.parametrize("chats", ["main", "main=", "main=abc", "main=1/0", "main=1,main=2", "webhook=1", "a b=1"])
def test_a_malformed_chat_stops_the_start(chats: str) -> None:
    """One sentence names the variable and the accepted form."""
    with pytest.raises(SettingError, match=r"ARGUS_TELEGRAM_CHATS: .*accepted: name=chat_id"):
        settings_with(ARGUS_TELEGRAM_CHATS=chats)


FACTS = SenderFacts(0, None, 0, None, 0, NOW, SenderState(), None)
OLD = NOW - timedelta(minutes=30)


def with_service(**state: object) -> SenderState:
    return SenderState({"telegram": ServiceState(**state)})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("facts", "status", "said"),
    [
        (FACTS, "ok", "nothing waits"),
        (replace(FACTS, lack="nothing is configured to send: set it", waiting=3, oldest=OLD), "unknown", "3 messages are kept"),
        (replace(FACTS, beat_at=OLD, waiting=1, oldest=NOW), "failed", "does not run"),
        (replace(FACTS, state=with_service(status="refused", failures=1, since=OLD, error="401 Unauthorized")), "failed", "ARGUS_TELEGRAM_TOKEN"),
        (replace(FACTS, state=with_service(status="away", failures=1, since=NOW)), "warn", "does not answer"),
        (replace(FACTS, state=with_service(status="away", failures=9, since=OLD)), "failed", "does not answer"),
        (replace(FACTS, waiting=2, oldest=OLD, failing=1, error="403 blocked: words"), "failed", "(403)"),
        (replace(FACTS, gave_up=1), "warn", "given up"),
        (replace(FACTS, waiting=2, oldest=OLD), "warn", "more than 5 min"),
        (replace(FACTS, beat_at=None), "unknown", "not reported"),
    ],
)  # fmt: skip
def test_health_of_the_outbox(facts: SenderFacts, status: str, said: str) -> None:
    """Nothing configured and nothing known are unknown, never ok; what a server said is not repeated."""
    verdict = judge_sender(facts, NOW)
    assert verdict.status == status
    assert "words" not in verdict.detail
    assert said in verdict.detail


def test_the_state_survives_its_row() -> None:
    """What is written into the beat is read back alike; a beat without it knows of nothing wrong."""
    state = SenderState({"telegram": ServiceState("away", 3, OLD, NOW, "ConnectError")}, OLD)
    assert read_state(state.as_json()) == state
    assert read_state({}) == SenderState()
