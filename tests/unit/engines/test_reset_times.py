"""When a limit is over, in every form engines have written it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus_memory.models.engines.reset_times import FARTHEST, PASSED, from_epoch, parse_reset

VIENNA = ZoneInfo("Europe/Vienna")
NOW = datetime(2026, 3, 4, 13, 0, tzinfo=UTC)  # a Wednesday, 14:00 in Vienna
ZONES = ["UTC", "Europe/Vienna", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Pacific/Auckland", "Australia/Lord_Howe"]
times = st.datetimes(datetime(2024, 1, 1), datetime(2034, 1, 1)).map(lambda at: at.replace(microsecond=0, tzinfo=UTC))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("You've hit your session limit · resets 3:45pm", "2026-03-04T14:45"),
        ("You've hit your weekly limit · resets Mon 12:00am", "2026-03-08T23:00"),
        ("You've hit your limit · resets 4pm (Europe/Berlin)", "2026-03-04T15:00"),
        ("You've hit your limit ∙ resets 4pm (America/New_York)", "2026-03-04T21:00"),
        ("resets 15:45", "2026-03-04T14:45"),
        ("resets at 1am", "2026-03-05T00:00"),
        ("resets 2 p.m.", "2026-03-04T13:00"),
        ("resets 9pm UTC", "2026-03-04T21:00"),
        ("resets Mar 6, 1pm (Europe/Vienna)", "2026-03-06T12:00"),
        ("resets March 6th at 1:30 PM", "2026-03-06T12:30"),
        ("resets Wednesday 3pm", "2026-03-04T14:00"),
        ("resets Wed 1pm", "2026-03-11T12:00"),
        ("try again at 12:16 PM.", "2026-03-05T11:16"),
        ("try again at Apr 28th, 2026 10:03 PM", "2026-04-28T20:03"),
        ("try again in 2 days 3 hours 5 minutes", "2026-03-06T16:05"),
        ("Try again in 3h 5m.", "2026-03-04T16:05"),
        ("resets in 45 minutes", "2026-03-04T13:45"),
        ("Claude AI usage limit reached|1772640000", "2026-03-04T16:00"),
        ("Claude AI usage limit reached|1772640000000", "2026-03-04T16:00"),
        ("resets at 2026-03-04T16:00:00Z", "2026-03-04T16:00"),
        ("resets at 2026-03-04 16:00:00+01:00", "2026-03-04T15:00"),
        ("resets at 2026-03-04 16:00", "2026-03-04T15:00"),
    ],
)
def test_forms(text: str, expected: str) -> None:
    """Each form gives the UTC time it means; a time without a zone is in the engine's."""
    assert parse_reset(text, NOW, VIENNA) == datetime.fromisoformat(expected).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    ["", "usage limit reached", "try again later", "resets 25:00", "resets 13pm", "resets 0am", "try again 3 times",
     "resets Feb 30 at 1pm", "it was 3:45pm", "limit|1000000001", "resets at 2019-01-01T00:00:00Z",
     "try again in 400 days", "resets Feb 31th, 2026 10:03 PM"],
)  # fmt: skip
def test_what_is_no_time_ahead(text: str) -> None:
    """No time, no clock's time, a time long gone or too far away: None."""
    assert parse_reset(text, NOW, VIENNA) is None


def test_just_passed_is_now_and_not_tomorrow() -> None:
    """A message read a minute after the time it names does not rest the engine for a day."""
    late = datetime(2026, 3, 4, 14, 46, tzinfo=UTC)
    assert parse_reset("resets 3:45pm", late, VIENNA) == datetime(2026, 3, 4, 14, 45, tzinfo=UTC)


def test_an_unknown_zone_is_the_engines_own() -> None:
    """A zone nobody knows does not lose the time."""
    assert parse_reset("resets 3:45pm (Moon/Crater)", NOW, VIENNA) == datetime(2026, 3, 4, 14, 45, tzinfo=UTC)


@pytest.mark.parametrize("value", [True, None, "soon", -5, 0, 12, 10**15, float("nan"), float("inf"), [], "99"])
def test_what_is_no_epoch(value: object) -> None:
    """Only numbers of this age count, in seconds or milliseconds."""
    assert from_epoch(value) is None


@given(now=times, hour=st.integers(0, 23), minute=st.integers(0, 59), zone=st.sampled_from(ZONES), twelve=st.booleans())
def test_a_time_of_day_is_the_next_one(now: datetime, hour: int, minute: int, zone: str, twelve: bool) -> None:
    """Within a day of now (a change of clocks more), and read in the zone it shows that time, gaps aside."""
    half = "am" if hour < 12 else "pm"
    clock = f"{hour % 12 or 12}:{minute:02}{half}" if twelve else f"{hour}:{minute:02}"
    found = parse_reset(f"limit · resets {clock} ({zone})", now, UTC)
    assert found is not None
    assert now - PASSED <= found <= now + timedelta(hours=25)
    shown = found.astimezone(ZoneInfo(zone))
    wall = shown.replace(tzinfo=None)
    in_gap = wall != shown.replace(hour=hour, minute=minute).replace(tzinfo=None)
    assert not in_gap or (shown.utcoffset() != (shown - timedelta(hours=3)).astimezone(UTC).astimezone(ZoneInfo(zone)).utcoffset())


@given(now=times, weekday=st.integers(0, 6), hour=st.integers(0, 23), zone=st.sampled_from(ZONES))
def test_a_weekday_is_within_eight_days(now: datetime, weekday: int, hour: int, zone: str) -> None:
    """The next such day, at most a week and a change of clocks away."""
    day = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")[weekday]
    found = parse_reset(f"resets {day} {hour % 12 or 12}:00{'am' if hour < 12 else 'pm'}", now, ZoneInfo(zone))
    assert found is not None
    assert now - PASSED <= found <= now + timedelta(days=7, hours=2)
    assert found.astimezone(ZoneInfo(zone)).weekday() == weekday


@given(now=times, ahead=st.integers(0, 60 * 86_400))
def test_an_instant_comes_back_as_it_was_written(now: datetime, ahead: int) -> None:
    """Epoch, ISO and span say the same instant."""
    at = now + timedelta(seconds=ahead)
    assert parse_reset(f"reached|{int(at.timestamp())}", now, UTC) == at
    assert parse_reset(f"resets at {at.isoformat()}", now, UTC) == at
    days, rest = divmod(ahead, 86_400)
    hours, rest = divmod(rest, 3_600)
    span = f"try again in {days} days {hours} hours {rest // 60} minutes {rest % 60} seconds"
    assert parse_reset(span, now, UTC) == at


@given(text=st.text(max_size=200), now=times, zone=st.sampled_from(ZONES))
def test_any_text_gives_a_time_in_range_or_none(text: str, now: datetime, zone: str) -> None:
    """Nothing raises, and no time is in the past or absurdly far."""
    found = parse_reset(f"resets {text} try again at {text}", now, ZoneInfo(zone))
    assert found is None or now - PASSED <= found <= now + FARTHEST
