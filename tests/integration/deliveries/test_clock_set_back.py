"""The clock was a day ahead and is right again: what waits goes out by the right one, and nothing goes twice."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from argus_memory.db import Database
from argus_memory.settings import Settings
from argus_memory.watch import outbox as rows
from argus_memory.watch.sender import send_pending
from tests.integration.deliveries.conftest import NOW, Put, row_of
from tests.stubs.telegram_server import TelegramServer

AHEAD = NOW + timedelta(days=1)
DEAD = "http://127.0.0.1:9"


def test_an_outage_of_a_wrong_clock_holds_nothing_back(
    db: Database, outbox: Settings, telegram: TelegramServer, put: Put
) -> None:
    """The service's pause and the message's own wait end when the clock is set back, not a day later."""
    id_ = put(now=AHEAD)
    for minute in range(3):
        send_pending(db, replace(outbox, telegram_base_url=DEAD), now=AHEAD + timedelta(minutes=2 * minute), by="test")
    assert row_of(db, id_)["status"] == "pending"
    assert send_pending(db, outbox, now=NOW + timedelta(minutes=6), by="test").sent == 1
    assert len(telegram.texts) == 1


def test_what_was_sent_in_the_future_takes_no_chats_turn(
    db: Database, outbox: Settings, telegram: TelegramServer, put: Put
) -> None:
    """A chat that got something while the clock was ahead takes the next message at once."""
    put("first", now=AHEAD)
    assert send_pending(db, outbox, now=AHEAD, by="test").sent == 1
    put("second", now=NOW)
    assert send_pending(db, outbox, now=NOW, by="test").sent == 1
    assert send_pending(db, outbox, now=AHEAD + timedelta(minutes=5), by="test").sent == 0
    assert len(telegram.texts) == 2


def test_a_lease_of_the_future_is_one_of_a_sender_that_died(db: Database, outbox: Settings, put: Put) -> None:
    """Its message is taken over, and the channel is not held up until that time comes."""
    open_ = rows.Open(["main"], ["main"], True)
    id_ = put(now=AHEAD)
    assert rows.claim(db, "dead", open_, now=AHEAD) is not None
    taken = rows.claim(db, "living", open_, now=NOW)
    assert taken is not None
    assert (taken["id"], taken["taken_over"]) == (id_, True)
    assert rows.claim(db, "third", open_, now=NOW) is None


def test_an_honest_wait_is_kept(db: Database, outbox: Settings, telegram: TelegramServer, put: Put) -> None:
    """Telegram may ask for hours: nothing is sent before they are over."""
    put()
    telegram.behave("429:10800", "ok")
    assert send_pending(db, outbox, now=NOW, by="test").sent == 0
    for minutes in (1, 80, 170):
        assert send_pending(db, outbox, now=NOW + timedelta(minutes=minutes), by="test").sent == 0
    assert send_pending(db, outbox, now=NOW + timedelta(hours=3, minutes=1), by="test").sent == 1
