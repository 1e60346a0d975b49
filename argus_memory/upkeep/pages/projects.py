"""Projects as pages: the registry; and of one what makes it, how episodes came to it, what a change would move."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import numpy as np
from psycopg.rows import DictRow

from argus_memory.db import Database, queries
from argus_memory.stages.projects import require_project
from argus_memory.upkeep.pages.keyset import Slice, Sort, Wanted, fetch_page
from argus_memory.upkeep.projects import get_project, list_changes, list_mismatches

SORTS: Final = (
    Sort("latest", "Latest first", "coalesce(t.last_at, timestamptz 'epoch')", id="p.id"),
    Sort("name", "By name", "p.name", "text", descending=False, id="p.id"),
    Sort("notes", "Most notes", "coalesce(n.notes, 0)::float8", "number", id="p.id"),
    Sort("turns", "Most turns", "coalesce(t.turns, 0)::float8", "number", id="p.id"),
    Sort("episodes", "Most episodes", "coalesce(e.episodes, 0)::float8", "number", id="p.id"),
)
MISMATCHES: Final = 20  # on the page, the clearest first
CHANGES: Final = 20
ALIKE: Final = 5


@dataclass(frozen=True, slots=True)
class Registry:
    """`methods`: how episodes came to their projects; `unfiled`: those of none, unclear and not looked at."""

    projects: Slice[DictRow]
    methods: Sequence[DictRow]
    unfiled: Mapping[str, int]
    mismatches: Sequence[Mapping[str, Any]]
    changes: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Centroid:
    """Where a project lies in meaning: turns it is made of, and the projects nearest to it with their cosines."""

    turns: int
    rebuilt_at: datetime
    alike: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class ProjectPage:
    """`project` as get_project has it; `words`: those that set it apart, the strongest first; `centroid` None: it has
    no vectors yet."""

    project: Mapping[str, Any]
    methods: Sequence[DictRow]
    words: Sequence[DictRow]
    centroid: Centroid | None
    mismatches: Sequence[Mapping[str, Any]]
    episodes: Sequence[DictRow]


def find_registry(db: Database, words: str | None, *, wanted: Wanted, now: datetime) -> Registry:
    """A page of the projects whose name, or another name of theirs, holds `words`."""
    q = queries("pages_projects")
    with db.transaction() as conn:
        page = fetch_page(conn, q.rows, q.count, {"words": words, "now": now}, wanted)
        methods = conn.execute(q.methods, {"project": None}, prepare=False).fetchall()
        unfiled = conn.execute(queries("project_admin").unfiled_counts).fetchone()
    return Registry(
        page, methods, unfiled or {}, list_mismatches(db, limit=MISMATCHES), list_changes(db, limit=CHANGES)
    )


def find_project(db: Database, name: str, *, now: datetime) -> ProjectPage:
    """By any of its names. Raises NotFound with the nearest ones."""
    q = queries("pages_projects")
    project = get_project(db, name, now=now)
    asked = {"project": project["name"], "now": now}
    with db.transaction() as conn:
        methods = conn.execute(q.methods, asked, prepare=False).fetchall()
        words = conn.execute(q.words, asked, prepare=False).fetchall()
        centroids = conn.execute(q.centroids).fetchall()
        episodes = conn.execute(q.recent_episodes, asked).fetchall()
    own = [row for row in list_mismatches(db) if project["name"] in (row["project"], row["suggested"])]
    return ProjectPage(project, methods, words, _centroid(project["name"], centroids), own[:MISMATCHES], episodes)


def count_moves(db: Database, name: str) -> tuple[str, dict[str, int]]:
    """The project's name now, and how many rows of each kind bear it. Raises NotFound."""
    with db.transaction() as conn:
        found = require_project(conn, name)["name"]
        row = conn.execute(queries("pages_projects").bears, {"project": found}).fetchone()
    assert row is not None
    return found, dict(row)


def _centroid(name: str, rows: Sequence[DictRow]) -> Centroid | None:
    own = next((row for row in rows if row["name"] == name), None)
    if own is None:
        return None
    vectors = np.array([row["sums"] for row in rows], dtype=np.float32)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    cosines = vectors @ vectors[rows.index(own)]
    near = sorted(
        ((row["name"], float(cosine)) for row, cosine in zip(rows, cosines, strict=True) if row is not own),
        key=lambda pair: -pair[1],
    )
    return Centroid(own["turns"], own["rebuilt_at"], tuple(near[:ALIKE]))
