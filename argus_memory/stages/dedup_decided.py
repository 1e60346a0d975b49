"""Dedup asks for what was decided, before it compares a note with others."""

from __future__ import annotations

from datetime import datetime

from argus_memory.db import Connection, queries
from argus_memory.rules.decided import PAST, Asked
from argus_memory.rules.dedup_judgement import NoteView
from argus_memory.rules.uid import text_key
from argus_memory.stages.acting import MACHINE, as_actor
from argus_memory.stages.decided import carry, find_fates


def take_away_decided(conn: Connection, note: NoteView, *, now: datetime) -> bool:
    """Whether the note says again what was taken away or excluded: then it goes the same way, its turn with it."""
    (fate,) = find_fates(conn, [Asked(note.uid, text_key(note.content), note.content, note.project)])
    if fate.out is None and fate.excluded is None:
        return False
    as_actor(conn, MACHINE, now=now)
    if fate.out is not None:
        reason = PAST[fate.out.decision]
        conn.execute(queries("decisions").tombstone_repeat, {"id": note.id, "reason": reason, "now": now})
    else:
        carry(conn, note.id, fate, now=now)
    return True
