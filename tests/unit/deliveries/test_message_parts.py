"""A long text is cut where a reader would cut it, and never above the limit."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus_memory.rules.message_parts import shorten, split_text, utf8_length, utf16_length

# Words, blanks, ends of sentences and paragraphs, and characters of two units and four bytes.
TEXTS = st.text(st.sampled_from("ab. \n🦉é"), max_size=400)


@given(TEXTS, st.integers(4, 60), st.integers(4, 60), st.sampled_from([utf16_length, utf8_length]))
def test_nothing_but_white_space_is_lost(text: str, limit: int, first: int, measure: Any) -> None:
    """Every part fits and has words, and together they are the text without the white space at the cuts."""
    parts = split_text(text, limit, first=first, measure=measure)
    assert all(measure(part) <= (limit if number else first) for number, part in enumerate(parts))
    assert all(part == part.strip() and part for part in parts)
    assert "".join("".join(parts).split()) == "".join(text.split())


@given(TEXTS, st.integers(4, 60))
def test_a_text_is_cut_no_more_often_than_half_full_parts_would_be(text: str, limit: int) -> None:
    """An end in the first half of what fits is passed over, so no part but the last is less than half full."""
    parts = split_text(text, limit)
    words = utf16_length("".join(text.split()))
    assert len(parts) <= 1 + text.strip().count("\n") + text.strip().count(" ") + 2 * words // max(1, limit - 1)


def test_a_paragraph_end_is_better_than_a_line_and_a_line_than_a_word() -> None:
    """The cut goes to the best kind of end in the second half of what fits."""
    assert split_text("one two three\n\nfour five six seven", 24) == ["one two three", "four five six seven"]
    assert split_text("one two three\nfour five six seven", 24) == ["one two three", "four five six seven"]
    assert split_text("It is done. Then comes more of it", 20) == ["It is done.", "Then comes more of", "it"]
    assert split_text("abcdefghij", 4) == ["abcd", "efgh", "ij"]


def test_an_emoji_is_two_units_and_never_cut_in_half() -> None:
    """Five owls of two units make three parts of four units."""
    assert utf16_length("🦉a") == 3
    assert split_text("🦉" * 5, 4) == ["🦉🦉", "🦉🦉", "🦉"]


def test_a_limit_without_room_for_a_character_is_refused() -> None:
    """A cut of nothing would never end."""
    with pytest.raises(ValueError, match="needs room"):
        split_text("🦉", 3)


@given(TEXTS, st.integers(4, 40))
def test_a_shortened_text_fits_and_begins_alike(text: str, limit: int) -> None:
    """What is left out shows as an ellipsis."""
    short = shorten(text, limit)
    assert utf16_length(short) <= limit
    assert short == text or text.startswith(short[:-1])
    assert short == text or short.endswith("…")
