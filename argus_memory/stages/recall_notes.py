"""Notes and turns as answers show them, and as entries of the injected text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from argus_memory.db import Connection, queries
from argus_memory.records import Note, TurnHit
from argus_memory.rules.recall_text import NoteEntry, TurnEntry, excerpt

BODY_CHARS = 50_000  # of a turn that are looked through for the place worth showing
_NOTE_FIELDS = {field.name for field in fields(Note)} - {
    "score", "rrf_score", "why", "changed_on", "changed_files",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Place:
    """Where a note's raw item stands."""

    source: str
    session: str | None


def load_notes(conn: Connection, ids: Sequence[int]) -> dict[int, tuple[Note, Place]]:
    """Notes by id with the place of their raw items; ids that do not exist are left out."""
    if not ids:
        return {}
    rows = conn.execute(queries("recall").notes_by_id, {"ids": list(ids)}).fetchall()
    return {row["id"]: (note_of(row), Place(row["source"], row["session"])) for row in rows}


def note_of(row: Mapping[str, Any]) -> Note:
    """A note of a row that has its columns; arrays become tuples."""
    values = {name: row[name] for name in _NOTE_FIELDS}
    for name in ("keywords", "tags", "links"):
        values[name] = tuple(values[name])
    return Note(**values, changed_on=row.get("changed_on"), changed_files=tuple(row.get("changed_files") or ()))


def note_entry(note: Note, place: Place) -> NoteEntry:
    at = note.said_at or note.valid_from
    return NoteEntry(
        note.id, note.title, note.content, note.category, note.project, at, place.source, place.session,
        note.changed_on, note.changed_files,
    )  # fmt: skip


def turn_entry(turn: TurnHit, stems: Sequence[str] = ()) -> TurnEntry:
    """`stems`: what the excerpt of a long turn should show."""
    return TurnEntry(
        turn.raw_id, turn.role, excerpt(turn.text, stems), turn.project, turn.said_at, turn.session
    )


def who_said(row: Mapping[str, Any]) -> str:
    """The speaker's name, else User or Assistant."""
    return str(row["speaker"] or row["role"].capitalize())
