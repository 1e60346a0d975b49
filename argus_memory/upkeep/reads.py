"""One row with where it came from: a note, a raw item, an episode. Reading changes nothing.

What is no longer live is still readable, and says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from argus_memory.db import Database, queries
from argus_memory.errors import NotFound
from argus_memory.records import Note
from argus_memory.stages.recall_notes import note_of
from argus_memory.upkeep.fading import NoteLife, read_life

LIVE, NOT_YET, ENDED, TOMBSTONED, EXCLUDED = "live", "not-yet-valid", "ended", "tombstoned", "excluded"


@dataclass(frozen=True, slots=True)
class NoteRead:
    """A note with its standing. `raw_id` is the item it quotes, `source_start` and `source_end` characters of it."""

    note: Note
    state: str
    raw_id: int
    source_start: int | None
    source_end: int | None
    deleted_at: datetime | None
    superseded_by: int | None
    sources: tuple[Mapping[str, Any], ...]
    life: NoteLife

    def standing(self) -> dict[str, Any]:
        """What an answer says of it besides its text."""
        return {
            **asdict(self.life),
            "live": self.state == LIVE,
            "state": self.state,
            "deleted_at": self.deleted_at,
            "superseded_by": self.superseded_by,
        }


def judge_state(row: Mapping[str, Any], now: datetime) -> str:
    """`live`, or the word for why it is not: a tombstone's reason, or its validity."""
    if row["deleted_at"] is not None:
        return str(row["deleted_reason"] or TOMBSTONED)
    if row["excluded_at"] is not None:
        return EXCLUDED
    if row["valid_from"] > now:
        return NOT_YET
    if row["valid_to"] is not None and row["valid_to"] <= now:
        return ENDED
    return LIVE


def get_note(db: Database, note_id: int, *, now: datetime) -> NoteRead:
    """Raises NotFound."""
    row = db.fetch_one(queries("reads").note, {"id": note_id})
    if row is None:
        raise NotFound(f"there is no note {note_id}")
    source = {
        "raw_id": row["raw_id"],
        "episode_id": row["episode_id"],
        "quote": row["source_ref"],
        **{name: row[name] for name in ("source", "kind", "session", "role", "said_at", "captured_at")},
    }
    return NoteRead(
        note_of(row),
        judge_state(row, now),
        row["raw_id"],
        row["source_start"],
        row["source_end"],
        row["deleted_at"],
        row["superseded_by"],
        (source,),
        read_life(db, note_id, now=now),
    )


def get_raw(db: Database, raw_id: int, *, now: datetime) -> dict[str, Any]:
    """The item's columns, its episode, what it nearly repeats, what was masked in it, its live notes.

    Raises NotFound.
    """
    row = db.fetch_one(queries("reads").raw_item, {"id": raw_id, "now": now})
    if row is None:
        raise NotFound(f"there is no raw item {raw_id}")
    return dict(row)


def get_episode(db: Database, episode_id: int) -> dict[str, Any]:
    """The episode's columns, `turns` in the order said, ids of its live `notes`.

    `state` is `closed`, or `replaced` for one that a late turn reopened: its turns are those of its span then.
    Raises NotFound.
    """
    with db.transaction() as conn:
        row = conn.execute(queries("reads").episode, {"id": episode_id}).fetchone()
        if row is None:
            raise NotFound(f"there is no episode {episode_id}")
        query = queries("reads").span_turns if row["state"] == "replaced" else queries("reads").episode_turns
        turns = conn.execute(query, {"id": episode_id}).fetchall()
    return {**row, "turns": turns}
