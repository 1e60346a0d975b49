"""Decisions over HTTP: on a note, on a whole arrival, and on what an agent decided and a person has to see.

With the MCP token the actor is an agent, whose decision may be held; with the admin token a person.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final, Literal

from fastapi import APIRouter, Request
from starlette.responses import Response

from argus_api.answers import answer
from argus_api.auth import Level, level_of, require
from argus_api.body import JsonObject, JsonOptions, get_flag, get_text
from argus_api.hub import Here, utc_now
from argus_api.note_routes import RowId
from argus_memory.rules.decided import ActorKind
from argus_memory.rules.moments import parse_moment
from argus_memory.rules.storable import storable
from argus_memory.upkeep import arrivals, held
from argus_memory.upkeep.decisions import Verb, decide

router = APIRouter()
Named = Literal["pin", "unpin", "exclude", "include", "forget", "restore", "reconfirm"]
PERSON: Final = "api"
AGENT: Final = "mcp"


def actor_of(request: Request) -> tuple[str, ActorKind]:
    """Who calls, by the token."""
    return (PERSON, "person") if level_of(request) >= Level.ADMIN else (AGENT, "agent")


@router.post("/notes/{id}/{decision}", dependencies=[require(Level.MCP)])
def decide_note(
    hub: Here, request: Request, id: RowId, decision: Named, options: JsonOptions  # noqa: A002
) -> Response:
    """The receipt; 202 where an agent's decision is held for a person. `{"reason"}` may be given."""
    actor, kind = actor_of(request)
    verb: Verb = "confirm" if decision == "reconfirm" else decision
    receipt = decide(hub.db, verb, id, actor, now=utc_now(), kind=kind, reason=_text(options, "reason"))
    return answer(receipt, 202 if receipt.outcome == "held" else 200)


@router.post("/review/decisions/{id}/{word}", dependencies=[require(Level.ADMIN)])
def settle(
    hub: Here,
    id: RowId,  # noqa: A002
    word: Literal["approve", "reject"],
    options: JsonOptions,
) -> Response:
    """Let an agent's held decision take effect, or not; `{"dry_run": true}` tells what a held redaction takes out."""
    if word == "reject":
        return answer(held.reject_decision(hub.db, id, PERSON, now=utc_now()))
    if get_flag(options, "dry_run", False):
        return answer(held.preview_redaction(hub.db, id, PERSON, now=utc_now()))
    return answer(held.approve_decision(hub.db, id, PERSON, now=utc_now()))


@router.post("/forget", dependencies=[require(Level.ADMIN)])
def forget_arrival(hub: Here, data: JsonObject) -> Response:
    """`{"source", "session", "project", "since", "reason"}`: counted alone unless `"sure": true`."""
    now = utc_now()
    since = _text(data, "since")
    at: datetime | None = parse_moment(since, name="since", now=now) if since else None
    arrival = arrivals.Arrival(_text(data, "source"), _text(data, "session"), _text(data, "project"), at)
    if not get_flag(data, "sure", False):
        return answer(arrivals.count_arrival(hub.db, arrival))
    return answer(arrivals.forget_arrival(hub.db, arrival, PERSON, now=now, reason=_text(data, "reason")))


@router.post("/forget/{id}/restore", dependencies=[require(Level.ADMIN)])
def restore_arrival(hub: Here, id: RowId) -> Response:  # noqa: A002
    """Bring a forgotten arrival back whole."""
    return answer(arrivals.restore_arrival(hub.db, id, PERSON, now=utc_now()))


def _text(data: dict[str, Any], name: str) -> str | None:
    text = get_text(data, name)
    return storable(text) if text else None
