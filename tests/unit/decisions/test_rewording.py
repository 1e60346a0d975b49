"""What was taken away is known again in other words; another fact is not taken for it."""

from __future__ import annotations

import pytest

from argus_memory.rules.rewording import repeats
from tests.unit.decisions.pairs import DIFFERENT, REWORDED


@pytest.mark.parametrize(("gone", "said"), REWORDED)
def test_a_reworded_repeat_is_caught(gone: str, said: str) -> None:
    """The same fact in other words repeats what was forgotten."""
    assert repeats(gone, said)


@pytest.mark.parametrize(("gone", "said"), DIFFERENT)
def test_another_fact_is_let_in(gone: str, said: str) -> None:
    """A fact that differs in a number, name, negation, unit, order or word is no repeat, either way round."""
    assert not repeats(gone, said)
    assert not repeats(said, gone)
