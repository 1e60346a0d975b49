"""When a schedule is due: held against Dagster's own iterator, and against a count minute by minute."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime, timedelta
from random import Random

import pytest
from dagster._utils.schedules import cron_string_iterator, is_valid_cron_string
from dagster._vendored.croniter.croniter import CroniterBadDateError
from dagster_shared.check import CheckError
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from argus_memory.rules.cron import next_occurrences, occurrences, parse_schedule
from tests.unit.no_show.crons import ODD_ZONES, PLAIN_ZONES, changes_of, count_by_minute, random_cron

EXAMPLES = int(os.environ.get("ARGUS_TEST_CRON_EXAMPLES", "100"))


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def ours(cron: str, zone: str, after: datetime, until: datetime) -> list[datetime]:
    return list(occurrences(parse_schedule(cron), zone, after, until))


def of_dagster(cron: str, zone: str, after: datetime, until: datetime) -> list[datetime]:
    """Dagster's times in after < t <= until; its iterator starts at `after`, inclusive.

    From some moments its search for the time before goes too far back (a month with no day of the list) and it breaks
    off with a CheckError; then it is asked from some days earlier. For days that no month has (31 September) it says
    that there is no date.
    """
    for days in (0, 3, 11, 35, 70):
        try:
            return _from_dagster(cron, zone, after - timedelta(days=days), after, until)
        except (CheckError, CroniterBadDateError):
            continue
    raise AssertionError(reject())


def _from_dagster(cron: str, zone: str, start: datetime, after: datetime, until: datetime) -> list[datetime]:
    found: list[datetime] = []
    for local in cron_string_iterator(start.timestamp(), cron, zone):
        moment = datetime.fromtimestamp(local.timestamp(), UTC)
        if moment > until:
            return found
        if moment > after:
            found.append(moment)
    raise AssertionError("Dagster's iterator never ends")


def window(random: Random, zone: str) -> tuple[datetime, datetime]:
    """Some days of 2019 to 2045, mostly around a change of the clock where the zone has one."""
    year = random.randint(2019, 2045)
    changes = list(changes_of(zone, year))
    if changes and random.random() < 0.8:
        middle = random.choice(changes)
    else:
        middle = datetime(year, 1, 1, tzinfo=UTC) + timedelta(minutes=random.randrange(365 * 1440))
    after = middle - timedelta(minutes=random.randrange(30, 4000), seconds=random.choice((0, 17)))
    return after, middle + timedelta(minutes=random.randrange(60, 4000))


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(PLAIN_ZONES + ODD_ZONES))
def test_random_schedules_are_due_when_dagster_starts_them(seed: int, zone: str) -> None:
    """For any expression, zone and stretch of time the moments are exactly those of Dagster's iterator."""
    random = Random(seed)
    cron = random_cron(random).text
    after, until = window(random, zone)
    assert ours(cron, zone, after, until) == of_dagster(cron, zone, after, until), cron


