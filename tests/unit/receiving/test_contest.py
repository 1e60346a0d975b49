"""When a new sentence disputes one that stands."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus_memory.rules.contest import disputes

CONTESTED = [
    ("The router listens on port 8080.", "The router listens on port 9090."),
    ("The backup runs at 3 am.", "The backup runs at 4 am."),
    ("Kim eats meat on weekdays.", "Kim does not eat meat on weekdays."),
    ("The shop sends parcels on Friday.", "The shop sends parcels on Monday."),
]
APART = [
    ("The router listens on port 8080.", "the router listens on port 8080"),
    ("The router listens on port 8080.", "The printer stands in the cellar."),
    ("Ana likes green tea.", "Ben likes green tea."),
    ("The backup runs at 3 am.", "The backup runs on the small disk."),
]


@pytest.mark.parametrize(("one", "other"), CONTESTED)
def test_another_number_polarity_or_value_is_a_dispute(one: str, other: str) -> None:
    """Sentences about one matter that cannot both hold dispute each other, whichever came first."""
    assert disputes(one, other)
    assert disputes(other, one)


@pytest.mark.parametrize(("one", "other"), APART)
def test_what_agrees_or_speaks_of_other_things_is_none(one: str, other: str) -> None:
    """The same fact, another subject and another aspect dispute nothing."""
    assert not disputes(one, other)


@given(st.text(max_size=80))
def test_nothing_disputes_itself(text: str) -> None:
    """A sentence never disputes itself, whatever it says."""
    assert not disputes(text, text)
