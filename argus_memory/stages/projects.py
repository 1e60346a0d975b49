"""Where a captured thing belongs: named by the caller, else its repository, else its folder's name.

Registry: projects, project_keys. `resolve_project` and `resolve_places` register what they meet for the first time
(capture), `find_project` only looks (recall). Keys and names are made by rules/project_keys.py.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any
from weakref import WeakKeyDictionary

from argus_memory.db import Connection, Database, queries
from argus_memory.errors import NotFound
from argus_memory.records import CANARY_PROJECT
from argus_memory.rules.project_keys import CONFIDENCE, NEVER_BY_ITSELF, Place, place_of

# How long a project renamed or merged by another process may still be known by its old name.
REMEMBER_SECONDS = 30.0
REMEMBERED_MAX = 10_000
NEAREST = 3  # names told with a project that is none

q = queries("projects")


@dataclass(frozen=True, slots=True)
class Attribution:
    """The project's short name (None: nothing names one), how it was found, and how sure that is (0 to 1)."""

    project: str | None
    method: str
    confidence: float


_remembered: WeakKeyDictionary[Database, dict[Place, tuple[float, Attribution]]] = WeakKeyDictionary()


def resolve_project(
    conn: Connection, *, explicit: str | None, repo: Any, cwd: str | None, host: str | None
) -> Attribution:
    """The project of one captured thing; a new one is registered in the caller's transaction."""
    return _register(conn, place_of(explicit, repo, cwd, host))


def find_project(
    conn: Connection, *, explicit: str | None, repo: Any, cwd: str | None, host: str | None = None
) -> str | None:
    """The name capture would give, without registering anything."""
    return _decide(conn, place_of(explicit, repo, cwd, host))


def require_project(conn: Connection, name: str) -> Mapping[str, Any]:
    """The project of a name or alias; "no such project" is not "nothing recorded". Raises NotFound."""
    row = conn.execute(q.find_named, {"name": name}).fetchone()
    if row is not None:
        return row
    known = [each["name"] for each in conn.execute(q.all_names)]
    near = get_close_matches(name, known, NEAREST, 0.5)
    hint = f"; did you mean {', '.join(near)}?" if near else "; `argus project list` shows those there are"
    raise NotFound(f"there is no project {name!r}{hint}")


def name_of(conn: Connection, project: str | None) -> str | None:
    """The present name of a project that a person named, by name or alias; None stays None.

    What rows bear counts as one, registered or not. Raises NotFound.
    """
    if project is None or project in NEVER_BY_ITSELF:
        return project
    row = conn.execute(q.find_named, {"name": project}).fetchone()
    if row is not None:
        return str(row["name"])
    known = conn.execute(q.has_rows, {"name": project}).fetchone()
    return project if known and known["known"] else str(require_project(conn, project)["name"])


def find_unknown(conn: Connection, project: str | None) -> str | None:
    """Why a project that was named is none, in a sentence with the nearest names; None where it is one."""
    try:
        name_of(conn, project)
    except NotFound as refusal:
        return str(refusal)
    return None


def resolve_places(db: Database, places: Iterable[Place]) -> dict[Place, Attribution]:
    """The projects of many captures, known ones from memory.

    New ones are registered in a transaction of their own, committed before any row names them: a capture that held
    a registration while it waits for another's row could wait for ever.
    """
    known = _remembered.setdefault(db, {})
    now = time.monotonic()
    found: dict[Place, Attribution] = {}
    missing: list[Place] = []
    for place in dict.fromkeys(places):
        until, attribution = known.get(place, (0.0, None))
        if attribution is not None and now < until:
            found[place] = attribution
        else:
            missing.append(place)
    if missing:
        with db.transaction() as conn:
            fresh = {place: _register(conn, place) for place in missing}
        if len(known) + len(fresh) > REMEMBERED_MAX:
            known.clear()
        known.update({place: (now + REMEMBER_SECONDS, attribution) for place, attribution in fresh.items()})
        found |= fresh
    return found


def _attribution(place: Place, name: str | None) -> Attribution:
    return Attribution(name, place.method, CONFIDENCE[place.method])


def _register(conn: Connection, place: Place) -> Attribution:
    """Look up; write only what is missing."""
    if not place.keys or place.explicit == CANARY_PROJECT:  # the health probe's is no project
        return _attribution(place, place.explicit or None)
    keys = list(place.keys)
    known = _names_by_key(conn, keys)
    if len(known) == len(keys) and len(set(known.values())) == 1:
        return _attribution(place, known[keys[0]])
    conn.execute(q.lock_registry)
    name = _decide(conn, place)
    conn.execute(q.insert_project, {"name": name, "method": place.method})
    conn.execute(q.attach_keys, {"keys": keys, "name": name})
    return _attribution(place, name)


def _decide(conn: Connection, place: Place) -> str | None:
    """The name of the project the place belongs to, registered or not; None where nothing is known of it."""
    if not place.keys:
        return None
    first, *others = place.keys
    known = _names_by_key(conn, list(place.keys))
    if first in known:
        return known[first]
    by_folder = next((known[key] for key in others if key in known), None) or _by_folder_alone(conn, place)
    if by_folder is not None and not place.remote:
        return by_folder
    names = [*place.names, *([by_folder] if by_folder else [])]
    registered = {row["name"]: row for row in conn.execute(q.find_names, {"names": names})}
    if by_folder is not None and not registered[by_folder]["has_remote"]:
        return by_folder  # a repository that has got its address since
    for name in place.names:
        if name not in registered or place.method != "repo" or not registered[name]["has_repository"]:
            return name
    return f"{place.names[-1]} ({first})"


def _by_folder_alone(conn: Connection, place: Place) -> str | None:
    """The project of the same folder where one side does not say on which machine: recall's hook, for one.

    None where two machines have it for different projects.
    """
    if not place.common:
        return None
    rows = conn.execute(q.find_folder, {"folder": f":{place.common}", "host": place.host}).fetchall()
    return rows[0]["name"] if len(rows) == 1 else None


def _names_by_key(conn: Connection, keys: list[str]) -> dict[str, str]:
    return {row["key"]: row["name"] for row in conn.execute(q.find_keys, {"keys": keys})}
