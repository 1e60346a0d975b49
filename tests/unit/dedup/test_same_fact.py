"""When two sentences state one fact."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus_memory.rules.same_fact import find_loss, same_fact

DAY = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
SAME_DAY = (DAY, DAY + timedelta(hours=2))
OTHER_DAY = (DAY, DAY + timedelta(days=2))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("User: The beds are watered at 6:30.", "User: the beds are watered at 6:30"),
        ("User: We decided that we use the blue hose.", "User: We decided we use the blue hose!"),
        ("User: I don't eat peanuts.", "User: I do not eat peanuts."),
        ("User: The tank holds 200 l.", "User: The tank holds 200l."),
        ("User: It takes five minutes.", "User: It takes 5 minutes."),
        ("User: I really prefer dark mode, please.", "User: I prefer **dark mode**."),
    ],
)
def test_repeats_that_are_only_set_otherwise(one: str, other: str) -> None:
    """Case, stops, articles, fillers, contractions, a blank before a unit and a spelled number make no other fact."""
    assert same_fact(one, other, said=OTHER_DAY)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The pump runs at 12 bar.", "The pump runs at 13 bar."),
        ("The pump runs at 12 bar.", "The pump runs at 12 psi."),
        ("The pump runs at -3 degrees.", "The pump runs at 3 degrees."),
        ("We pin version 2.1.0.", "We pin version 2.1.10."),
        ("Kim waters the beds.", "Robin waters the beds."),
        ("The shed is locked.", "The shed is not locked."),
        ("The shed can be locked.", "The shed can't be locked."),
        ("The gate calls the pump.", "The pump calls the gate."),
        ("The valve is left of the pump.", "The valve is right of the pump."),
        ("We keep one backup.", "We keep two backups."),
        ("Mulch before planting.", "Mulch after planting."),
        ("The price is $5.", "The price is €5."),
        ("Keep it < 5 bar.", "Keep it > 5 bar."),
    ],
)
def test_facts_that_differ_in_a_word_stay_apart(one: str, other: str) -> None:
    """Numbers, units, signs, versions, names, negations, order and comparisons make another fact."""
    assert not same_fact(one, other, said=SAME_DAY)


@pytest.mark.parametrize("day", ["today", "tomorrow", "Yesterday", "next week", "this Friday", "two days ago"])
def test_a_relative_day_is_another_fact_on_another_day(day: str) -> None:
    """ "The gate was painted today", said on two days, is two facts; said twice on one day it is one."""
    text = f"The gate is painted {day}."
    assert same_fact(text, text, said=SAME_DAY)
    assert not same_fact(text, text, said=OTHER_DAY)


@pytest.mark.parametrize(
    ("repeat", "kept", "loss"),
    [
        ("The tank holds 200 l and 3 pumps.", "The tank holds 200 l.", "it alone holds 3"),
        ("The shed is never locked.", "The shed is locked.", "one of the two is negated"),
        ("The tank is big.", "The tank holds 200 l.", None),
        ("It isn't that we never water.", "We water.", None),
    ],
)
def test_what_a_merge_would_lose(repeat: str, kept: str, loss: str | None) -> None:
    """Numbers that only the repeat holds, and another polarity, are named."""
    assert find_loss(repeat, kept) == loss


@given(st.lists(st.sampled_from(["the", "gate", "is", "not", "5", "bar", "12", "never", "Kim", "v2.1"]), max_size=9))
def test_same_fact_is_reflexive_and_symmetric(words: list[str]) -> None:
    """Every sentence repeats itself, and order of asking does not matter."""
    text = " ".join(words)
    other = " ".join(reversed(words))
    assert same_fact(text, text, said=OTHER_DAY)
    assert same_fact(text, other, said=OTHER_DAY) == same_fact(other, text, said=OTHER_DAY)
