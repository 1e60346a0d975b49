"""The graph of a project's notes, or of those around one note."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from argus_memory.db import Connection, Database, queries
from argus_memory.errors import NotFound, UsageError
from argus_memory.rules.graph import Edge, Graph, Node, label_of, mentions
from argus_memory.stages.spaces import find_active_space

LIMIT: Final = 60
LIMIT_MAX: Final = 300
DEPTH_MAX: Final = 4
TITLE_CHARS: Final = 400


def read_graph(
    db: Database,
    *,
    now: datetime,
    project: str | None = None,
    note_id: int | None = None,
    depth: int = 1,
    limit: int = LIMIT,
) -> Graph:
    """At most `limit` notes: the most important live ones of a project, or what is within `depth` steps of a note.

    Raises NotFound for a note that is not there or is not shown any more, UsageError on a figure out of range.
    """
    if not 1 <= limit <= LIMIT_MAX:
        raise UsageError(f"limit: {limit} is outside 1 to {LIMIT_MAX}")
    if not 0 <= depth <= DEPTH_MAX:
        raise UsageError(f"depth: {depth} is outside 0 to {DEPTH_MAX}")
    q = queries("life")
    with db.transaction() as conn:
        ids = None if note_id is None else sorted(_around(conn, note_id, depth))
        params = {"ids": ids, "project": project, "now": now, "first": note_id, "limit": limit}
        rows = conn.execute(q.graph_notes, params).fetchall()
        if note_id is not None and note_id not in {row["id"] for row in rows}:
            raise NotFound(f"there is no note {note_id} that could be shown")
        kept = list(rows)
        found = [row["id"] for row in kept]
        superseded = conn.execute(q.graph_superseded, {"ids": found}).fetchall()
        gone = [row["other_id"] for row in superseded if row["other_id"] not in found]
        if gone and note_id is None:
            kept += conn.execute(q.graph_notes, {**params, "ids": gone, "limit": limit}).fetchall()
        shown = {row["id"] for row in kept}
        similar = _similar(conn, sorted(shown))
    things, named = mentions([(row["id"], row["content"]) for row in kept])
    edges = [Edge(f"n{row['note_id']}", f"n{row['other_id']}", "similar", row["similarity"]) for row in similar]
    edges += [
        Edge(f"n{row['note_id']}", f"n{row['other_id']}", "supersedes")
        for row in superseded
        if {row["note_id"], row["other_id"]} <= shown
    ]
    return Graph((*map(_node, kept), *things), (*edges, *named), max(0, rows[0]["found"] - limit) if rows else 0)


def _around(conn: Connection, note_id: int, depth: int) -> set[int]:
    """The note and what is within `depth` steps of it."""
    found, edge = {note_id}, {note_id}
    for _ in range(depth):
        rows = conn.execute(queries("life").graph_neighbours, {"ids": sorted(edge)}).fetchall()
        edge = {row["id"] for row in rows if row["id"] is not None} - found
        found |= edge
    return found


def _similar(conn: Connection, ids: list[int]) -> list[dict[str, Any]]:
    space = find_active_space(conn)
    if space is None or "related" not in space.thresholds:
        return []
    params = {"ids": ids, "space": space.id, "distance": space.thresholds["related"]}
    return list(conn.execute(queries("life").graph_similar, params).fetchall())


def _node(row: Any) -> Node:
    title = f"note {row['id']}, {row['said_at']:%Y-%m-%d}: {row['content'][:TITLE_CHARS]}"
    return Node(f"n{row['id']}", label_of(row["title"] or row["content"]), title, row["gone"], row["pinned"])
