"""What a question says besides its words."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from argus_memory.rules.flags import asks_for_time, find_name_words, find_named_time

NOW = datetime(2026, 5, 20, 12, tzinfo=UTC)


def day(month: int, number: int, year: int = 2026) -> datetime:
    return datetime(year, month, number, 9, tzinfo=UTC)


def test_a_named_month_and_day_match_in_full_and_another_day_by_half() -> None:
    """The day named counts 1, the rest of its month 0.5, other months nothing."""
    named = find_named_time("What did we change on 8 May?", NOW)
    assert named.match(day(5, 8)) == 1.0
    assert named.match(day(5, 9)) == 0.5
    assert named.match(day(6, 8)) == 0.0


def test_a_named_year_keeps_other_years_out() -> None:
    """With a year named the same month of another year does not match."""
    named = find_named_time("the release in March 2025", NOW)
    assert named.match(day(3, 4, 2025)) == 1.0
    assert named.match(day(3, 4, 2026)) == 0.0


def test_iso_days_are_read() -> None:
    """2026-05-08 names that day."""
    assert find_named_time("what happened 2026-05-08", NOW).match(day(5, 8)) == 1.0


def test_today_and_yesterday_stand_for_days() -> None:
    """They are taken as of now."""
    named = find_named_time("what did we do yesterday?", NOW)
    assert named.match(day(5, 19)) == 1.0
    assert named.match(day(5, 20)) == 0.0


@pytest.mark.parametrize("question", ["what may I delete here", "May I push to main?", "a march of ten miles"])
def test_may_and_march_as_words_are_no_months(question: str) -> None:
    """The verb is not mistaken for the month."""
    assert find_named_time(question, NOW).match(day(5, 1)) == 0.0


def test_questions_for_a_time_are_recognised() -> None:
    """When and how long ask for a time, other questions do not."""
    assert asks_for_time("When did it break?")
    assert asks_for_time("how long does the build take")
    assert not asks_for_time("whenever you like, describe the build")


def test_name_words_lose_their_possessive() -> None:
    """Caroline's and Caroline are one name."""
    assert "caroline" in find_name_words("What is Caroline’s plan?")
