"""Signs of life of the watchers, and the silences between them."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta

from argus_memory.db import Database
from argus_memory.watch.beats import SILENCE, beat, find_beats, find_gaps, is_silent

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def test_a_beat_is_found_with_what_it_told(db: Database) -> None:
    """The last beat of a watcher is kept with its process, its pass's time and its detail."""
    assert beat(db, "watchdog", now=NOW) is None
    assert beat(db, "watchdog", now=NOW + timedelta(seconds=15), pass_ms=4.5, detail={"tasks": 3}) is None
    found = find_beats(db)["watchdog"]
    assert (found.at, found.since) == (NOW + timedelta(seconds=15), NOW)
    assert (found.pid, found.pass_ms, found.detail) == (os.getpid(), 4.5, {"tasks": 3})
    assert find_gaps(db, since=NOW - timedelta(days=1)) == []


def test_a_silence_is_noted_once_and_begins_a_new_series(db: Database) -> None:
    """The first beat after more than SILENCE notes from when to when nobody watched; the next notes nothing."""
    back = NOW + SILENCE + timedelta(seconds=1)
    beat(db, "dagster", now=NOW)
    beat(db, "watchdog", now=NOW)
    gap = beat(db, "dagster", now=back)
    assert gap is not None
    assert (gap.watcher, gap.from_at, gap.until_at) == ("dagster", NOW, back)
    assert beat(db, "dagster", now=back + timedelta(seconds=30)) is None
    assert find_gaps(db, since=NOW) == [gap]
    assert find_gaps(db, since=back) == []
    assert find_beats(db)["dagster"].since == back


def test_exactly_the_silence_is_no_gap(db: Database) -> None:
    """A beat that comes just in time leaves no gap, and the series goes on."""
    beat(db, "sender", now=NOW)
    assert beat(db, "sender", now=NOW + SILENCE) is None
    assert find_beats(db)["sender"].since == NOW


def test_who_never_beat_or_is_late_is_silent(db: Database) -> None:
    """A watcher is silent before its first beat and once SILENCE is over."""
    assert is_silent(None, NOW)
    beat(db, "watchdog", now=NOW)
    known = find_beats(db)["watchdog"]
    assert not is_silent(known, NOW + SILENCE)
    assert is_silent(known, NOW + SILENCE + timedelta(seconds=1))


def test_a_clock_that_is_set_back_begins_a_new_series(db: Database) -> None:
    """A beat in the future is no sign of life: who has not beaten by the new clock is silent, who has is there anew."""
    for watcher in ("watchdog", "dagster"):
        beat(db, watcher, now=NOW + timedelta(days=1))
    assert beat(db, "watchdog", now=NOW) is None
    beats = find_beats(db)
    assert beats["watchdog"].since == NOW
    assert is_silent(beats["dagster"], NOW)
    assert not is_silent(beats["watchdog"], NOW)
    assert not is_silent(beats["watchdog"], NOW - SILENCE)  # clocks of two machines differ a little
    beat(db, "watchdog", now=NOW + timedelta(seconds=15))
    assert find_beats(db)["watchdog"].since == NOW
