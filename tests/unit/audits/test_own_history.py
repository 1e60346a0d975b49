"""When a share or a mix of the last day is unlike its past."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus_memory.rules.own_history import LEAST_BEFORE, LEAST_RECENT, judge_mix, judge_share
from argus_memory.watch.audits.rates import compare_days


@pytest.mark.parametrize(
    ("now", "before", "changed"),
    [
        ((20, 100), (400, 2000), False),  # the same
        ((28, 100), (400, 2000), False),  # eight points: below what anybody would notice
        ((40, 100), (400, 2000), True),
        ((0, 100), (600, 2000), True),  # a gate that lets everything by is a change too
        ((18, 50), (400, 2000), False),  # sixteen points, but of fifty cases: chance
        ((30, 100), (0, 2000), True),  # a past without any
        ((0, 49), (0, 2000), None),
        ((25, 50), (0, 199), None),
    ],
)
def test_shares(now: tuple[int, int], before: tuple[int, int], changed: bool | None) -> None:
    """A change counts when it is large and no chance; too few cases are not judged."""
    assert judge_share(*now, *before).changed is changed


def test_a_fall_counts_only_where_both_directions_do() -> None:
    """Judged upwards only, a share that fell is well."""
    assert judge_share(0, 100, 600, 2000, direction="up").changed is False
    assert judge_share(90, 100, 600, 2000, direction="up").changed is True


@given(st.integers(LEAST_RECENT, 500), st.integers(LEAST_BEFORE, 5000), st.floats(0, 1))
def test_the_same_share_never_alarms(of: int, of_before: int, share: float) -> None:
    """Whatever its size, a share that stayed as it was is no change."""
    assert judge_share(round(of * share), of, round(of_before * share), of_before).changed is False


@pytest.mark.parametrize(
    ("distance", "past", "changed"), [(0.2, 0.0, False), (0.3, 0.0, True), (0.3, 0.25, False), (0.4, 0.25, True)]
)
def test_mixes(distance: float, past: float, changed: bool) -> None:
    """A mix is changed beyond a quarter, and beyond what the most unlike day of the past was."""
    assert judge_mix(distance, past) is changed


def test_days_are_compared_each_with_the_others() -> None:
    """The last day is held against all before it, and an odd day of the past widens what is usual."""
    rows = [{"day": day, "verdict": "distinct", "pairs": 30} for day in range(4)]
    rows.append({"day": 0, "verdict": "supersede", "pairs": 30})
    distance, past, risen, words = compare_days(rows)
    assert (distance, past, risen) == (0.5, 0.0, "supersede")
    assert "supersede 50% (before 0%)" in words
    rows.append({"day": 2, "verdict": "supersede", "pairs": 30})
    assert compare_days(rows)[1] == 0.5


def test_a_past_of_one_day_has_no_spread() -> None:
    """With a single day before there is no other day to compare it with."""
    rows = [{"day": 0, "verdict": "distinct", "pairs": 60}, {"day": 1, "verdict": "distinct", "pairs": 300}]
    assert compare_days(rows)[:2] == (0.0, 0.0)
