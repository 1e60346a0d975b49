"""Writing over HTTP: remember, correct and redact, and what is done with an agent's proposals.

With the MCP token the writer is an agent, with the admin token a person; redaction is a person's alone.
"""

from __future__ import annotations

from typing import Any, Literal

from fastapi import APIRouter, Request
from starlette.responses import Response

from argus_api.answers import answer
from argus_api.auth import Level, require
from argus_api.body import JsonObject, JsonOptions, get_flag, get_text
from argus_api.decision_routes import PERSON, actor_of
from argus_api.hub import Here, utc_now
from argus_api.note_routes import RowId
from argus_memory.errors import UsageError
from argus_memory.records import WriteReceipt
from argus_memory.rules.storable import storable
from argus_memory.upkeep import proposals
from argus_memory.upkeep.receiving import correct, remember
from argus_memory.upkeep.redacting import redact
from argus_memory.upkeep.writing import Writer

router = APIRouter()
STATUS = {"created": 201, "queued": 202, "held": 202}


@router.post("/remember", dependencies=[require(Level.MCP)])
def remember_fact(hub: Here, request: Request, data: JsonObject) -> Response:
    """`{"text", "category"?, "project"?, "cwd"?, "session"?, "uuid"?}`: 201 for a new note, 202 for what waits."""
    receipt = remember(
        hub.db,
        hub.settings,
        _needed(data, "text"),
        _writer(request, data),
        now=utc_now(),
        category=_text(data, "category") or "fact",
        project=_text(data, "project"),
        uuid=_text(data, "uuid"),
    )
    return _answer(receipt)


@router.post("/notes/{id}/correct", dependencies=[require(Level.MCP)])
def correct_note(hub: Here, request: Request, id: RowId, data: JsonObject) -> Response:  # noqa: A002
    """`{"text", "reason"?, "uuid"?}`: the new words in place of the note's."""
    receipt = correct(
        hub.db,
        hub.settings,
        id,
        _needed(data, "text"),
        _writer(request, data),
        now=utc_now(),
        reason=_text(data, "reason"),
        uuid=_text(data, "uuid"),
    )
    return _answer(receipt)


@router.post("/notes/{id}/redact", dependencies=[require(Level.ADMIN)])
def redact_note(hub: Here, id: RowId, data: JsonObject) -> Response:  # noqa: A002
    """`{"text"?, "reason", "replacement"?, "dry_run"?}`: without a text the whole item that the note quotes."""
    return answer(redact(hub.db, note_id=id, actor=PERSON, now=utc_now(), **_redaction(data)))


@router.post("/raw/{id}/redact", dependencies=[require(Level.ADMIN)])
def redact_raw(hub: Here, id: RowId, data: JsonObject) -> Response:  # noqa: A002
    """The same for a captured item, whether or not a note quotes it."""
    return answer(redact(hub.db, raw_id=id, actor=PERSON, now=utc_now(), **_redaction(data)))


@router.get("/proposals", dependencies=[require(Level.CAPTURE)])
def list_waiting(hub: Here) -> Response:
    """Facts that agents propose and no person has decided on, newest first."""
    return answer({"proposals": proposals.list_proposals(hub.db)})


@router.post("/proposals/{id}/{word}", dependencies=[require(Level.ADMIN)])
def settle_proposal(
    hub: Here,
    id: RowId,  # noqa: A002
    word: Literal["accept", "reject", "undo"],
    options: JsonOptions,
) -> Response:
    """Make it a note, turn it down for good, or put back what ARGUS_AUTO_APPROVE accepted."""
    if word == "undo":
        return answer(proposals.undo_auto(hub.db, id, PERSON, now=utc_now()))
    if word == "accept":
        return answer(proposals.accept_proposal(hub.db, id, PERSON, now=utc_now()))
    return answer(proposals.reject_proposal(hub.db, id, PERSON, now=utc_now(), reason=_text(options, "reason")))


def _writer(request: Request, data: dict[str, Any]) -> Writer:
    name, kind = actor_of(request)
    source = "mcp" if kind == "agent" else "api"
    return Writer(name, kind, source, session=_text(data, "session"), cwd=_text(data, "cwd"))


def _redaction(data: dict[str, Any]) -> dict[str, Any]:
    return {
        "text": data["text"] if _text(data, "text") else None,
        "reason": _needed(data, "reason"),
        "replacement": _text(data, "replacement"),
        "dry_run": get_flag(data, "dry_run", False),
    }


def _answer(receipt: WriteReceipt) -> Response:
    return answer(receipt, STATUS.get(receipt.outcome, 200))


def _needed(data: dict[str, Any], name: str) -> str:
    text = _text(data, name)
    if text is None or not text.strip():
        raise UsageError(f"{name}: is missing")
    return text


def _text(data: dict[str, Any], name: str) -> str | None:
    text = get_text(data, name)
    return storable(text) if text else None
