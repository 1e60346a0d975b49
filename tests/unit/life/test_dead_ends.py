"""Which sentences tell of a way that led nowhere."""

from __future__ import annotations

import time

import pytest

from argus_memory.rules.dead_ends import DEAD_END, is_dead_end, is_told_on, with_dead_end
from tests.unit.life.dead_end_cases import DEV_ALIVE, DEV_DEAD, HELD_OUT_ALIVE, HELD_OUT_DEAD


@pytest.mark.parametrize("text", DEV_DEAD)
def test_what_was_tried_and_failed(text: str) -> None:
    """An attempt with its failure is a dead end."""
    assert is_dead_end(text)


@pytest.mark.parametrize("text", DEV_ALIVE)
def test_what_is_none(text: str) -> None:
    """A failure without an attempt, an attempt that worked, the reason of something else, and plain facts are none."""
    assert not is_dead_end(text)


def test_sentences_that_the_rule_was_not_made_from() -> None:
    """Of the held-out half at least four of five dead ends are known, and at most one of ten plain facts is hidden."""
    found = sum(map(is_dead_end, HELD_OUT_DEAD))
    hidden = sum(map(is_dead_end, HELD_OUT_ALIVE))
    assert found >= 0.8 * len(HELD_OUT_DEAD)
    assert hidden <= 0.1 * len(HELD_OUT_ALIVE)


def test_an_attempt_whose_outcome_is_told_next() -> None:
    """Only both sentences together are a dead end; one that is whole, or is followed by something else, takes none."""
    assert is_told_on("We tried raising the pool to 50.", "It failed because pgbouncer caps at 20.")
    assert is_told_on("Tried the beta driver.", "No luck: the card is not listed.")
    assert not is_told_on("We tried raising the pool to 50.", "It is fast now.")
    assert not is_told_on("We tried raising the pool to 50.", "The deploy failed at noon.")
    assert not is_told_on("We tried NFS, it failed.", "It did not work with SMB either.")


def test_a_long_text_takes_no_long_time() -> None:
    """Ten thousand words of attempts without an outcome are read within two seconds."""
    started = time.monotonic()
    assert not is_dead_end("we tried the other way of doing it, " * 1_400)
    assert time.monotonic() - started < 2


def test_the_tag_follows_the_words() -> None:
    """A note bears the tag exactly when its words tell of a dead end, once."""
    assert with_dead_end(["ci", DEAD_END], DEV_DEAD[0]) == ["ci", DEAD_END]
    assert with_dead_end(["ci", DEAD_END], DEV_ALIVE[0]) == ["ci"]
