"""What dedup reads: notes that were not looked at yet, their exact repeats and their nearest neighbours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from psycopg import sql

from argus_memory.db import LIVE_NOTE, Connection, queries
from argus_memory.records import GLOBAL_PROJECT
from argus_memory.rules.dedup_judgement import NoteView
from argus_memory.settings import DEDUP_NEIGHBOURS
from argus_memory.stages.spaces import EMBED_ATTEMPTS, vector_type

_FIELDS = tuple(field.name for field in fields(NoteView))


@dataclass(frozen=True, slots=True)
class DedupSpace:
    """The active embedding space with its cosines, None where it has none."""

    id: int
    dim: int
    floor: float | None
    same: float | None


@dataclass(frozen=True, slots=True)
class PendingNote:
    """A note to look at; `embedding` is pgvector's value, None when it can have none."""

    note: NoteView
    embedding: Any


def find_space(conn: Connection) -> DedupSpace | None:
    row = conn.execute(queries("dedup").active_space).fetchone()
    return DedupSpace(**row) if row else None


def view(row: Mapping[str, Any]) -> NoteView:
    """A row of any of dedup's queries as a note; columns that are no field are left out."""
    return NoteView(**{name: row[name] for name in _FIELDS if name in row})


def find_pending(conn: Connection, space: DedupSpace | None, *, now: datetime, limit: int) -> list[PendingNote]:
    """The newest `limit` notes to look at, the oldest of them first: of two new notes the later one is the repeat."""
    rows = conn.execute(
        queries("dedup").pending_notes,
        {"space_id": space.id if space else None, "attempts": EMBED_ATTEMPTS, "now": now, "limit": limit},
    ).fetchall()
    return [PendingNote(view(row), row["embedding"]) for row in reversed(rows)]


def find_exact(conn: Connection, note: NoteView, uids: Sequence[str], *, now: datetime) -> list[NoteView]:
    """Live notes of the same uid, category, project and speaker, oldest first."""
    rows = conn.execute(
        queries("dedup").exact_repeats,
        {
            "uids": list(uids),
            "id": note.id,
            "category": note.category,
            "project": note.project,
            "role": note.role,
            "now": now,
        },
    )
    return [view(row) for row in rows]


def find_near(
    conn: Connection, note: NoteView, embedding: Any, space: DedupSpace | None, *, now: datetime
) -> list[NoteView]:
    """Up to three neighbours from the space's floor on, closest first: live, of the same speaker, of the same project
    or global, and looked at before."""
    if space is None or space.floor is None or embedding is None:
        return []
    conn.execute(queries("dedup").set_scan)
    rows = conn.execute(
        _nearest(space),
        {
            "embedding": embedding,
            "id": note.id,
            "project": note.project,
            "global": GLOBAL_PROJECT,
            "role": note.role,
            "limit": DEDUP_NEIGHBOURS,
            "now": now,
        },
    ).fetchall()
    return [view(row) for row in rows if row["similarity"] >= space.floor]


def _nearest(space: DedupSpace) -> sql.Composed:
    """The query over the space's own index, which names dimension and space outright."""
    distance = sql.SQL("v.embedding::{kind}({dim}) <=> (%(embedding)s)::{kind}({dim})").format(
        kind=vector_type(space.dim), dim=sql.Literal(space.dim)
    )
    return sql.SQL(
        """
        select n.id, n.uid, n.content, n.category, n.project, n.role, n.confidence, n.raw_id, n.said_at,
               n.valid_from, n.valid_to, n.context, n.pinned_at is not null as pinned,
               1 - ({distance}) as similarity
        from note_vectors v
        join distilled_notes n on n.id = v.note_id
        where v.space_id = {space} and {live} and n.id <> %(id)s
          and (n.project is not distinct from %(project)s or n.project = %(global)s)
          and n.role is not distinct from %(role)s
          and n.deduped_at is not null
        order by {distance}
        limit %(limit)s
        """
    ).format(distance=distance, space=sql.Literal(space.id), live=sql.SQL(LIVE_NOTE))
