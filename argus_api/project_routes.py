"""Projects: what there is, and what a person changes of them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from starlette.responses import Response

from argus_api.answers import answer
from argus_api.auth import Level, require
from argus_api.body import JsonObject, get_text
from argus_api.hub import Here, utc_now
from argus_api.note_routes import RowId
from argus_memory.errors import UsageError
from argus_memory.rules.storable import storable
from argus_memory.upkeep import projects

router = APIRouter()
ACTOR = "api"
READ, ADMIN = [require(Level.CAPTURE)], [require(Level.ADMIN)]


@router.get("/projects", dependencies=READ)
def list_projects(hub: Here) -> Response:
    """Every project with its counts, the latest first; and episodes that no project could be told for."""
    return answer(projects.list_projects(hub.db, now=utc_now()))


@router.get("/projects/mismatches", dependencies=READ)
def list_mismatches(
    hub: Here, limit: Annotated[int, Query(ge=1, le=1000)] = projects.LIST_LIMIT
) -> Response:
    """Episodes that read as if they belonged to another project."""
    rows = projects.list_mismatches(hub.db, limit=limit)
    return answer({"mismatches": rows, "count": len(rows)})


@router.get("/projects/changes", dependencies=READ)
def list_changes(hub: Here, limit: Annotated[int, Query(ge=1, le=1000)] = projects.LIST_LIMIT) -> Response:
    """Renames, merges, aliases and assignments, newest first."""
    rows = projects.list_changes(hub.db, limit=limit)
    return answer({"changes": rows, "count": len(rows)})


@router.get("/projects/{name:path}", dependencies=READ)
def get_project(hub: Here, name: str) -> Response:
    """One project by its name or an alias; 404 with the nearest names."""
    return answer(projects.get_project(hub.db, storable(name), now=utc_now()))


@router.post("/projects/changes/{id}/undo", dependencies=ADMIN)
def undo(hub: Here, id: RowId) -> Response:  # noqa: A002
    """Take a rename or merge back."""
    return answer(projects.undo(hub.db, id, ACTOR, now=utc_now()))


@router.post("/projects/{verb}", dependencies=ADMIN)
def change(hub: Here, verb: Literal["rename", "merge", "alias"], data: JsonObject) -> Response:
    """`{"project", "to"}`: the new name, the project it goes to, or the other name."""
    do = {"rename": projects.rename, "merge": projects.merge, "alias": projects.add_alias}[verb]
    return answer(do(hub.db, _need(data, "project"), _need(data, "to"), ACTOR, now=utc_now()))


@router.post("/episodes/{id}/assign", dependencies=ADMIN)
def assign(hub: Here, id: RowId, data: JsonObject) -> Response:  # noqa: A002
    """`{"project"}`: file the episode there; without one it stays where it is, and nobody asks again."""
    project = get_text(data, "project")
    return answer(projects.assign(hub.db, id, storable(project) if project else None, ACTOR, now=utc_now()))


def _need(data: dict[str, Any], name: str) -> str:
    text = get_text(data, name)
    if not text:
        raise UsageError(f"{name}: is missing")
    return str(storable(text))
