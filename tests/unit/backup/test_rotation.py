"""Which backups stay."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from argus_memory.rules.rotation import Kept, choose_kept

DAY = datetime(2026, 12, 1, 3, 30, tzinfo=UTC)


def daily(days: int) -> dict[int, datetime]:
    return {ago: DAY - timedelta(days=ago) for ago in range(days)}


def test_a_year_of_daily_backups_leaves_days_weeks_and_months() -> None:
    """The last seven days, the newest of four weeks and of six months stay: sixteen files or fewer."""
    kept = choose_kept(daily(365), Kept(7, 4, 6))
    assert set(range(7)) <= kept
    assert {(DAY - timedelta(days=ago)).month for ago in kept} == {12, 11, 10, 9, 8, 7}
    assert len(kept) <= 17


def test_several_of_one_day_leave_the_newest() -> None:
    """Only the last one of a day counts for that day."""
    made = {hour: DAY.replace(hour=hour) for hour in (3, 9, 20)}
    assert choose_kept(made, Kept(1, 0, 0)) == {20}


def test_days_without_a_backup_do_not_use_up_the_days() -> None:
    """After a holiday the older ones are still there."""
    made = {0: DAY, 30: DAY - timedelta(days=30), 31: DAY - timedelta(days=31)}
    assert choose_kept(made, Kept(3, 0, 0)) == {0, 30, 31}


@given(
    st.dictionaries(st.integers(), st.datetimes(timezones=st.just(UTC)), min_size=1),
    st.tuples(*[st.integers(0, 9)] * 3),
)
def test_the_newest_always_stays_and_no_more_than_asked(made: dict[int, datetime], numbers: tuple[int, ...]) -> None:
    """Whatever is asked to be kept, the newest is, and the number is bounded by the rule."""
    kept = choose_kept(made, Kept(*numbers))
    assert max(made.values()) in {made[name] for name in kept}
    assert len(kept) <= sum(numbers) + 1
