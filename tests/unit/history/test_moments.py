"""Days as people write them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from argus_memory.errors import UsageError
from argus_memory.rules.moments import parse_moment

NOW = datetime(2026, 5, 20, 12, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("2026-03-01", "2026-03-01T00:00", "2026-03-02T00:00"),
        ("2026-03-01T14:30", "2026-03-01T14:30", "2026-03-01T14:30"),
        ("2026-03-01T14:30+02:00", "2026-03-01T12:30", "2026-03-01T12:30"),
        ("2026-03", "2026-03-01T00:00", "2026-04-01T00:00"),
        ("March", "2026-03-01T00:00", "2026-04-01T00:00"),
        ("dec", "2025-12-01T00:00", "2026-01-01T00:00"),
        ("may", "2026-05-01T00:00", "2026-06-01T00:00"),
        ("today", "2026-05-20T00:00", "2026-05-21T00:00"),
        ("yesterday", "2026-05-19T00:00", "2026-05-20T00:00"),
        ("90d", "2026-02-19T12:30", "2026-02-19T12:30"),
        ("6w ago", "2026-04-08T12:30", "2026-04-08T12:30"),
        (" 12h ", "2026-05-20T00:30", "2026-05-20T00:30"),
    ],
)
def test_a_moment_is_read(text: str, since: str, until: str) -> None:
    """The beginning of what is named; as an end the beginning of what comes after it."""
    for end, expected in ((False, since), (True, until)):
        found = parse_moment(text, name="--since", now=NOW, end=end)
        assert found == datetime.fromisoformat(expected).replace(tzinfo=UTC)


def test_now_in_another_zone_counts_days_of_utc() -> None:
    """Today is the day it is in UTC."""
    late = datetime(2026, 5, 21, 1, tzinfo=timezone(timedelta(hours=2)))
    assert parse_moment("today", name="x", now=late) == datetime(2026, 5, 20, tzinfo=UTC)


@pytest.mark.parametrize("text", ["", "soon", "2026-02-30", "2026-13", "m", "99999w", "0000-01-01", "march 5"])
def test_no_moment_is_refused_in_a_sentence(text: str) -> None:
    """The sentence names the option, what was given and what is taken."""
    with pytest.raises(UsageError, match=r"^--since: '.*' is no day or moment; accepted: 2026-03-01"):
        parse_moment(text, name="--since", now=NOW)
