"""Regenerations: what was made anew or waits, with the diff, and a person's word on one that is held."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query
from starlette.responses import Response

from argus_api.answers import answer
from argus_api.auth import Level, require
from argus_api.hub import Here, utc_now
from argus_api.note_routes import RowId
from argus_memory.upkeep import regenerate_view
from argus_memory.upkeep.regeneration import accept, dismiss

router = APIRouter()
ACTOR = "api"


@router.get("/regenerations", dependencies=[require(Level.CAPTURE)])
def list_regenerations(
    hub: Here, limit: Annotated[int, Query(ge=1, le=1000)] = regenerate_view.LISTED
) -> Response:
    """The latest first, with counts and how each ended."""
    rows = regenerate_view.list_regenerations(hub.db, limit=limit)
    return answer({"regenerations": rows, "count": len(rows)})


@router.get("/regenerations/{id}", dependencies=[require(Level.CAPTURE)])
def get_regeneration(hub: Here, id: RowId) -> Response:  # noqa: A002
    """One of them, its units, and both texts of every note that changes."""
    return answer({
        "regeneration": regenerate_view.get_regeneration(hub.db, id),
        "units": regenerate_view.list_units(hub.db, id),
        "changes": regenerate_view.list_changes(hub.db, id),
    })  # fmt: skip


@router.post("/regenerations/{id}/{word}", dependencies=[require(Level.ADMIN)])
def decide(hub: Here, id: RowId, word: Literal["accept", "dismiss"]) -> Response:  # noqa: A002
    """Switch what was held or only shown, or let the old notes stand; 409 where it waits for nobody."""
    if word == "accept":
        return answer(accept(hub.db, hub.settings, id, ACTOR).as_json())
    return answer(dismiss(hub.db, id, ACTOR, now=utc_now()).as_json())
