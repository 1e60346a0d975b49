"""`POST /deliver`: a message into the outbox; `GET /deliveries`: what became of messages."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from argus_api.answers import answer
from argus_api.auth import Level, require
from argus_api.body import JsonObject
from argus_api.hub import Here, utc_now
from argus_memory.watch.deliveries import accept_delivery, list_deliveries

router = APIRouter()


@router.post("/deliver", dependencies=[require(Level.MCP)])
def deliver(hub: Here, intent: JsonObject) -> Response:
    """`{"text", "title"?, "channel"?, "link"?, "key"?, "task"?, "rid"?}`; 201 where it is new, else 200."""
    receipt = accept_delivery(hub.db, hub.settings, intent, now=utc_now())
    return answer(receipt, 200 if receipt.duplicate else 201)


@router.get("/deliveries", dependencies=[require(Level.ADMIN)])
def deliveries(
    hub: Here,
    key: str | None = None,
    status: str | None = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> Response:
    """Messages, newest first, by key and status; `count` is of all that fit."""
    return answer(list_deliveries(hub.db, hub.settings, key=key, status=status, limit=limit))
