"""Reading one row with where it came from: notes, raw items, episodes."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path
from starlette.responses import Response

from argus_api.answers import answer, note_json
from argus_api.auth import Level, require
from argus_api.hub import Here, utc_now
from argus_memory.upkeep import reads

router = APIRouter(dependencies=[require(Level.CAPTURE)])
RowId = Annotated[int, Path(ge=1, le=2**63 - 1)]


@router.get("/notes/{id}")
def get_note(hub: Here, id: RowId) -> Response:  # noqa: A002
    """The note, its state in a word (live, superseded, …) and its sources."""
    found = reads.get_note(hub.db, id, now=utc_now())
    return answer({**note_json(found.note), **found.standing(), "sources": found.sources})


@router.get("/notes/{id}/source")
def get_source(hub: Here, id: RowId) -> Response:  # noqa: A002
    """The raw item the note quotes, where in it the quotation stands, and the episode around it."""
    found = reads.get_note(hub.db, id, now=utc_now())
    note = found.note
    episode = reads.get_episode(hub.db, note.episode_id) if note.episode_id is not None else None
    return answer(
        {
            "note_id": note.id,
            **found.standing(),
            "source_ref": note.source_ref,
            "source_start": found.source_start,
            "source_end": found.source_end,
            "raw": reads.get_raw(hub.db, found.raw_id, now=utc_now()),
            "episode": episode,
        }
    )


@router.get("/raw/{id}")
def get_raw(hub: Here, id: RowId) -> Response:  # noqa: A002
    """One captured item, verbatim, and the live notes that quote it."""
    return answer(reads.get_raw(hub.db, id, now=utc_now()))


@router.get("/episodes/{id}")
def get_episode(hub: Here, id: RowId) -> Response:  # noqa: A002
    """The episode with its turns in the order said, and its notes."""
    return answer(reads.get_episode(hub.db, id))
