"""What was decided of the notes made anew, asked for all of a unit at once, as distillation asks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from argus_memory.db import Connection
from argus_memory.rules.decided import FREE, PAST, Asked, Fate
from argus_memory.rules.regeneration import NewNote
from argus_memory.stages.decided import carry, find_fates, find_forgotten_items, withhold


@dataclass(frozen=True, slots=True)
class Fates:
    """By uid what was decided of a fact; items: raw items forgotten with their whole arrival."""

    by_uid: dict[str, Fate]
    items: frozenset[int]

    def forbids(self, note: NewNote) -> str | None:
        """The decision that keeps a note out, in words; None where it may be made."""
        out = self.by_uid.get(note.uid, FREE).out
        if out is not None:
            return out.sentence
        return "its arrival was forgotten as a whole" if note.place.raw_id in self.items else None

    def bear(self, conn: Connection, note: NewNote, note_id: int, *, now: datetime) -> None:
        """Let a note that was just added be pinned or excluded from the start, where its fact is."""
        carry(conn, note_id, self.by_uid.get(note.uid, FREE), now=now)

    def withhold(self, conn: Connection, note: NewNote, *, now: datetime) -> None:
        """Keep the turn that says a forgotten fact again out of recall."""
        out = self.by_uid.get(note.uid, FREE).out
        if out is not None:
            withhold(conn, [note.place.raw_id], out, PAST[out.decision], now=now)


def ask_fates(conn: Connection, notes: Sequence[NewNote]) -> Fates:
    facts = [Asked(n.uid, n.params["text_key"], n.content, n.params["project"]) for n in notes]
    fates = dict(zip((note.uid for note in notes), find_fates(conn, facts), strict=True))
    items = find_forgotten_items(conn, sorted({n.place.raw_id for n in notes})) if notes else frozenset()
    return Fates(fates, items)
