"""Whether an answer used a note that it was shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus_memory.rules.impact import use_score, was_used
from tests.unit.impact.harder_pairs import HARDER
from tests.unit.impact.pairs import DEV, HELD_OUT, Shown

BALANCED = 0.75


@pytest.mark.parametrize("half", [DEV, HELD_OUT, HARDER], ids=["dev", "held-out", "harder"])
def test_labelled_answers_are_told_apart(half: tuple[Shown, ...]) -> None:
    """At least three of four, used and unused counted apart, of each half of 50 labelled answers, and of 40 more that
    are reworded or on the same subject."""
    judged = [(was_used(use_score(each.note, each.prompt, each.answer)), each.used) for each in half]
    found = [judgement for judgement, used in judged if used]
    passed = [not judgement for judgement, used in judged if not used]
    assert len(DEV) + len(HELD_OUT) >= 40
    assert (sum(found) / len(found) + sum(passed) / len(passed)) / 2 >= BALANCED


def test_what_the_prompt_said_itself_proves_nothing() -> None:
    """An answer that only repeats its question used no note, and a note without words of its own cannot be told."""
    assert use_score("The tank holds 300 l.", "Does the tank hold 300 l?", "Yes, the tank holds 300 l.") == 0
    assert use_score("The tank holds 300 l.", "How big is the tank?", "It holds 300 l.") == 1
    assert use_score("", "How big is the tank?", "It holds 300 l.") == 0


@given(st.text(max_size=80), st.text(max_size=80), st.text(max_size=200))
def test_a_score_is_a_share(note: str, prompt: str, answer: str) -> None:
    """Whatever the texts are, the score is from 0 to 1, the same each time, and an empty answer used nothing."""
    score = use_score(note, prompt, answer)
    assert 0 <= score <= 1
    assert score == use_score(note, prompt, answer)
    assert use_score(note, prompt, "") == 0
