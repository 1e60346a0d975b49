"""Two texts with what differs marked."""

from __future__ import annotations

import html
import re

from hypothesis import given
from hypothesis import strategies as st

from argus_api.ui.differences import differences
from argus_api.ui.words import show_text


def test_only_the_words_that_differ_are_marked() -> None:
    """A number that changed, on both sides."""
    old, new = differences("The pump runs at 12 bar.", "The pump runs at 14 bar.")
    assert old == "The pump runs at <del>12</del> bar."
    assert new == "The pump runs at <ins>14</ins> bar."


def test_texts_with_nothing_in_common_stand_unmarked() -> None:
    """All of it would be marked, which tells nothing."""
    assert differences("Water the tomatoes.", "CUPS stays.") == ("Water the tomatoes.", "CUPS stays.")


def test_a_text_without_end_is_cut() -> None:
    """A page shows its beginning, and that it goes on."""
    old, new = differences("x" * 1_000_000, "y")
    assert (len(old), old[-1], new) == (4002, "…", "y")


@given(st.text(max_size=120), st.text(max_size=120))
def test_marks_change_no_word_and_let_no_markup_through(old: str, new: str) -> None:
    """Without the marks each side is its own text, escaped."""
    for text, marked in zip((old, new), differences(old, new), strict=True):
        bare = re.sub(r"</?(?:del|ins)>", "", marked)
        assert html.unescape(bare) == show_text(text)
        assert "<" not in bare
