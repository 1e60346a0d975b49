"""What a session begins with."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from argus_memory.rules.context_choice import Standing, choose_context

NOW = datetime(2026, 6, 1, tzinfo=UTC)


def note(id_: int, **more: Any) -> Standing:
    values = {"place": 0, "category": "fact", "importance": 0.5, "pinned": False, "uses": 0, "last_sign": NOW}
    return Standing(id=id_, **{**values, **more})


def ids(*notes: Standing, limit: int = 12) -> list[int]:
    return [id_ for id_, _ in choose_context(notes, limit, now=NOW)]


def test_pinned_then_standing_then_the_rest() -> None:
    """Pinned notes first, preferences and context of any place next, then the project's own before global facts."""
    pinned = note(1, pinned=True, importance=0.1, last_sign=NOW - timedelta(days=900))
    taste, habit = note(2, category="preference", place=1, importance=0.9), note(3, category="context")
    own, shared = note(4), note(5, place=1, importance=0.9)
    assert ids(shared, own, habit, taste, pinned) == [1, 2, 3, 4, 5]


def test_standing_preferences_leave_room() -> None:
    """At most half of the room goes to preferences and context as such; they may still stand among the rest."""
    tastes = [note(n, category="preference", importance=0.9) for n in range(1, 9)]
    facts = [note(n, importance=0.95) for n in range(11, 19)]
    assert ids(*tastes, *facts, limit=4) == [8, 7, 18, 17]


def test_what_fades_gives_way_and_what_is_used_holds() -> None:
    """An old important note stands behind a fresh plain one, unless answers went on using it."""
    old = {"importance": 0.8, "last_sign": NOW - timedelta(days=120)}
    assert ids(note(1, **old), note(2, importance=0.5)) == [2, 1]
    assert ids(note(1, **old, uses=7), note(2, importance=0.5)) == [1, 2]
