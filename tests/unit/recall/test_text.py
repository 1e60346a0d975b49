"""The injected text."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from argus_memory.rules.recall_text import (
    NoteEntry,
    TurnEntry,
    clip,
    excerpt,
    length16,
    note_line,
    render,
    short_form,
    turn_line,
)

AT = datetime(2026, 5, 3, 10, 22, tzinfo=UTC)


def note(id_: int, content: str = "The staging database listens on port 5433.", title: str = "Port") -> NoteEntry:
    return NoteEntry(id_, title, content, "fact", "garden", AT, "claude-code", "3f2a91c0-1111")


def turn(raw_id: int, text: str = "we moved it to 5433") -> TurnEntry:
    return TurnEntry(raw_id, "User", text, "garden", AT, "3f2a91c0-1111")


def test_a_note_tells_its_day_kind_project_and_source() -> None:
    """Whoever reads it can see when it was said and where it stands."""
    assert note_line(note(12)) == (
        "- [2026-05-03, fact, garden] Port: The staging database listens on port 5433."
        " (note 12; claude-code session 3f2a91c0)"
    )


def test_a_turn_tells_who_said_it_when_and_where() -> None:
    """A verbatim turn is one line with its moment."""
    assert turn_line(turn(3, "a\n b")) == "- [2026-05-03 10:22 UTC, User, garden, session 3f2a91c0] a b"


def test_a_note_is_injected_in_two_sentences_at_most() -> None:
    """The short form; the title is not said twice."""
    assert short_form("The port", "The port is 5433. It was 5432. It will be 6543.") == (
        "The port is 5433. It was 5432."
    )


def test_who_said_it_is_no_reason_to_say_the_title_twice() -> None:
    """A note that begins with its title behind the speaker's label stands alone; another title stays in front."""
    assert short_form("The port is 5433", "User: The port is 5433.") == "User: The port is 5433."
    asked = 'Assistant, asked "Which port?": The port is 5433.'
    assert short_form("The port is 5433", asked) == asked
    assert short_form("Database", "User: The port is 5433.") == "Database: User: The port is 5433."


def test_what_finds_no_room_is_left_out_whole() -> None:
    """No entry is cut in the middle, and the ids tell which came through."""
    rendered = render([note(1), note(2, "x" * 500), note(3)], [turn(9)], 330)
    assert rendered.note_ids == (1, 3)
    assert "note 2" not in rendered.text


@given(st.lists(st.text(min_size=1, max_size=900), max_size=12), st.integers(0, 3000))
def test_the_limit_holds_as_the_host_counts(texts: list[str], limit: int) -> None:
    """Also for characters outside the basic plane, which count two."""
    notes = [note(n, text) for n, text in enumerate(texts)]
    turns = [turn(n, text) for n, text in enumerate(texts)]
    assert length16(render(notes, turns, limit).text) <= limit


def test_an_excerpt_shows_the_place_that_was_found() -> None:
    """Of a long turn the words around the rarest stem that occurs are shown."""
    text = "filler words " * 300 + "the secret port is 5433 " + "more filler " * 300
    assert "5433" in excerpt(text, ["zebra", "secret"])
    assert excerpt("short", ["zebra"]) == "short"


@given(st.text(max_size=400), st.integers(5, 200))
def test_clipping_keeps_the_length_and_marks_the_cut(text: str, chars: int) -> None:
    """A cut text ends in an ellipsis and is never longer than allowed."""
    cut = clip(text, chars)
    assert len(cut) <= max(chars, len(text) if len(text) <= chars else chars)
    assert cut == text or cut.endswith("…")
