"""When a note made anew is the old one reworded."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus_memory.rules.carry_over import Place, is_carried, overlap, reworded

SAME = [
    ("User: I prefer tabs in Python files.", "The user prefers tabs in Python files."),
    ("User: We decided to use Postgres for the sensors.", "User decided on Postgres for the sensors."),
    ("Mara owns the greenhouse budget.", "The greenhouse budget is owned by Mara."),
    ("The pump runs at 12 bar.", "The pump runs at 12 bar!"),
    ("The router must not be restarted on Fridays.", "Never restart the router on Fridays."),
]
OTHER = [
    ("The pump runs at 12 bar.", "The pump runs at 14 bar."),
    ("The pump runs at 12 bar.", "The pump does not run at 12 bar."),
    ("The garden uses Postgres, not SQLite.", "The garden uses SQLite, not Postgres."),
    ("Kim said Mara owns the budget.", "Kim said Tarek owns the budget."),
    ("Upgrade the client to v2.3.1 first.", "Upgrade the client to v2.4.0 first."),
    ("The tank holds 40 l.", "The tank holds 40 kg."),
    ("User: I prefer tabs in Python files.", "The deployment runs every night from the old server."),
]


@pytest.mark.parametrize(("old", "new"), SAME)
def test_other_words_for_the_same_fact_are_the_old_note(old: str, new: str) -> None:
    """Rewordings whose numbers, names and negations agree are the same note, whichever comes first."""
    assert reworded(old, new) > 0
    assert reworded(new, old) > 0


@pytest.mark.parametrize(("old", "new"), OTHER)
def test_another_number_name_unit_version_or_negation_is_another_note(old: str, new: str) -> None:
    """What differs in a word that carries the fact is never taken for the old note."""
    assert reworded(old, new) == 0
    assert reworded(new, old) == 0


def test_the_place_must_be_the_same() -> None:
    """The same words at another place of the turn, or in another turn, are another note."""
    text = "The pump runs at 12 bar."
    assert is_carried((text, Place(1, 0, 24)), (text, Place(1, 2, 24))) == 1.0
    assert is_carried((text, Place(1, 0, 24)), (text, Place(1, 30, 54))) == 0
    assert is_carried((text, Place(1, 0, 24)), (text, Place(2, 0, 24))) == 0


def test_a_place_that_is_not_known_is_the_whole_turn() -> None:
    """A note without a stored span overlaps with any note of its turn."""
    assert overlap(Place(1, None, None), Place(1, 5, 9)) == 1.0
    assert overlap(Place(1, None, None), Place(2, 5, 9)) == 0.0


SPANS = st.tuples(st.integers(0, 50), st.integers(1, 50)).map(lambda s: Place(1, s[0], s[0] + s[1]))


@given(SPANS, SPANS)
def test_overlap_is_a_symmetric_share(one: Place, other: Place) -> None:
    """It is the same both ways, between 0 and 1, and 1 for a place within the other."""
    assert overlap(one, other) == overlap(other, one)
    assert 0 <= overlap(one, other) <= 1
    assert overlap(one, one) == 1
