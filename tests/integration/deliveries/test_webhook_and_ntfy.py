"""The other two targets: a webhook gets JSON, an ntfy topic gets text."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest

from argus_memory.db import Database
from argus_memory.settings import Settings
from argus_memory.watch.alerts import Condition, raise_alert
from argus_memory.watch.message_text import SENT_AGAIN
from argus_memory.watch.sender import send_pending
from argus_memory.watch.sender_state import find_sender_state
from tests.integration.deliveries.conftest import NOW, Put, outcomes, row_of
from tests.stubs.http_sink import HttpSink

LATER = NOW + timedelta(minutes=2)


@pytest.fixture
def sink() -> Iterator[HttpSink]:
    with HttpSink() as server:
        yield server


@pytest.fixture
def hooked(settings: Settings, sink: HttpSink) -> Settings:
    return replace(settings, webhook_url=f"{sink.url}/hook/secret-part", ntfy_url=f"{sink.url}/argus-topic", timezone="UTC")


def test_a_webhook_gets_one_object_with_its_key(db: Database, hooked: Settings, sink: HttpSink, put: Put) -> None:
    """The same Idempotency-Key for every try; the text whole, however long."""
    id_ = put("x " * 9000, channel="webhook", key="k:ü", link="https://a.test/run/1", task="backup")
    sink.statuses = [503, 200]
    send_pending(db, hooked, now=NOW, by="test")
    send_pending(db, hooked, now=LATER, by="test")
    assert [(one.path, one.headers["Idempotency-Key"]) for one in sink.posted] == [("/hook/secret-part", r"k:\xfc")] * 2
    body = json.loads(sink.posted[1].body)
    assert (body["id"], body["key"], body["kind"], body["channel"]) == (id_, "k:ü", "deliver", "webhook")
    assert (body["title"], body["text"], body["link"], body["task"]) == ("Title", "x " * 9000, "https://a.test/run/1", "backup")
    assert row_of(db, id_)["status"] == "sent"
    assert "secret-part" not in str(row_of(db, id_))


@pytest.mark.parametrize("status", [302, 401, 404])
def test_a_wrong_address_or_token_keeps_everything(
    db: Database, hooked: Settings, sink: HttpSink, put: Put, status: int
) -> None:
    """Never given up; health names the service."""
    id_ = put(channel="webhook")
    sink.statuses = [status]
    for minutes in range(0, 20, 2):
        send_pending(db, hooked, now=NOW + timedelta(minutes=minutes), by="test")
    assert row_of(db, id_)["status"] == "pending"
    assert (find_sender_state(db, hooked, now=NOW).status, "ARGUS_WEBHOOK_URL" in find_sender_state(db, hooked, now=NOW).detail) == ("failed", True)


def test_a_webhook_that_asks_for_a_pause_gets_it(db: Database, hooked: Settings, sink: HttpSink, put: Put) -> None:
    """429 with Retry-After."""
    put(channel="webhook")
    sink.statuses, sink.extra = [429, 200], {"Retry-After": "90"}
    send_pending(db, hooked, now=NOW, by="test")
    send_pending(db, hooked, now=NOW + timedelta(seconds=80), by="test")
    assert len(sink.posted) == 1
    send_pending(db, hooked, now=NOW + timedelta(seconds=95), by="test")
    assert [one.status for one in sink.posted] == [429, 200]


def test_ntfy_gets_title_priority_tags_and_link(db: Database, hooked: Settings, sink: HttpSink) -> None:
    """An alert is urgent, and a title with other than ASCII characters is encoded."""
    settings = replace(hooked, ntfy_token="tk_for_the_tests")
    with db.transaction() as conn:
        wrong = Condition("no-show", "task:b", "“b” did not run", detail="due", channel="ntfy", link="https://a.test/1")
        raise_alert(conn, settings, wrong, now=NOW, by="test")
    send_pending(db, settings, now=NOW, by="test")
    (got,) = sink.posted
    assert (got.path, got.body) == ("/argus-topic", b"due")
    assert base64.b64decode(got.headers["Title"][10:-2]).decode() == "“b” did not run"
    assert (got.headers["Priority"], got.headers["Tags"], got.headers["Click"]) == ("5", "rotating_light", "https://a.test/1")
    assert got.headers["Authorization"] == "Bearer tk_for_the_tests"


def test_a_long_text_is_several_ntfy_messages(db: Database, hooked: Settings, sink: HttpSink, put: Put) -> None:
    """Each below 4,096 bytes, the title numbered."""
    put("wörd " * 2000, channel="ntfy")
    send_pending(db, hooked, now=NOW, by="test")
    assert len(sink.posted) > 2
    assert all(len(one.body) <= 4096 for one in sink.posted)
    assert sink.posted[0].headers["Title"] == f"Title (1 of {len(sink.posted)})"


def test_a_lost_answer_of_ntfy_is_marked(db: Database, hooked: Settings, sink: HttpSink, put: Put) -> None:
    """ntfy cannot tell a repeat: the second copy says what it is."""
    id_ = put(channel="ntfy")
    sink.statuses = [504, 200]
    send_pending(db, hooked, now=NOW, by="test")
    send_pending(db, hooked, now=LATER, by="test")
    assert SENT_AGAIN in sink.posted[1].body.decode()
    assert outcomes(db, id_) == ["unknown", "sent"]


def test_one_service_that_is_away_holds_up_no_other(db: Database, hooked: Settings, sink: HttpSink, put: Put) -> None:
    """The webhook's address refuses the connection, ntfy gets its message."""
    settings = replace(hooked, webhook_url="http://127.0.0.1:9/x")
    waits, goes = put(channel="webhook"), put(channel="ntfy")
    send_pending(db, settings, now=NOW, by="test")
    assert (row_of(db, waits)["status"], row_of(db, goes)["status"]) == ("pending", "sent")
