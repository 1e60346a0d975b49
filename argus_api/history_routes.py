"""What happened to notes: one note's history, a timeline, and what changed about a subject."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from argus_api.answers import answer
from argus_api.auth import Level, require
from argus_api.hub import Here, utc_now
from argus_api.note_routes import RowId
from argus_memory.errors import UsageError
from argus_memory.rules.moments import parse_moment
from argus_memory.rules.storable import storable
from argus_memory.upkeep import history

router = APIRouter(dependencies=[require(Level.CAPTURE)])


@router.get("/notes/{id}/history")
def get_history(hub: Here, id: RowId) -> Response:  # noqa: A002
    """Every event of the note with actor and time, the decisions on it, and dedup's verdicts."""
    return answer(history.read_history(hub.db, id, now=utc_now()))


@router.get("/timeline")
def get_timeline(
    hub: Here,
    project: str | None = None,
    since: str | None = None,
    until: str | None = None,
    event: Annotated[str | None, Query(description="kinds, separated by commas")] = None,
    limit: Annotated[int, Query(ge=1, le=history.TIMELINE_MAX)] = history.TIMELINE_LIMIT,
) -> Response:
    """Events newest first; `unattributed` counts those of the window that belong to no known project."""
    now = utc_now()
    kinds = [word.strip() for word in (event or "").split(",") if word.strip()]
    return answer(
        history.read_timeline(
            hub.db,
            since=read_since(since, now),
            until=read_until(until, now),
            project=storable(project) if project else None,
            events=kinds or None,
            limit=limit,
        )
    )


@router.get("/diff")
def get_diff(
    hub: Here,
    subject: str = "",
    since: str | None = None,
    until: str | None = None,
    project: str | None = None,
) -> Response:
    """What was added, removed, changed (with both texts), corroborated, and what came and went in between."""
    now = utc_now()
    if not since:
        raise UsageError("since: is missing: a day to compare with, such as 2026-03-01")
    return answer(
        history.read_diff(
            hub.db,
            storable(subject),
            since=parse_moment(since, name="since", now=now),
            until=read_until(until, now),
            project=storable(project) if project else None,
        )
    )


def read_since(text: str | None, now: datetime) -> datetime:
    return parse_moment(text, name="since", now=now) if text else history.EVER


def read_until(text: str | None, now: datetime) -> datetime:
    """The end of a window; without a word for it, now: an event of this very moment included."""
    return parse_moment(text, name="until", now=now, end=True) if text else history.just_after(now)
