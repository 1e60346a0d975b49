"""What masking does at its edges: spans left open, tags talked about, metadata, and a megabyte made to be hard.

All secrets here are invented.
"""

from __future__ import annotations

import time

import pytest
from detect_secrets.core.scan import scan_line
from detect_secrets.settings import transient_settings
from hypothesis import given, settings
from hypothesis import strategies as st

from argus_memory.rules.masking import is_only_secret, mask_text

DISCORD = "MTk4NzY1NDMyMTAxMjM0NTY3.Gh7KpQ.aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
VALUE = "q8Wd2Lx7Vn4Zk9Rb"


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("before <private>my pin, my salary", "before [redacted:private]"),
        ("<PRIVATE>\nall of it\n", "[redacted:private]"),
        ("a <private>b <private>c</private> d", "a [redacted:private]"),
        ("a <private>b</private> c <private>d", "a [redacted:private] c [redacted:private]"),
        ("hide it in `<private>` tags, please", "hide it in `<private>` tags, please"),
        ('the "<private>" tag, then <private>x</private> y', 'the "<private>" tag, then [redacted:private] y'),
        ("hide it in `<private>`: <private>my pin", "hide it in `<private>`: [redacted:private]"),
        ("a </private> that closes nothing", "a </private> that closes nothing"),
    ],
)
def test_a_private_span_that_is_never_closed_goes_to_the_end(text: str, masked: str) -> None:
    """Everything behind an open tag is private; a quoted tag that nothing closes is talk about the tag."""
    assert mask_text(text)[0] == masked


def test_a_text_that_is_one_open_private_span_is_only_a_secret() -> None:
    """Nothing is left of it that could be remembered."""
    assert is_only_secret(mask_text("<private>\nall of it")[0])


def test_the_token_of_a_discord_bot_is_masked() -> None:
    """By its form alone, in prose, and so that the oracle finds no more of it."""
    line = f"the bot logs in with {DISCORD} today"
    assert mask_text(line) == ("the bot logs in with [redacted:discord-token] today", {"discord-token": 1})
    with transient_settings({"plugins_used": [{"name": "DiscordBotTokenDetector"}]}):
        assert [finding.secret_value for finding in scan_line(line)] != []
        assert list(scan_line(mask_text(line)[0])) == []


@pytest.mark.parametrize("text", ['{"password": "a\\"b1c2d3"}', "{'api_key': 'a\\'b1c2d3'}"])
def test_a_quote_inside_a_quoted_value_does_not_end_it(text: str) -> None:
    """An escaped quote belongs to the secret, and what follows it is not left standing."""
    masked, counts = mask_text(text)
    assert "b1c2d3" not in masked
    assert counts == {"assignment": 1}


@pytest.mark.parametrize("filler", ["?token=", "x=", "a:", "path/to/", "key="])
def test_a_secret_behind_a_long_run_is_still_found(filler: str) -> None:
    """A run of signs that is read only in part hides nothing that stands behind it."""
    masked, _ = mask_text(f"{filler * 200} password={VALUE}9 end")
    assert VALUE not in masked
    assert masked.endswith(" end")


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyzäé .,!?\n", max_size=400))
def test_small_words_are_never_touched(text: str) -> None:
    """Prose without signs, digits and capitals holds nothing to mask."""
    assert mask_text(text) == (text, {})


@pytest.mark.parametrize(
    "part",
    [
        "?token=", "=", "://", "<private>", "`<private>`", "password is ", "password='", "password=\"\\\"", "eyJa.",
        "cookie: a=b;", "a:", "AP", "SK-", "postgres://x:y", "MT", "Nj-", "authorization: bearer ",
        "<private>x</private>",
    ],
)  # fmt: skip
def test_the_time_of_masking_grows_with_the_length(part: str) -> None:
    """Four times the text takes nearer four times as long than sixteen: no pattern is quadratic, whatever repeats."""

    def seconds(length: int) -> float:
        text = part * (length // len(part))
        best = 60.0
        for _ in range(5):
            began = time.process_time()
            mask_text(text)
            best = min(best, time.process_time() - began)
        return best

    assert seconds(80_000) < max(10 * seconds(20_000), 0.1)
