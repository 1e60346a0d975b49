"""How a note fades, and what holds it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus_memory.rules.salience import HALF_LIFE, retention, salience, standing

NOW = datetime(2026, 6, 1, tzinfo=UTC)
DAYS = st.integers(0, 4000)
USES = st.integers(0, 1000)


def left(days: float, uses: int = 0, *, pinned: bool = False) -> float:
    return retention(last_sign=NOW - timedelta(days=days), now=NOW, uses=uses, pinned=pinned)


def test_half_is_left_after_the_half_life() -> None:
    """Ninety days without a sign halve a note; one use makes that 135 days, three 180."""
    assert left(HALF_LIFE.days) == pytest.approx(0.5)
    assert left(135, uses=1) == pytest.approx(0.5)
    assert left(180, uses=3) == pytest.approx(0.5)
    assert salience(0.8, last_sign=NOW - HALF_LIFE, now=NOW) == pytest.approx(0.4)


def test_standing_by_days() -> None:
    """A note is asked about from the fifth month on, and stale after ten."""
    assert [standing(left(days)) for days in (0, 130, 140, 290, 305)] == [
        "present", "present", "fading", "fading", "stale",
    ]  # fmt: skip


@given(DAYS, DAYS, USES, USES)
def test_older_is_less_and_use_is_more(days: int, more: int, uses: int, extra: int) -> None:
    """Retention never grows with age, never falls with use, and stays from 0 to 1; a pinned note keeps all."""
    assert 0 <= left(days + more, uses) <= left(days, uses) <= 1
    assert left(days, uses + extra) >= left(days, uses)
    assert left(days, uses, pinned=True) == 1


def test_a_clock_that_went_backwards_fades_nothing() -> None:
    """A sign that lies ahead counts as now."""
    assert left(-10) == 1