@settings(max_examples=max(20, EXAMPLES // 6), deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(PLAIN_ZONES))
def test_random_schedules_are_due_when_the_clock_on_the_wall_says(seed: int, zone: str) -> None:
    """A count minute by minute that knows nothing of cron text or of Dagster finds the same moments."""
    random = Random(seed)
    cron = random_cron(random)
    after, until = window(random, zone)
    assert ours(cron.text, zone, after, until) == count_by_minute(cron, zone, after, until), cron.text


@pytest.mark.parametrize(
    "cron",
    [
        "0 9 * * mon-fri", "0 9 * * MON,Wed", "0 0 1 jan *", "0 0 * mar-may 0", "*/20 9-17/4 * * *", "5/15 * * * *",
        "0 0 L * *", "0 0 1,L * *", "0 0 l 2 *", "30 4 */10 * *", "0 0 13 * 5", "0 0 */2 * 1", "0 0 */1 * 1",
        "0 0 1-31 * */2", "0 0 */2 * 0-6", "0 0 1 * 0-6", "0 12 * * 7", "0 12 * * 5-7", "0 12 * * 0-7",
        "0 12 * * fri-mon", "0 12 * * 6-2/2", "0 12 1 nov-feb *", "0 12 1 11-3/2 *", "0 12 ? * 3", "0 12 3 * ?",
        "0 12 * * 2#3", "0 12 * * mon-wed#1", "0 12 * * L5", "0 12 * * 5#5", "0 12 15 * 2#3", "0 12 * * 1#1,3#2",
        "0 0 29 2 *", "30 6 29 feb *", "*/30 6 29 2 *", "0 0 31 * *", "0 0 29-31 * *", "*/90 * * * *",
        "0 22-3 * * *", "10-50/20 0-23 * * *", "0-59 3 * * *", "7 0-23/1 1-7 * 1", "0 12 1/10 * *", "0 12 20-L * *",
    ],
)  # fmt: skip
@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York"])
def test_what_dagster_takes_is_read_the_same(cron: str, zone: str) -> None:
    """Names, lists, steps, ranges that go back, L, #, ?, and both day fields together mean what Dagster means."""
    after = at("2027-10-20T03:17:00")
    until = at("2031-04-01T00:00:00") if cron.split()[2] in ("29", "L", "l") else at("2028-05-01T00:00:00")
    assert ours(cron, zone, after, until) == of_dagster(cron, zone, after, until)
    assert ours(cron, zone, after, until)


@pytest.mark.parametrize(
    ("cron", "after", "due"),
    [
        ("30 2 * * *", "2027-03-27T12:00:00", "2027-03-28T01:00:00"),  # 2:30 is not there: at 3:00, the gap's end
        ("30 2 * * *", "2027-10-30T12:00:00", "2027-10-31T01:30:00"),  # 2:30 comes twice: the second
        ("0 3 * * *", "2027-10-30T12:00:00", "2027-10-31T02:00:00"),
    ],
)
def test_a_daily_task_on_the_nights_of_changed_clocks(cron: str, after: str, due: str) -> None:
    """In Berlin a daily task runs once in both nights: at the end of the gap, and the second time."""
    assert next_occurrences(parse_schedule(cron), "Europe/Berlin", at(after), 1) == [at(due)]


def test_an_hourly_task_on_the_nights_of_changed_clocks() -> None:
    """An hourly task leaves out the hour that is not there and runs in both of the repeated ones."""
    spring = ours("30 * * * *", "Europe/Berlin", at("2027-03-27T23:00:00"), at("2027-03-28T03:00:00"))
    autumn = ours("30 * * * *", "Europe/Berlin", at("2027-10-30T23:00:00"), at("2027-10-31T03:00:00"))
    assert [each.hour for each in spring] == [23, 0, 1, 2]
    assert [each.hour for each in autumn] == [23, 0, 1, 2]


def test_leap_days_come_in_leap_years_only() -> None:
    """29 February is due in 2028 and 2032, and after 2096 only in 2104."""
    leap = parse_schedule("0 0 29 2 *")
    assert [each.year for each in next_occurrences(leap, "UTC", at("2027-01-01"), 2)] == [2028, 2032]
    assert [each.year for each in next_occurrences(leap, "UTC", at("2096-03-01"), 1)] == [2104]


def test_every_is_anchored_to_the_clock() -> None:
    """`@every 90m` is due at multiples of 90 minutes since 1970, whenever the hub started and in whatever zone."""
    every = parse_schedule("@every 1h30m")
    assert every.cron is None
    assert every.every == timedelta(minutes=90)
    for zone in ("UTC", "Asia/Kolkata"):
        found = list(occurrences(every, zone, at("2027-03-01T00:00:00"), at("2027-03-01T04:30:00")))
        assert found == [at("2027-03-01T01:30:00"), at("2027-03-01T03:00:00"), at("2027-03-01T04:30:00")]


def test_the_start_is_excluded_and_the_end_included() -> None:
    """after < t <= until, also with fractions of a second: two stretches that meet share no moment and lose none."""
    noon = at("2027-03-01T12:00:00")
    assert ours("0 12 * * *", "UTC", noon, noon + timedelta(hours=1)) == []
    assert ours("0 12 * * *", "UTC", noon - timedelta(microseconds=1), noon) == [noon]


@pytest.mark.parametrize(
    ("text", "cron"),
    [
        ("@hourly", "0 * * * *"), ("@Daily", "0 0 * * *"), ("@midnight", "0 0 * * *"), ("@weekly", "0 0 * * 0"),
        ("@monthly", "0 0 1 * *"), ("@yearly", "0 0 1 1 *"), ("@annually", "0 0 1 1 *"),
        ("0 30 4 * * 1", "30 4 * * 1"), ("  5   4 * *  * ", "5 4 * * *"),
    ],
)  # fmt: skip
def test_other_spellings_become_five_fields(text: str, cron: str) -> None:
    """@words, six fields with seconds of 0 and any spacing become the five fields that Dagster is given."""
    assert parse_schedule(text).cron == cron
    assert is_valid_cron_string(cron)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "empty"), ("* * * *", "4 fields"), ("* * * * * * *", "7 fields"), ("30 0 4 * * 1", "seconds"),
        ("60 * * * *", "outside 0 to 59"), ("* 24 * * *", "outside 0 to 23"), ("* * 0 * *", "outside 1 to 31"),
        ("* * 32 * *", "outside"), ("* * * 13 *", "outside"), ("* * * 0 *", "outside"), ("* * * * 8", "outside"),
        ("*/0 * * * *", "step"), ("*/x * * * *", "step"), ("5-5 * * * *", "itself"), ("*,5 * * * *", "alone"),
        ("1,,2 * * * *", "minute"), ("-5 * * * *", "minute"), ("a * * * *", "minute"), ("* * * foo *", "jan to dec"),
        ("H * * * *", "minute"), ("R R * * *", "minute"), ("0 0 30 2 *", "never comes"), ("0 0 31 4,6 *", "never"),
        ("@reboot", "not known"), ("@every", "span"), ("@every 0m", "zero"), ("@every 30s", "shorter"),
        ("@every soon", "span"), ("CRON_TZ=UTC 0 0 * * *", "timezone"), ("* * * * 1#6", "1 to 5"),
        ("* * * * 1#2,3", "mixes"), ("* * * * L", "day of week"), ("* * L-3 * *", "day of month"),
        ("? * * * *", "minute"), ("١ * * * *", "minute"), ("1e3 * * * *", "minute"),
    ],
)  # fmt: skip
def test_a_bad_schedule_is_refused_in_a_sentence(text: str, says: str) -> None:
    """What cannot be meant, or never comes, raises ValueError with the value in the sentence."""
    with pytest.raises(ValueError, match=says):
        parse_schedule(text)


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.text(alphabet="0123456789*/,-#LlHR?mondecj @", max_size=24))
def test_what_is_accepted_here_is_accepted_by_dagster(text: str) -> None:
    """Whatever the text: it is refused with a ValueError, or its five fields are valid for Dagster."""
    try:
        schedule = parse_schedule(text)
    except ValueError:
        return
    assert schedule.cron is None or is_valid_cron_string(schedule.cron)


def test_a_schedule_that_rarely_comes_is_found_fast() -> None:
    """The search skips months: fifty years for a fifth Friday of February take well under a second."""
    rare = parse_schedule("0 0 * 2 5#5")
    began = time.perf_counter()
    found = next_occurrences(rare, "Europe/Berlin", at("2027-01-01"), 5)
    assert [each.year for each in found] == [2036, 2064]
    assert time.perf_counter() - began < 1.0
