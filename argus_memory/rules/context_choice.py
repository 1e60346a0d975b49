"""Which notes a session begins with. Pure.

    1. pinned ones, the project's own before the global ones
    2. standing preferences and context, most salient first: what holds whatever is asked, up to half of the room
    3. the others, the project's own before the global ones, most salient first
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from argus_memory.rules.salience import salience

STANDING: Final = ("preference", "context")


@dataclass(frozen=True, slots=True)
class Standing:
    """A note that could stand there. place: 0 the project's own, 1 global. last_sign, uses: as in salience.py."""

    id: int
    place: int
    category: str
    importance: float
    pinned: bool
    uses: int
    last_sign: datetime


def choose_context(notes: Sequence[Standing], limit: int, *, now: datetime) -> list[tuple[int, float]]:
    """At most `limit` pairs of id and salience, in the order in which they are shown."""
    worth = {
        note.id: salience(
            note.importance, last_sign=note.last_sign, now=now, uses=note.uses, pinned=note.pinned
        )
        for note in notes
    }
    # Of the same salience the later one stands first, so that the order is the store's alone.
    ranked = sorted(notes, key=lambda note: (-worth[note.id], -note.last_sign.timestamp(), -note.id))
    own_first = sorted(ranked, key=lambda note: note.place)
    pinned = [note for note in own_first if note.pinned]
    standing = [note for note in ranked if note.category in STANDING and not note.pinned][: (limit + 1) // 2]
    taken = {note.id for note in (*pinned, *standing)}
    rest = [note for note in own_first if note.id not in taken]
    return [(note.id, worth[note.id]) for note in (*pinned, *standing, *rest)][:limit]
