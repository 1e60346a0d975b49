"""Notes that fade: "still wanted?", and what holds a single one. Computed when asked for; nothing is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal

from argus_memory.db import Database, queries
from argus_memory.errors import NotFound, UsageError
from argus_memory.rules.salience import HALF_LIFE, Standing, retention, standing

LIMIT: Final = 50
LIMIT_MAX: Final = 1000
Asked = Literal["fading", "stale"]


@dataclass(frozen=True, slots=True)
class Fading:
    """`count` of all such notes; `notes`: the most faded first, each with `retention` (0 to 1), last_sign, uses."""

    asked: Asked
    count: int
    notes: tuple[dict[str, Any], ...]


@dataclass(frozen=True, slots=True)
class NoteLife:
    """What holds a note. `retention`: what is left of its importance, 0 to 1; `judged`, `used`: answers that followed
    its showings; `files` that it names, with what git said of them."""

    standing: Standing
    retention: float
    pinned_at: datetime | None
    excluded_at: datetime | None
    confirmed_at: datetime | None
    shown_count: int
    last_shown_at: datetime | None
    judged: int
    used: int
    last_used_at: datetime | None
    files: tuple[dict[str, Any], ...] = ()


def list_fading(
    db: Database, asked: Asked, *, now: datetime, project: str | None = None, limit: int = LIMIT, after: int = 0
) -> Fading:
    """`after` entries are passed over. Raises UsageError on a limit out of range."""
    if not 1 <= limit <= LIMIT_MAX or after < 0:
        raise UsageError(f"limit: {limit} is outside 1 to {LIMIT_MAX}")
    return _cut(asked, _judge(db, now, project)[asked], limit, after)


def read_fading(
    db: Database, *, now: datetime, project: str | None = None, limit: int = LIMIT
) -> dict[Asked, Fading]:
    """Both lists from one reading, their first entries."""
    return {asked: _cut(asked, found, limit, 0) for asked, found in _judge(db, now, project).items()}


def _judge(
    db: Database, now: datetime, project: str | None
) -> dict[Asked, list[tuple[float, dict[str, Any]]]]:
    """What is left of each note that fades or is stale, the most faded first."""
    found: dict[Asked, list[tuple[float, dict[str, Any]]]] = {"stale": [], "fading": []}
    for row in _rows(db, now, project):
        left = left_of(row, now)
        name = standing(left)
        if name == "stale" or name == "fading":
            found[name].append((left, row))
    for notes in found.values():
        notes.sort(key=lambda pair: (pair[0], pair[1]["id"]))
    return found


def _cut(asked: Asked, found: Sequence[tuple[float, dict[str, Any]]], limit: int, after: int) -> Fading:
    page = tuple({**row, "retention": round(share, 3)} for share, row in found[after : after + limit])
    return Fading(asked, len(found), page)


def read_life(db: Database, note_id: int, *, now: datetime) -> NoteLife:
    """Raises NotFound."""
    row = db.fetch_one(queries("life").life_of_note, {"id": note_id})
    if row is None:
        raise NotFound(f"there is no note {note_id}")
    signs = [at for at in (row["said_at"], row["confirmed_at"], row["last_used_at"]) if at]
    left = retention(last_sign=max(signs), now=now, uses=row["used"], pinned=row["pinned_at"] is not None)
    kept = {name: row[name] for name in NoteLife.__slots__ if name in row}
    files = db.fetch_all(queries("note_files").files_of, {"id": note_id})
    return NoteLife(standing=standing(left), retention=round(left, 3), files=tuple(files), **kept)


def left_of(row: Mapping[str, Any], now: datetime) -> float:
    return retention(last_sign=row["last_sign"], now=now, uses=row["uses"])


def _rows(db: Database, now: datetime, project: str | None) -> list[dict[str, Any]]:
    """Without the notes that cannot fade yet, whatever held them: a half-life has to pass first."""
    params = {"now": now, "before": now - HALF_LIFE, "project": project}
    return list(db.fetch_all(queries("life").signs, params))
