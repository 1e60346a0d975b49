"""The page of the outbox: what was sent, what waits and why, and sending it now."""

from __future__ import annotations

from dataclasses import replace

import pytest

from argus_memory.db import Database
from argus_memory.settings import Settings
from tests.filled_store import Filled
from tests.ui_client import Browser, count_queries, words_of


def test_what_waits_is_listed_with_the_reason_that_nothing_is_sent(reader: Browser) -> None:
    """Without a target the message is kept, the page says which setting is missing, and no button promises more."""
    words = words_of(reader.page("/ui/deliveries"))
    assert "1 message" in words
    assert "weather-note failed" in words
    assert "kept" in words
    assert "ARGUS_TELEGRAM_TOKEN" in words
    assert "Send now" not in words


def test_filters_narrow_and_an_unknown_one_is_refused(reader: Browser) -> None:
    """By state, kind and channel; a state that there is not is one sentence."""
    assert "Nothing fits" in words_of(reader.page("/ui/deliveries?status=sent"))
    assert "1 message" in words_of(reader.page("/ui/deliveries?kind=alert&channel=main"))
    assert reader.get("/ui/deliveries?status=lost").status_code == 422


def test_an_empty_outbox_says_what_would_fill_it(bare: Browser) -> None:
    """Not a blank table."""
    assert "Nothing was written yet." in words_of(bare.page("/ui/deliveries"))


def test_the_queries_do_not_grow_with_the_rows(bare: Browser, reader: Browser) -> None:
    """As many for one message as for none."""
    with count_queries() as few:
        bare.page("/ui/deliveries")
    with count_queries() as many:
        reader.page("/ui/deliveries")
    assert len(few) == len(many)


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """With a target, so that messages can be sent."""
    return replace(settings, ntfy_url="http://127.0.0.1:9/topic")


def test_a_message_given_up_is_sent_again_at_once(browser: Browser, filled: Filled, db: Database) -> None:
    """The button puts it back with all its tries; what was sent cannot be sent again, and says so."""
    with db.transaction() as conn:
        conn.execute("update deliveries set status = 'gave-up', attempts = 9, last_error = 'refused <b>'")
    page = browser.page("/ui/deliveries/1")
    assert "refused &lt;b&gt;" in page
    assert "sent at the next pass" in words_of(browser.follow("/ui/deliveries/1/retry"))
    assert db.fetch_one("select status, attempts from deliveries") == {"status": "pending", "attempts": 0}
    with db.transaction() as conn:
        conn.execute("update deliveries set status = 'sent', sent_at = now()")
    assert "Nothing was changed" in words_of(browser.follow("/ui/deliveries/1/retry"))
    assert browser.get("/ui/deliveries/999").status_code == 404
