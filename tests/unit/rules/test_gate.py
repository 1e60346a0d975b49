"""The write-gate: what a candidate must prove before it becomes a note."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus_memory.records import Candidate, EpisodeTurn, Unit
from argus_memory.rules.gate import Accepted, Rejected, judge

AT = datetime(2025, 3, 1, tzinfo=UTC)
TURNS = (
    EpisodeTurn(11, "user", "We keep the ledger in Postgres 16.\nPlease never  use\tfloats for money.", AT),
    EpisodeTurn(12, "assistant", "I changed the amounts to integers of cents.\nAll 31 tests pass.", AT),
    EpisodeTurn(13, "user", "It printed API Error: 529 Overloaded and stopped.", AT),
    EpisodeTurn(14, "user", "blue", AT),
)
UNIT = Unit("episode", 1, "ledger", TURNS)
GOOD = Candidate(
    title="Ledger in Postgres 16",
    content="The ledger is kept in Postgres 16",
    source_ref="We keep the ledger in Postgres 16.",
    category="decision",
)


def reason(candidate: Candidate, unit: Unit = UNIT) -> str | None:
    """The rejection's reason, None for an accepted candidate."""
    verdict = judge(candidate, unit)
    return verdict.reason if isinstance(verdict, Rejected) else None


def test_a_grounded_candidate_is_accepted_with_its_place() -> None:
    """Acceptance names the turn and the characters that support the note."""
    verdict = judge(GOOD, UNIT)
    assert isinstance(verdict, Accepted)
    assert (verdict.span.turn.raw_id, verdict.span.start, verdict.span.end) == (11, 0, 34)


def test_white_space_counts_as_equal() -> None:
    """A quotation whose line breaks and tabs became blanks still stands in the turn, at its real place."""
    verdict = judge(replace(GOOD, source_ref=" Please never use\n floats for  money. "), UNIT)
    assert isinstance(verdict, Accepted)
    span = verdict.span
    assert span.turn.text[span.start : span.end] == "Please never  use\tfloats for money."


@pytest.mark.parametrize(
    "source_ref",
    [
        "We keep the ledger in MySQL 8.",
        "we keep the ledger in postgres 16.",
        "floats for money. I changed the amounts",
        "use",
        "31",
    ],
)
def test_what_stands_in_no_single_turn_is_not_grounded(source_ref: str) -> None:
    """Invented, re-cased, glued from two turns, or too short to prove anything: rejected as grounding."""
    assert reason(replace(GOOD, source_ref=source_ref)) == "grounding"


def test_a_whole_short_turn_may_be_quoted() -> None:
    """The one-word answer "blue" is a span because it is all that was said."""
    assert reason(replace(GOOD, content="User: blue", source_ref="blue")) is None


@pytest.mark.parametrize("field", ["title", "content", "source_ref"])
def test_blank_parts_are_rejected(field: str) -> None:
    """A candidate without a title, content or source is no note."""
    assert reason(replace(GOOD, **{field: "  \n"})) == "shape"


def test_a_title_may_have_eighty_characters_and_no_more() -> None:
    """Eighty pass, eighty-one are rejected."""
    assert reason(replace(GOOD, title="x" * 80)) is None
    assert reason(replace(GOOD, title="x" * 81)) == "title"


def test_an_unknown_category_is_rejected() -> None:
    """Only the six categories exist."""
    assert reason(replace(GOOD, category="opinion")) == "category"


@pytest.mark.parametrize("importance", [-0.01, 1.01, float("nan"), float("inf")])
def test_importance_outside_its_range_is_rejected(importance: float) -> None:
    """Importance lies between 0 and 1; a number that is none is outside."""
    assert reason(replace(GOOD, importance=importance)) == "importance"


@pytest.mark.parametrize(
    "content",
    [
        "API Error: 529 Overloaded",
        "I'm sorry, but I can't assist with that.",
        "Assistant: You've hit your limit · resets 4pm",
    ],
)
def test_a_note_that_is_an_error_or_a_refusal_is_poison(content: str) -> None:
    """Poison in the content is rejected even when the source stands."""
    assert reason(replace(GOOD, content=content, source_ref="All 31 tests pass.")) == "poison"


