"""How the memory as a whole is, and what is on record about a plan."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query
from starlette.responses import Response

from argus_api.answers import NO_STORE, answer, note_json
from argus_api.auth import Level, require
from argus_api.hub import Here, utc_now
from argus_memory.rules.graph import as_mermaid, as_svg
from argus_memory.rules.storable import storable
from argus_memory.stages import before_you_try as warnings
from argus_memory.upkeep import fading, memory_graph
from argus_memory.upkeep import injections as ledger
from argus_memory.upkeep.memory_health import list_history, read_memory_health, read_weeks

router = APIRouter(dependencies=[require(Level.CAPTURE)])
YEAR = timedelta(days=366)
MERMAID, SVG = "text/vnd.mermaid", "image/svg+xml"


@router.get("/before-you-try")
def before_you_try(
    hub: Here,
    q: str,
    session: str | None = None,
    limit: Annotated[int, Query(ge=1, le=warnings.LIMIT_MAX)] = warnings.LIMIT,
) -> Response:
    """Procedures and dead ends for what somebody is about to do, of all projects; `text` is fenced as data."""
    found = warnings.before_you_try(
        hub.db, hub.settings, hub.embedder, plan=storable(q), now=utc_now(),
        session=storable(session) if session else None, limit=limit,
    )  # fmt: skip
    return answer(
        {
            "injection_id": found.injection_id,
            "notes": [note_json(note) for note in found.notes],
            "dead_ends": found.dead_ends,
            "text": found.text,
            "degraded": found.degraded,
        }
    )


@router.get("/memory/health")
def health(hub: Here, project: str | None = None) -> Response:
    """The score with its parts; `history`: the scores of the whole memory as they were recorded, newest first."""
    report = read_memory_health(hub.db, now=utc_now(), project=_clean(project))
    return answer({**report.as_json(), "history": list_history(hub.db)})


@router.get("/memory/graph")
def graph(
    hub: Here,
    project: str | None = None,
    note: Annotated[int | None, Query(ge=1)] = None,
    depth: Annotated[int, Query(ge=0, le=memory_graph.DEPTH_MAX)] = 1,
    limit: Annotated[int, Query(ge=1, le=memory_graph.LIMIT_MAX)] = memory_graph.LIMIT,
    format: Literal["json", "mermaid", "svg"] = "json",  # noqa: A002
) -> Response:
    """Notes and what links them."""
    found = memory_graph.read_graph(
        hub.db, now=utc_now(), project=_clean(project), note_id=note, depth=depth, limit=limit
    )
    if format == "json":
        return answer(found)
    text = as_mermaid(found) if format == "mermaid" else as_svg(found, heading=project or "all projects")
    return Response(text, media_type=MERMAID if format == "mermaid" else SVG, headers=NO_STORE)


@router.get("/memory/uses")
def uses(hub: Here, project: str | None = None) -> Response:
    """What was shown and what the answers used, by week, newest first, of the last year."""
    return answer({"weeks": read_weeks(hub.db, since=utc_now() - YEAR, project=_clean(project))})


@router.get("/injections")
def injections(
    hub: Here,
    session: str | None = None,
    project: str | None = None,
    note: Annotated[int | None, Query(ge=1, le=2**63 - 1)] = None,
    before: Annotated[int | None, Query(ge=1, le=2**63 - 1)] = None,
    limit: Annotated[int, Query(ge=1, le=ledger.LIMIT_MAX)] = ledger.LIMIT,
) -> Response:
    """The ledger of recalls, newest first, with whether the answer used each note; `next` goes on as `before`."""
    return answer(
        ledger.list_injections(
            hub.db, now=utc_now(), before=before, session=_clean(session), project=_clean(project), note=note,
            limit=limit,
        )
    )  # fmt: skip


@router.get("/memory/{asked}")
def list_fading(
    hub: Here,
    asked: Annotated[Literal["fading", "stale"], Path()],
    project: str | None = None,
    limit: Annotated[int, Query(ge=1, le=fading.LIMIT_MAX)] = fading.LIMIT,
    after: Annotated[int, Query(ge=0)] = 0,
) -> Response:
    """Notes to ask about, "still wanted?", the most faded first; `count` is of all."""
    return answer(
        fading.list_fading(hub.db, asked, now=utc_now(), project=_clean(project), limit=limit, after=after)
    )


def _clean(text: str | None) -> str | None:
    return storable(text) if text else None
