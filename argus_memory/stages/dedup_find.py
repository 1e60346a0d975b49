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

# Live notes of a project, with those of `global`, up to which all are compared. The index finds neighbours of the
# whole store, nearest first, and would walk through thousands for the few of a small project, and give up before
# them; of a larger one some are always among the first.
SCOPE_READ_WHOLE = 500
_FIELDS = tuple(field.name for field in fields(NoteView))

# In the order of the index on projects, so that nothing else is read.
_SCOPE = sql.SQL(
    """
    select s.id
    from unnest(%(projects)s::text[]) p (name)
    cross join lateral (
        select n.id from distilled_notes n where n.project = p.name and {live}
        order by n.importance desc, n.valid_from desc, n.id desc limit %(scope_limit)s
    ) s
    union all
    (
        select n.id from distilled_notes n where %(without)s and n.project is null and {live}
        order by n.importance desc, n.valid_from desc, n.id desc limit %(scope_limit)s
    )
    """
)
_COLUMNS = """
    n.id, n.uid, n.content, n.category, n.project, n.role, n.confidence, n.raw_id, n.said_at, n.valid_from,
    n.valid_to, n.context, n.pinned_at is not null as pinned, 1 - ({distance}) as similarity
"""
_ELIGIBLE = "n.id <> %(id)s and n.role is not distinct from %(role)s and n.deduped_at is not null"
# Over the space's own index, which names dimension and space outright.
_NEAREST = sql.SQL(
    f"""
    select {_COLUMNS}
    from note_vectors v
    join distilled_notes n on n.id = v.note_id
    where v.space_id = {{space}} and {{live}} and {{within}} and {_ELIGIBLE}
    order by {{distance}}
    limit %(limit)s
    """
)
# The notes lead to their vectors, one by one: neither the index nor the whole table is walked, whatever their sizes.
_NEAREST_OF = sql.SQL(
    f"""
    with measured as materialized (
        select {_COLUMNS}
        from distilled_notes n
        cross join lateral (
            select v.embedding from note_vectors v where v.space_id = {{space}} and v.note_id = n.id limit 1
        ) v
        where n.id = any(%(scope)s::bigint[]) and {{live}} and {_ELIGIBLE}
    )
    select * from measured order by similarity desc, id limit %(limit)s
    """
)


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
    params = {
        "embedding": embedding,
        "id": note.id,
        "projects": [name for name in (note.project, GLOBAL_PROJECT) if name is not None],
        "without": note.project is None,
        "role": note.role,
        "limit": DEDUP_NEIGHBOURS,
        "now": now,
        "scope_limit": SCOPE_READ_WHOLE + 1,
    }
    within = _within(note.project)
    scope = conn.execute(_SCOPE.format(live=sql.SQL(LIVE_NOTE)), params).fetchall()
    if len(scope) <= SCOPE_READ_WHOLE:
        query = _NEAREST_OF
        params["scope"] = [row["id"] for row in scope]
    else:
        conn.execute(queries("dedup").set_scan)
        query = _NEAREST
    distance = sql.SQL("v.embedding::{kind}({dim}) <=> (%(embedding)s)::{kind}({dim})").format(
        kind=vector_type(space.dim), dim=sql.Literal(space.dim)
    )
    rows = conn.execute(
        query.format(distance=distance, space=sql.Literal(space.id), live=sql.SQL(LIVE_NOTE), within=within), params
    ).fetchall()
    return [view(row) for row in rows if row["similarity"] >= space.floor]


def _within(project: str | None) -> sql.SQL:
    """Of the note's project or global, in words that the index on projects answers."""
    named = "n.project = any(%(projects)s)"
    return sql.SQL(named if project is not None else f"(n.project is null or {named})")