def test_a_refusal_with_an_invented_source_is_poison_first() -> None:
    """What stands nowhere is judged as the model's own words."""
    candidate = replace(GOOD, content="x", source_ref="I'm sorry, but I can't help with that request.")
    assert reason(candidate) == "poison"


def test_an_error_that_a_person_quotes_is_kept() -> None:
    """A person's report of an error is a fact about their day."""
    candidate = replace(GOOD, content="API Error: 529 Overloaded", source_ref="API Error: 529 Overloaded")
    assert reason(candidate) is None


@pytest.mark.parametrize(
    ("content", "source_ref", "expected"),
    [
        ("User: All 31 tests pass.", "All 31 tests pass.", "attribution"),
        ("The user changed the amounts", "I changed the amounts to integers", None),
        ("The user prefers integers", "I changed the amounts to integers", "attribution"),
        ("User prefers no floats for money", "Please never use floats for money.", None),
        ("Assistant: Please never use floats", "Please never use floats for money.", "attribution"),
        ("Assistant: All 31 tests pass.", "All 31 tests pass.", None),
        ("User model amounts are integers", "I changed the amounts to integers", None),
    ],
)
def test_who_said_it_must_be_who_said_it(content: str, source_ref: str, expected: str | None) -> None:
    """A note that speaks of the user stands on a user's turn; "User model" names nobody."""
    assert reason(replace(GOOD, content=content, source_ref=source_ref)) == expected


def test_the_turn_of_the_claimed_speaker_is_preferred() -> None:
    """When both said the same words, the note is grounded in the turn of the one it names."""
    turns = (EpisodeTurn(1, "assistant", "Use port 8484.", AT), EpisodeTurn(2, "user", "Use port 8484.", AT))
    verdict = judge(
        replace(GOOD, content="User: Use port 8484.", source_ref="Use port 8484."), Unit("episode", 1, None, turns)
    )
    assert isinstance(verdict, Accepted)
    assert verdict.span.turn.raw_id == 2


def test_a_named_place_is_used_when_the_words_stand_there() -> None:
    """Of two equal sentences in a turn the distiller's own offset decides."""
    turn = EpisodeTurn(1, "user", "Keep it. Then: Keep it.", AT)
    candidate = replace(GOOD, source_ref="Keep it.", raw_id=1, source_start=15, source_end=23)
    verdict = judge(candidate, Unit("episode", 1, None, (turn,)))
    assert isinstance(verdict, Accepted)
    assert (verdict.span.start, verdict.span.end) == (15, 23)


def test_a_document_has_no_speakers() -> None:
    """In a document "The user is …" is its subject, not a person of the conversation."""
    page = EpisodeTurn(5, "assistant", "The user is logged out after an hour.", AT)
    unit = Unit("item", 5, None, (page,), item_kind="document")
    candidate = replace(GOOD, content=page.text, source_ref=page.text)
    assert reason(candidate, unit) is None


@given(st.integers(0, 60), st.integers(1, 60))
def test_every_slice_of_a_turn_that_says_enough_is_grounded(start: int, length: int) -> None:
    """Whatever is cut out of a turn is found in it again, at a place that says the same."""
    quotation = TURNS[0].text[start : start + length]
    if sum(c.isalnum() for c in quotation) < 4:
        return
    verdict = judge(replace(GOOD, source_ref=quotation), UNIT)
    assert isinstance(verdict, Accepted)
    assert verdict.span.turn.text[verdict.span.start : verdict.span.end].split() == quotation.split()


@given(
    st.builds(
        Candidate,
        title=st.text(max_size=90),
        content=st.text(max_size=90),
        source_ref=st.text(max_size=90),
        category=st.text(max_size=9),
        importance=st.floats(),
    )
)
def test_any_candidate_gets_a_verdict(candidate: Candidate) -> None:
    """Nothing a model answers makes the gate raise, and nothing invented passes it."""
    verdict = judge(candidate, UNIT)
    if isinstance(verdict, Accepted):
        assert " ".join(candidate.source_ref.split()) in " ".join(verdict.span.turn.text.split())
