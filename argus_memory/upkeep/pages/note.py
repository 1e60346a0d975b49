"""The page of a note, with everything that supports it and all that happened to it; and that of a captured item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from psycopg.rows import DictRow

from argus_memory.db import Connection, Database, queries
from argus_memory.errors import NotFound
from argus_memory.upkeep.history import NoteHistory, read_history
from argus_memory.upkeep.pages.search import state_of

REACH: Final = 2  # turns shown on each side of the one that a note quotes
WINDOW: Final = 6000  # characters of a quoted item on each side of the span
RAW_CHARS: Final = 20_000  # of a captured item on its own page, until all of it is asked for
RESTORABLE: Final = ("forgotten", "rejected", "redistilled")


@dataclass(frozen=True, slots=True)
class Related:
    """A note beside the one shown; `relation` says how."""

    id: int
    title: str
    content: str
    relation: str
    state: str
    said_at: datetime | None


@dataclass(frozen=True, slots=True)
class Turn:
    """An item of the session. Of the quoted one (`place` 0) `body` is a window; `start` and `end` lie within it."""

    id: int
    place: int
    who: str
    kind: str
    said_at: datetime
    body: str
    length: int
    withheld: str | None
    start: int | None = None
    end: int | None = None

    @property
    def left(self) -> int:
        """Characters that are not shown."""
        return self.length - len(self.body)


@dataclass(frozen=True, slots=True)
class Step:
    """Something that happened to a note. `what`: event, decision or verdict, by the table it stands in."""

    id: int
    what: str
    word: str
    at: datetime
    by: str | None
    status: str | None
    note_id: int
    other_id: int | None
    reason: str | None
    similarity: float | None
    detail: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class NotePage:
    """`note`: the row; `state`: live, or the word for why not; `turns`: the source in its session."""

    note: Mapping[str, Any]
    state: str
    turns: tuple[Turn, ...]
    related: tuple[Related, ...]
    history: NoteHistory

    @property
    def is_there(self) -> bool:
        """Not tombstoned: it can be pinned, excluded, corrected, confirmed."""
        return self.note["deleted_at"] is None

    @property
    def can_restore(self) -> bool:
        return self.note["deleted_reason"] in RESTORABLE

    @property
    def can_forget(self) -> bool:
        return self.note["deleted_reason"] not in ("forgotten", "redacted")

    @property
    def steps(self) -> tuple[Step, ...]:
        """Events and decisions and dedup's verdicts in one line of time, the newest first."""
        told = [_step("event", one["event"], one) for one in self.history.events]
        told += [_step("decision", one["decision"], one) for one in self.history.decisions]
        told += [_step("verdict", one["verdict"], one) for one in self.history.verdicts]
        return tuple(sorted(told, key=lambda one: (one.at, one.what, one.id), reverse=True))


@dataclass(frozen=True, slots=True)
class RawPage:
    """A captured item with its neighbours, what was masked in it and the notes that quote it."""

    item: Mapping[str, Any]
    turns: tuple[Turn, ...]
    redactions: Sequence[Mapping[str, Any]]
    notes: Sequence[Mapping[str, Any]]


def find_note(db: Database, note_id: int, *, now: datetime) -> NotePage:
    """Raises NotFound."""
    q = queries("pages_note")
    with db.transaction() as conn:
        note = conn.execute(q.note, {"id": note_id}).fetchone()
        if note is None:
            raise NotFound(f"there is no note {note_id}")
        related = conn.execute(
            q.related,
            {name: note[name] for name in ("id", "uid", "links", "superseded_by")},
        ).fetchall()
        turns = _around(conn, note["raw_id"], note["source_start"], note["source_end"])
    shown = tuple(
        Related(row["id"], row["title"], row["content"], row["relation"], state_of(row, now), row["said_at"])
        for row in related
    )
    return NotePage(note, state_of(note, now), turns, shown, read_history(db, note_id, now=now))


def find_raw(db: Database, raw_id: int, *, now: datetime, whole: bool = False) -> RawPage:
    """Raises NotFound. `whole`: all of the body, however long."""
    q = queries("pages_note")
    with db.transaction() as conn:
        item = conn.execute(q.raw_item, {"id": raw_id}).fetchone()
        if item is None:
            raise NotFound(f"there is no captured item {raw_id}")
        redactions = conn.execute(q.raw_redactions, {"id": raw_id}).fetchall()
        notes = conn.execute(q.raw_notes, {"id": raw_id}).fetchall()
        turns = _around(conn, raw_id, None, None, chars=item["length"] if whole else RAW_CHARS)
    return RawPage(item, turns, redactions, [{**row, "state": state_of(row, now)} for row in notes])


def _around(
    conn: Connection, raw_id: int, start: int | None, end: int | None, *, chars: int | None = None
) -> tuple[Turn, ...]:
    """The item in its session; around the span where one is named."""
    first = 0
    if start is not None and end is not None:
        first, chars = max(0, start - WINDOW), end - start + 2 * WINDOW
    params = {"raw_id": raw_id, "reach": REACH, "from_char": first, "chars": chars or 2 * WINDOW}
    rows = conn.execute(queries("pages_note").around, params).fetchall()
    return tuple(_turn(row, first, start, end) for row in rows)


def _step(what: str, word: str, row: Mapping[str, Any]) -> Step:
    return Step(
        row["id"], what, word, row["at"], row.get("actor") or row.get("decided_by") or row.get("model"),
        row.get("status"), row["note_id"], row.get("other_id") or row.get("new_note_id"),
        row.get("reason") or row.get("reasoning"), row.get("similarity"), row.get("detail") or {},
    )  # fmt: skip


def _turn(row: DictRow, first: int, start: int | None, end: int | None) -> Turn:
    who = row["speaker"] or row["role"] or row["kind"]
    quoted = row["place"] == 0 and start is not None and end is not None
    return Turn(
        row["id"], row["place"], who, row["kind"], row["said_at"], row["body"], row["length"], row["withheld"],
        start - first if quoted and start is not None else None, end - first if quoted and end is not None else None,
    )  # fmt: skip
