"""A hook's sign of life, and what its event says about the session."""

from __future__ import annotations

from typing import Any

import pytest

from argus_memory.db import Database
from argus_memory.errors import InvalidItem
from argus_memory.settings import Settings
from argus_memory.stages.capture import accept

from .items import NOW, turn

HOOK = {"host": "laptop", "version": "0.1.0", "event": "Stop", "session": "s1", "target": "claude-code"}


def marks(db: Database) -> list[tuple[Any, ...]]:
    found = db.fetch_all("select session, source, mark, at, host, detail from session_marks order by id")
    return [tuple(row.values()) for row in found]


@pytest.mark.parametrize(
    ("event", "mark"),
    [
        ({"event": "SessionEnd", "reason": "logout"}, ("end", "logout")),
        ({"event": "SessionEnd", "reason": "clear"}, ("clear", "clear")),
        ({"event": "SessionStart", "source": "startup"}, ("start", "startup")),
        ({"event": "SessionStart", "source": "resume"}, ("start", "resume")),
        ({"event": "SessionStart", "source": "clear"}, ("clear", "clear")),
        ({"event": "SessionStart", "source": "compact"}, ("compact", "compact")),
        ({"event": "PostCompact", "trigger": "auto"}, ("compact", "auto")),
        ({"event": "PreCompact"}, None),
        ({"event": "Stop"}, None),
    ],
)
def test_events_become_marks(
    db: Database, settings: Settings, event: dict[str, str], mark: tuple[str, str] | None
) -> None:
    """Ends, starts, clears and compactions are marks of their session; other events are signs of life alone."""
    accept(db, settings, [], now=NOW, hook={**HOOK, **event, "at": "2026-11-30T11:00:00Z"})
    at = NOW.replace(hour=11)
    assert marks(db) == ([("s1", "claude-code", mark[0], at, "laptop", mark[1])] if mark else [])


def test_each_machine_and_program_has_one_heartbeat(db: Database, settings: Settings) -> None:
    """A later event replaces what the earlier one said and counts up."""
    for event in ("Stop", "SessionEnd"):
        accept(db, settings, [], now=NOW, hook={**HOOK, "event": event, "missed": {"turns": 14}})
    accept(db, settings, [], now=NOW, hook={**HOOK, "target": "codex"})
    found = db.fetch_all("select target, event, beats, missed, at from hook_heartbeats order by target")
    assert [tuple(row.values()) for row in found] == [
        ("claude-code", "SessionEnd", 2, {"turns": 14}, NOW), ("codex", "Stop", 1, None, NOW),
    ]  # fmt: skip


def test_the_same_event_sent_again_is_one_mark(db: Database, settings: Settings) -> None:
    """A hook that got no answer repeats itself; the session ended once."""
    for _ in range(2):
        accept(db, settings, [], now=NOW, hook={**HOOK, "event": "SessionEnd", "at": "2026-11-30T11:00:00Z"})
    assert len(marks(db)) == 1


def test_a_mark_is_never_later_than_now(db: Database, settings: Settings) -> None:
    """A machine whose clock is ahead does not close tomorrow's turns."""
    accept(db, settings, [], now=NOW, hook={**HOOK, "event": "SessionEnd", "at": "2031-01-01T00:00:00Z"})
    assert marks(db)[0][3] == NOW


def test_items_of_a_session_argus_started_are_dropped(db: Database, settings: Settings) -> None:
    """A hook that says so takes its items and marks with it; its machine still lives."""
    hook = {**HOOK, "event": "SessionEnd", "argus_session": True}
    (receipt,) = accept(db, settings, [turn("I am the judge.")], now=NOW, hook=hook)
    assert receipt.skipped == "own-text"
    assert marks(db) == []
    assert db.fetch_one("select beats from hook_heartbeats") == {"beats": 1}


@pytest.mark.parametrize(
    ("change", "field"),
    [({"host": None}, "hook.host"), ({"target": ""}, "hook.target"), ({"event": 5}, "hook.event"),
     ({"session": []}, "hook.session")],
)  # fmt: skip
def test_a_malformed_hook_keeps_its_items_out(
    db: Database, settings: Settings, change: dict[str, Any], field: str
) -> None:
    """The field is named, and neither item nor heartbeat is stored."""
    with pytest.raises(InvalidItem) as caught:
        accept(db, settings, [turn("Fine.")], now=NOW, hook={**HOOK, **change})
    assert caught.value.field == field
    assert db.fetch_all("select id from raw_items") == []
    assert db.fetch_all("select host from hook_heartbeats") == []


def test_a_huge_account_of_what_was_missed_is_left_out(db: Database, settings: Settings) -> None:
    """The heartbeat is kept without it."""
    accept(db, settings, [], now=NOW, hook={**HOOK, "missed": {"sessions": ["x" * 100] * 1000}})
    assert db.fetch_one("select missed from hook_heartbeats") == {"missed": {"too_large": True}}
