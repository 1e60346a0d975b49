"""What is on record, for a session that starts, for a prompt, and for a person who searches."""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from argus_api.answers import answer, note_json
from argus_api.auth import Level, require
from argus_api.body import JsonObject, get_number, get_text
from argus_api.hub import Here, utc_now
from argus_memory.errors import UsageError
from argus_memory.rules.moments import parse_as_of
from argus_memory.rules.storable import storable, storable_value
from argus_memory.settings import CONTEXT_MAX_NOTES, PROMPT_MAX_NOTES
from argus_memory.stages.context import recall_context
from argus_memory.stages.recall import recall_for_prompt
from argus_memory.stages.search import MAX_RESULTS, TYPES, search

router = APIRouter(dependencies=[require(Level.CAPTURE)])
PROMPT_LIMIT_MAX = 50
CONTEXT_LIMIT_MAX = 200


@router.get("/recall/context")
def context(
    hub: Here,
    cwd: str | None = None,
    repo: str | None = None,
    session: str | None = None,
    project: str | None = None,
    host: str | None = None,
    limit: Annotated[int, Query(ge=0, le=CONTEXT_LIMIT_MAX)] = CONTEXT_MAX_NOTES,
) -> Response:
    """What a new session of a project is given: notes, the end of its latest conversation, and the text of both."""
    found = recall_context(
        hub.db,
        hub.settings,
        now=utc_now(),
        cwd=_clean(cwd),
        repo=read_repo(repo),
        session=_clean(session),
        project=_clean(project),
        host=_clean(host),
        limit=limit,
    )
    return answer(
        {
            "injection_id": found.injection_id,
            "project": found.project,
            "notes": [note_json(note) for note in found.notes],
            "turns": found.turns,
            "text": found.text,
            "unknown_project": found.unknown_project,
        }
    )


@router.post("/recall/notes")
def recall_notes(hub: Here, data: JsonObject) -> Response:
    """Notes and turns for a prompt, and the text to inject; without a hit or when skipped `text` is empty."""
    prompt = data.get("prompt")
    if not isinstance(prompt, str):
        raise UsageError("prompt: is missing" if prompt is None else "prompt: text is needed")
    limit = get_number(data, "limit")
    if limit is not None and (limit != int(limit) or not 1 <= limit <= PROMPT_LIMIT_MAX):
        raise UsageError(f"limit: {limit:g} is not a whole number from 1 to {PROMPT_LIMIT_MAX}")
    floor = get_number(data, "floor")
    if floor is not None and not 0 <= floor <= 1:
        raise UsageError(f"floor: {floor:g} is outside 0 to 1")
    found = recall_for_prompt(
        hub.db,
        hub.settings,
        hub.embedder,
        prompt=storable(prompt),
        now=utc_now(),
        session=_text(data, "session"),
        cwd=_text(data, "cwd"),
        repo=storable_value(data.get("repo")),
        project=_text(data, "project"),
        host=_text(data, "host"),
        limit=PROMPT_MAX_NOTES if limit is None else int(limit),
        floor=floor,
        as_of=parse_as_of(_text(data, "as_of"), name="as_of", now=utc_now()),
    )
    return answer(
        {
            "injection_id": found.injection_id,
            "skipped": found.skipped,
            "degraded": found.degraded,
            "project": found.project,
            "notes": [note_json(note) for note in found.notes],
            "turns": found.turns,
            "text": found.text,
            "unknown_project": found.unknown_project,
        }
    )


@router.get("/search")
def search_all(
    hub: Here,
    q: str = "",
    project: str | None = None,
    limit: Annotated[int, Query(ge=1, le=MAX_RESULTS)] = 20,
    types: Annotated[str, Query(alias="type")] = ",".join(TYPES),
    as_of: str | None = None,
) -> Response:
    """Notes and verbatim turns, best first; `type` narrows to one of them; `as_of`: what was known and held then."""
    wanted = [word.strip() for word in types.split(",") if word.strip()]
    found = search(
        hub.db,
        hub.settings,
        hub.embedder,
        q=storable(q),
        now=utc_now(),
        project=_clean(project),
        limit=limit,
        types=wanted,
        as_of=parse_as_of(as_of, name="as_of", now=utc_now()),
    )
    return answer({"results": [hit.as_json() for hit in found], "degraded": found.degraded})


def read_repo(text: str | None) -> Any:
    """A repository in an address: the hook's JSON object, or a plain remote or path."""
    if not text:
        return None
    try:
        return storable_value(json.loads(text))
    except (ValueError, RecursionError):
        return storable(text)


def _text(data: dict[str, Any], name: str) -> str | None:
    return _clean(get_text(data, name))


def _clean(text: str | None) -> str | None:
    return storable(text) if text else None
