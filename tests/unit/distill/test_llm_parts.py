"""Long units are cut into parts that fit a model, and nothing is lost on the way."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from argus_memory.models.llm_distill import count_tokens, split_parts, write_prompt
from argus_memory.records import EpisodeTurn, Unit

AT = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)


def turns(*texts: str) -> tuple[EpisodeTurn, ...]:
    return tuple(EpisodeTurn(n, "user" if n % 2 == 0 else "assistant", text, AT) for n, text in enumerate(texts))


@settings(max_examples=60)
@given(
    st.lists(st.text(alphabet="ab \n漢字🎉.", min_size=1, max_size=400), min_size=1, max_size=6), st.integers(20, 200)
)
def test_parts_hold_everything_and_fit(texts: list[str], budget: int) -> None:
    """Joined again, each turn's pieces are its text; no part is over budget; order stays."""
    parts = split_parts(turns(*texts), budget)
    again: dict[int, str] = {}
    for part in parts:
        assert sum(count_tokens(piece.text) for piece in part) <= budget
        for piece in part:
            again[piece.raw_id] = again.get(piece.raw_id, "") + piece.text
    assert again == dict(enumerate(texts))
    flat = [piece.raw_id for part in parts for piece in part]
    assert flat == sorted(flat)


def test_a_long_turn_is_cut_at_a_line() -> None:
    """Where a line ends in the second half of what fits, the cut is there, so that sentences stay whole."""
    text = "\n".join(f"line {n} of a long report" for n in range(40))
    for part in split_parts(turns(text), 60)[1:]:
        assert part[0].text.startswith("\nline")


def test_scripts_without_spaces_count_a_token_a_character() -> None:
    """A Chinese text is not taken for a quarter of its size."""
    assert count_tokens("漢" * 300) >= 300
    assert 90 <= count_tokens("a" * 300) <= 110


def test_the_prompt_names_speakers_days_and_part() -> None:
    """Each turn stands between its marks with speaker and minute; a part says which it is."""
    unit = Unit("episode", 1, "garden", turns("We sow.", "Noted."))
    prompt = write_prompt(unit, unit.turns, 2, 3)
    assert "a conversation between a user and an assistant" in prompt
    assert "from 2026-03-02 to 2026-03-02, project: garden. This is part 2 of 3." in prompt
    assert 'speaker="assistant" said="2026-03-02 09:30">\nNoted.\n</turn-' in prompt


def test_a_document_has_no_speaker_in_the_prompt() -> None:
    """An item is one document that nobody speaks in."""
    unit = Unit("item", 1, None, turns("Text {with} braces."), item_kind="document")
    prompt = write_prompt(unit, unit.turns, 1, 1)
    assert "What follows is one document" in prompt
    assert 'speaker="none"' in prompt
    assert "Text {with} braces." in prompt
