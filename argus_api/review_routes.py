"""`GET /review`, what waits for a person, and the decisions on a held merge."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query
from starlette.responses import Response

from argus_api.answers import answer
from argus_api.auth import Level, require
from argus_api.hub import Here, utc_now
from argus_api.note_routes import RowId
from argus_memory.upkeep import review
from argus_memory.upkeep.review_queue import mark_looked, read_queue

router = APIRouter()
ACTOR = "api"
DECISIONS = {"approve": review.approve, "reject": review.reject, "undo": review.undo}


@router.get("/review", dependencies=[require(Level.CAPTURE)])
def list_review(hub: Here, limit: Annotated[int, Query(ge=1, le=1000)] = review.LIST_LIMIT) -> Response:
    """Merges, decisions and proposals of agents, and regenerations that wait for a person, newest first."""
    return answer(read_queue(hub.db, limit=limit))


@router.post("/review/looked", dependencies=[require(Level.ADMIN)])
def looked(hub: Here) -> Response:
    """A person saw the queue: `since` counts from now on."""
    now = utc_now()
    mark_looked(hub.db, now=now)
    return answer({"looked_at": now})


@router.post("/review/{id}/{decision}", dependencies=[require(Level.ADMIN)])
def decide(hub: Here, id: RowId, decision: Literal["approve", "reject", "undo"]) -> Response:  # noqa: A002
    """The receipt of a decision: the state before and now, and the notes taken away or brought back."""
    return answer(DECISIONS[decision](hub.db, id, ACTOR, now=utc_now()))
