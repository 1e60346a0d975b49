"""How a repeat of a turn is recognised, and when a thing was said."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus_memory.rules.identity import dedup_key, identity_key, parse_stamp

AT = datetime(2026, 11, 30, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    ("session", "stamp", "plain"),
    [
        ("s1", "2026-11-30T10:00:00Z", "s1|2026-11-30T10:00:00Z|körper"),
        (None, "2026-11-30T10:00:00+00:00", "|2026-11-30T10:00:00+00:00|körper"),
        ("s1", None, "s1||körper"),
        (None, None, "||körper"),
        ("s1", 1795946400, "s1|1795946400|körper"),
    ],
)
def test_the_dedup_key_is_md5_over_three_parts(session: str | None, stamp: str | int | None, plain: str) -> None:
    """Session, timestamp and body: the timestamp's text counts as given, what is null counts as empty."""
    assert dedup_key(session, stamp, "körper") == hashlib.md5(plain.encode()).hexdigest()


def test_a_uuid_is_the_identity_whatever_else_differs() -> None:
    """Role, text and time are not looked at where there is a uuid; a very long one is hashed."""
    assert identity_key("u-1", role="user", body="a", said_at=AT) == "uuid:u-1"
    assert identity_key("u-1", role="assistant", body="b", said_at=None) == "uuid:u-1"
    long = identity_key("u" * 500, role="user", body="a", said_at=None)
    assert long is not None
    assert len(long) == len("uuid:") + 64


def test_without_uuid_the_identity_is_role_text_and_time() -> None:
    """White space and the spelling of characters are folded; role, words and moment count."""
    key = identity_key(None, role="user", body="Caf\u00e9  now\n", said_at=AT)
    assert key == identity_key("", role="user", body="Cafe\u0301 now", said_at=AT)
    others = [
        identity_key(None, role="assistant", body="Café now", said_at=AT),
        identity_key(None, role="user", body="café now", said_at=AT),
        identity_key(None, role="user", body="Café now", said_at=AT.replace(second=1)),
    ]
    assert len({key, *others}) == 4


def test_without_uuid_and_time_there_is_no_identity() -> None:
    """The same words at an unknown moment may well be said twice."""
    assert identity_key(None, role="user", body="ok", said_at=None) is None


@pytest.mark.parametrize(
    ("stamp", "iso"),
    [
        ("2026-11-30T10:00:00Z", "2026-11-30T10:00:00+00:00"),
        ("2026-11-30T10:00:00.123456789+02:00", "2026-11-30T08:00:00.123456+00:00"),
        ("2026-11-30 10:00", "2026-11-30T10:00:00+00:00"),
        ("2026-11-30 10:00:00 UTC", "2026-11-30T10:00:00+00:00"),
        ("2026-11-30", "2026-11-30T00:00:00+00:00"),
        (1795946400, "2026-11-29T10:00:00+00:00"),
        (1795946400123, "2026-11-29T10:00:00.123000+00:00"),
        ("1795946400.5", "2026-11-29T10:00:00.500000+00:00"),
    ],
)
def test_times_are_read_in_all_usual_forms(stamp: str | int, iso: str) -> None:
    """ISO with and without zone, and seconds or milliseconds since the epoch; all of them end in UTC."""
    found = parse_stamp(stamp)
    assert found is not None
    assert found.isoformat() == iso


@pytest.mark.parametrize(
    "stamp", ["", "yesterday", "2026-13-40", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59-14:00", 0, -5, 1e300,
              float("nan"), float("inf"), "1970-01-01T00:00:00Z", None]
)  # fmt: skip
def test_what_is_no_time_is_none(stamp: str | float | None) -> None:
    """Words, impossible dates, zero, and years that programs write for nothing."""
    assert parse_stamp(stamp) is None


@given(st.one_of(st.text(max_size=40), st.integers(), st.floats(), st.datetimes().map(str)))
def test_any_stamp_is_a_utc_time_or_none(stamp: str | float) -> None:
    """Nothing raises, and whatever is a time is one in UTC."""
    found = parse_stamp(stamp)
    assert found is None or found.utcoffset() == AT.utcoffset()
