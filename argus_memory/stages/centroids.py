"""Where episodes without a folder belong: by the centroids of the projects' turns.

    turn vectors ──> project_centroids           added to as vectors come, rebuilt nightly
    episodes without a project ──> nearest centroid, near and alone enough ──> filed, with method and confidence
                                                                            └─> unclear: left alone, and counted
    episodes filed by a folder ──> nearer to another project ──> project_mismatches, for a person

A space that was never calibrated for it files nothing. What a person assigned or kept is never touched.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final

import numpy as np

from argus_memory.db import Connection, Database, queries
from argus_memory.rules.project_choice import choose_project, find_mismatch, nearest
from argus_memory.stages.acting import MACHINE, as_actor
from argus_memory.stages.passes import stage_pass

EPISODES: Final = 200  # a pass
LEAST_TURNS: Final = 20  # of a project, below which its centroid says nothing
q = queries("centroids")


@dataclass(frozen=True, slots=True)
class ProjectsReport:
    """Counts of one pass: turns added to centroids; episodes filed and left unclear."""

    turns_added: int = 0
    classified: int = 0
    unclear: int = 0
    calibrated: bool = False
    more: bool = False


@dataclass(frozen=True, slots=True)
class _Space:
    id: int
    least: float | None
    margin: float | None


def classify_episodes(
    db: Database, *, now: datetime, limit: int = EPISODES, run_id: str | None = None
) -> ProjectsReport:
    """One pass: bring the centroids up to date and file what has no project."""
    with stage_pass(db, "projects", run_id=run_id) as trace:
        with db.transaction() as conn:
            space = _find_space(conn)
            added = _add(conn, space.id, now) if space else 0
            _follow_names(conn, now)
        report = ProjectsReport(turns_added=added)
        if space is not None and space.least is not None:
            report = _file(db, space, now, limit, added)
        trace.counts.update(asdict(report))
    return report


def rebuild_centroids(db: Database, *, now: datetime) -> int:
    """All centroids of the active space anew, and the audit of mismatches with them; the number of mismatches."""
    with db.transaction() as conn:
        space = _find_space(conn)
        if space is None:
            return 0
        conn.execute(q.forget_sums, {"space": space.id})
        _add(conn, space.id, now)
    return _audit(db, space, now) if space.least is not None else 0


def cosines_of(sums: Any, centroids: Mapping[str, np.ndarray]) -> dict[str, float]:
    """Cosine of an episode's summed vectors with each centroid (unit vectors)."""
    vector = np.asarray(sums, dtype=np.float64)
    length = float(np.linalg.norm(vector)) or 1.0
    return {name: float(unit @ vector / length) for name, unit in centroids.items()}


def _find_space(conn: Connection) -> _Space | None:
    row = conn.execute(q.spaces).fetchone()
    if row is None:
        return None
    thresholds = row["thresholds"]
    return _Space(row["id"], thresholds.get("project"), thresholds.get("project_margin"))


def _add(conn: Connection, space: int, now: datetime) -> int:
    """Vectors beyond the marks; what was embedded out of order is taken up by the nightly rebuild."""
    mark = conn.execute(q.least_mark, {"space": space}).fetchone()
    rows = conn.execute(q.fresh_sums, {"space": space, "after": mark["id"] if mark else 0}).fetchall()
    for row in rows:
        conn.execute(q.add_sums, {**row, "space": space, "now": now})
    return sum(row["turns"] for row in rows)


def _follow_names(conn: Connection, now: datetime) -> None:
    """A process that was not told of a rename yet may still have filed something under the old name."""
    as_actor(conn, MACHINE, now=now)
    for query in (q.follow_turns, q.follow_episodes, q.follow_notes):
        conn.execute(query)


def _load(conn: Connection, space: int) -> tuple[dict[str, np.ndarray], datetime | None]:
    """Unit centroids by project, and when the oldest of them was rebuilt."""
    rows = conn.execute(q.centroids, {"space": space, "least": LEAST_TURNS}).fetchall()
    units = {}
    for row in rows:
        vector = np.asarray(row["sums"], dtype=np.float64)
        units[row["name"]] = vector / (float(np.linalg.norm(vector)) or 1.0)
    return units, max((row["rebuilt_at"] for row in rows), default=None)


def _file(db: Database, space: _Space, now: datetime, limit: int, added: int) -> ProjectsReport:
    assert space.least is not None
    with db.transaction() as conn:
        units, since = _load(conn, space.id)
        if since is None:
            return ProjectsReport(added, calibrated=True)
        rows = conn.execute(q.unfiled, {"space": space.id, "since": since, "limit": limit}).fetchall()
    classified = unclear = 0
    for row in rows:
        cosines = cosines_of(row["sums"], units)
        chosen = choose_project(cosines, least=space.least, margin=space.margin or 0.0)
        told = chosen or nearest(cosines)
        params = {
            "episode_id": row["id"], "project": chosen.project if chosen else None, "space": space.id, "now": now,
            "method": "classified" if chosen else "unclear", "actor": MACHINE,
            "similarity": told.similarity if told else None, "margin": told.margin if told else None,
        }  # fmt: skip
        with db.transaction() as conn:
            as_actor(conn, MACHINE, now=now)
            if chosen and conn.execute(q.file_episode, {**params, "confidence": chosen.similarity}).rowcount:
                file_rows(conn, params)
            conn.execute(q.set_attribution, params)
        classified += chosen is not None
        unclear += chosen is None
    return ProjectsReport(added, classified, unclear, calibrated=True, more=len(rows) == limit)


def file_rows(conn: Connection, params: Mapping[str, Any]) -> None:
    """What belongs to an episode goes where it goes: its turns, notes and its place in the queue."""
    for query in (q.file_turns, q.file_notes, q.file_state):
        conn.execute(query, params)


def _audit(db: Database, space: _Space, now: datetime) -> int:
    """All episodes that a folder filed, in pages; the table is made anew in one transaction."""
    assert space.least is not None
    after, found = 0, []
    with db.transaction() as conn:
        units, _ = _load(conn, space.id)
    while True:
        rows = db.fetch_all(q.filed, {"space": space.id, "after": after, "limit": EPISODES})
        for row in rows:
            cosines = cosines_of(row["sums"], units)
            other = find_mismatch(cosines, row["project"], least=space.least, margin=space.margin or 0.0)
            if other is not None:
                found.append({
                    "episode_id": row["id"], "project": row["project"], "suggested": other.project,
                    "similarity": other.similarity, "margin": other.similarity - cosines[row["project"]], "now": now,
                })  # fmt: skip
        if len(rows) < EPISODES:
            break
        after = rows[-1]["id"]
    with db.transaction() as conn:
        conn.execute(q.forget_mismatches, {"episode_id": None})
        for one in found:
            conn.execute(q.set_mismatch, one)
    return len(found)
