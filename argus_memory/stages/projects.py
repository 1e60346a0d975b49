"""Where a captured thing belongs: named by the caller, else its repository, else its folder's name.

`attribute` registers what it meets (capture); `find_project` only looks (recall).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from argus_memory.db import Connection, queries
from argus_memory.rules.project_keys import CONFIDENCE, Place, place_of

q = queries("projects")
REGISTRY_LOCK = 7_283_492  # two captures at once must not give one repository two names
NUMBERED_MAX = 100  # repositories of one whole address or path; only machines of one name come to that


@dataclass(frozen=True, slots=True)
class Attribution:
    """The project's short name (None: nothing names one), how it was found, and how sure that is (0 to 1)."""

    project: str | None
    method: str
    confidence: float


def attribute(
    conn: Connection, *, explicit: str | None, repo: Any, cwd: str | None, host: str | None
) -> Attribution:
    """The project of a captured thing; a repository or folder met for the first time is registered."""
    place = place_of(explicit, repo, cwd, host)
    if not place.names:
        return Attribution(None, "none", CONFIDENCE["none"])
    if place.method == "repo":
        known, complete = _by_keys(conn, place)
        name = known if known and complete else _register(conn, place)
    else:
        name = place.names[0]
        conn.execute(q.insert_project, {"name": name, "method": place.method})
    return Attribution(name, place.method, CONFIDENCE[place.method])


def find_project(
    conn: Connection, *, explicit: str | None, repo: Any, cwd: str | None, host: str | None = None
) -> str | None:
    """The name `attribute` would give, without registering anything."""
    place = place_of(explicit, repo, cwd, host)
    if not place.names:
        return None
    if place.method != "repo":
        return place.names[0]
    return _by_keys(conn, place)[0] or _free_name(conn, place)


def _by_keys(conn: Connection, place: Place) -> tuple[str | None, bool]:
    """(name by the surest key that is registered, whether all keys are)."""
    rows = {row["key"]: str(row["name"]) for row in conn.execute(q.find_by_keys, {"keys": list(place.keys)})}
    return next((rows[key] for key in place.keys if key in rows), None), len(rows) == len(place.keys)


def _register(conn: Connection, place: Place) -> str:
    conn.execute("select pg_advisory_xact_lock(%(lock)s)", {"lock": REGISTRY_LOCK})
    known, _ = _by_keys(conn, place)  # another capture may have been first
    name = known or _free_name(conn, place)
    conn.execute(q.insert_project, {"name": name, "method": place.method})
    conn.execute(q.insert_keys, {"keys": list(place.keys), "name": name})
    return name


def _free_name(conn: Connection, place: Place) -> str:
    """The shortest name that no other repository has; one known only as a folder's name is adopted."""
    longest = place.names[-1]
    names = [*place.names, *(f"{longest}-{number}" for number in range(2, NUMBERED_MAX))]
    taken = {row["name"] for row in conn.execute(q.find_taken, {"names": names})}
    return next(name for name in names if name not in taken)
