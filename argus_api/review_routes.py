"""`GET /review` and the decisions on a held merge."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from starlette.responses import Response

from argus_api.answers import answer
from argus_api.auth import Level, require
from argus_api.hub import Here, utc_now
from argus_api.note_routes import RowId
from argus_memory.upkeep import held, review

router = APIRouter()
ACTOR = "api"
DECISIONS = {"approve": review.approve, "reject": review.reject, "undo": review.undo}


@router.get("/review", dependencies=[require(Level.CAPTURE)])
def list_review(hub: Here, limit: Annotated[int, Query(ge=1, le=1000)] = review.LIST_LIMIT) -> Response:
    """Merges, and decisions of agents, that wait for a person, newest first."""
    merges: list[Any] = review.list_held(hub.db, limit=limit)
    return answer({"held": merges, "decisions": held.list_held_decisions(hub.db, limit=limit)})


@router.post("/review/{id}/{decision}", dependencies=[require(Level.ADMIN)])
def decide(hub: Here, id: RowId, decision: Literal["approve", "reject", "undo"]) -> Response:  # noqa: A002
    """The receipt of a decision: the state before and now, and the notes taken away or brought back."""
    return answer(DECISIONS[decision](hub.db, id, ACTOR, now=utc_now()))
