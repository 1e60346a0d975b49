"""How captured text, times and numbers are shown."""

from __future__ import annotations

import unicodedata
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus_api.ui import words

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
ANY = st.text(alphabet=st.characters(codec=None, exclude_categories=()), max_size=60)


@given(ANY)
def test_nothing_unseen_is_left(text: str) -> None:
    """No control character but line breaks and tabs, and no mark that turns the direction, in any text."""
    shown = words.show_text(text)
    odd = [c for c in shown if unicodedata.category(c) in ("Cc", "Cs") and c not in "\n\t"]
    assert not odd
    assert not set(shown) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200b\u200e\u200f\ufeff")


@given(ANY)
def test_showing_twice_is_showing_once(text: str) -> None:
    """What was made visible stays as it is."""
    once = words.show_text(text)
    assert words.show_text(once) == once


@given(st.text(alphabet=st.characters(categories=("L", "N", "P", "Zs", "So")), max_size=80))
def test_ordinary_text_is_untouched(text: str) -> None:
    """Letters of every script, digits, signs, spaces, emoji."""
    assert words.show_text(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07after", "after"),
        ("a\x08b\x00", "a␈b␀"),
        ("pay \u202egpj.exe", "pay ⟨U+202E⟩gpj.exe"),
        ("zero\u200bwidth", "zero⟨U+200B⟩width"),
        ("half\ud83dpair", "half⟨U+D83D⟩pair"),
        ("👩‍🔬", "👩‍🔬"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("ab\u200dcd", "ab⟨U+200D⟩cd"),
        ("one\r\ntwo\tthree", "one\ntwo\tthree"),
        ("\U000e0041bc", "⟨tag A⟩bc"),
    ],
)
def test_show_text(text: str, shown: str) -> None:
    """Sequences of terminals go, what cannot be seen is named, joiners stay where a script needs them."""
    assert words.show_text(text) == shown


@given(ANY, st.integers(1, 40))
def test_clip_counts_what_it_leaves_off(text: str, limit: int) -> None:
    """Shown and left together are the text's length."""
    clipped = words.clip(text, limit)
    assert clipped.left == max(0, len(text) - limit)


def test_typed_leaves_out_what_cannot_be_seen() -> None:
    """A field holds no character that a person could not take out; joiners of emoji stay."""
    assert words.typed("a\u202eb\x1b[1mc\u200b 👩‍🔬") == "abc 👩‍🔬"


@given(st.text(max_size=300), st.integers(0, 300), st.integers(0, 300))
def test_marking_loses_no_word(text: str, start: int, end: int) -> None:
    """The three parts are the text again; a span that is none marks nothing."""
    marked = words.mark_span(text, start, end)
    assert marked.before + marked.span + marked.after == "".join(
        words.show_text(part) for part in ([text[:start], text[start:end], text[end:]] if 0 <= start < end <= len(text) else [text])
    )
    assert bool(marked.span) == (0 <= start < end <= len(text))


def test_a_long_text_is_shown_around_its_span() -> None:
    """Not from its beginning."""
    marked = words.mark_span("a" * 50_000 + "here" + "b" * 50_000, 50_000, 50_004, 1000)
    assert marked.span == "here"
    assert marked.before.startswith("…a")
    assert marked.after.endswith("b…")
    assert marked.left > 98_000


@given(ANY, st.lists(st.text(min_size=1, max_size=5), max_size=4))
def test_highlighting_escapes(text: str, marks: list[str]) -> None:
    """No markup of the text survives, whatever is marked."""
    shown = str(words.highlight(text, marks)).replace("<mark>", "").replace("</mark>", "")
    assert "<" not in shown
    assert ">" not in shown


def test_highlight_marks_words_of_the_question() -> None:
    """Also inflected ones; small words are left alone."""
    marks = words.question_words("where do the Dumps go & what of retention?")
    text = str(words.highlight("The dump's retention: what dumping does.", marks))
    assert "<mark>dump</mark>&#39;s <mark>retention</mark>: what <mark>dumping</mark>" in text


def test_code_stands_between_backticks() -> None:
    """A command in a sentence is code, and escaped; an odd tick is a tick."""
    assert str(words.coded("see `argus <x>` now")) == "see <code>argus &lt;x&gt;</code> now"
    assert str(words.coded("an odd ` tick")) == "an odd ` tick"


@pytest.mark.parametrize(
    ("gap", "told"),
    [(0, "just now"), (44, "just now"), (60, "60 s ago"), (600, "10 min ago"), (3 * 3600, "3 h ago"),
     (3 * 86400, "3 days ago"), (-7200, "in 2 h"), (-30, "just now")],
)  # fmt: skip
def test_ages(gap: float, told: str) -> None:
    """The largest unit that fits, past and to come."""
    assert words.age_text(NOW - timedelta(seconds=gap), NOW) == told


def test_times_numbers_and_money() -> None:
    """In the viewer's zone; unknown money is not zero."""
    assert words.local_text(NOW, ZoneInfo("Asia/Kathmandu")) == "2026-03-02 14:45"
    assert words.utc_text(NOW) == "2026-03-02 09:00:00 UTC"
    assert words.count_text(1, "note") == "1 note"
    assert words.count_text(1200, "pass", "passes") == "1,200 passes"
    assert [words.money_text(usd) for usd in (None, 0, 0.0021, 12.5)] == ["unknown", "$0.00", "$0.0021", "$12.50"]
    assert [words.bytes_text(size) for size in (12, 1500, 2_500_000, 3e9)] == ["12 B", "1.5 kB", "2.5 MB", "3.0 GB"]
