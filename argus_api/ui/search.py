"""`/ui/search`: one box over notes and verbatim turns. Without a question: everything, newest first."""

from __future__ import annotations

from typing import Final, Literal, cast

from fastapi import APIRouter, Request
from starlette.responses import Response

from argus_api.hub import Here, utc_now
from argus_api.ui.lists import Listing, one_of
from argus_api.ui.page import render
from argus_api.ui.security import SignedIn
from argus_api.ui.words import question_words
from argus_memory.records import KINDS
from argus_memory.rules.moments import parse_moment
from argus_memory.stages.search_scope import LIVE, STATES, Scope
from argus_memory.upkeep.pages import search
from argus_memory.upkeep.pages.search import Asked

router = APIRouter()
FILTERS: Final = ("q", "type", "project", "kind", "source", "since", "until", "state", "distant")
RANKED: Final = Listing((search.BEST,), FILTERS)
NOTES: Final = Listing(search.NOTE_SORTS, FILTERS)
RAW: Final = Listing(search.RAW_SORTS, FILTERS)
SOURCES: Final = ("claude-code", "codex", "telegram", "mcp", "cli", "api", "task", "bookmark", "feed")
STATE_LABELS: Final = {
    "live": "live", "pinned": "pinned", "excluded": "excluded", "ended": "no longer valid", "replaced": "replaced",
    "forgotten": "forgotten", "redacted": "redacted", "any": "any",
}  # fmt: skip
TRACKS: Final = {"lexical": "by words", "semantic": "by meaning"}


@router.get("/ui/search")
def show(request: Request, hub: Here, session: SignedIn) -> Response:
    """Hits of `q`, best first, or the newest; filters stand in the address."""
    now = utc_now()
    asks = request.query_params
    listing = RANKED if asks.get("q", "").strip() else RAW if asks.get("type") == "turn" else NOTES
    view = listing.read(request)
    types = one_of(view, "type", ("all", "note", "turn")) or "all"
    since, until = view["since"], view["until"]
    scope = Scope(
        source=view["source"],
        kind=one_of(view, "kind", KINDS),
        since=parse_moment(since, name="since", now=now) if since else None,
        until=parse_moment(until, name="until", now=now, end=True) if until else None,
        state=one_of(view, "state", tuple(STATES)) or LIVE,
    )
    asked = Asked(
        view["q"] or "",
        cast(Literal["all", "note", "turn"], types),
        view["project"],
        scope,
        distant=one_of(view, "distant", ("yes",)) is not None,
    )
    page = search.find_page(hub.db, hub.settings, hub.embedder, asked, wanted=view.wanted, now=now)
    projects = list(page.projects)
    if asked.project and asked.project not in projects:
        projects.append(asked.project)
    return render(
        request,
        "search.html",
        view=view,
        page=page,
        asked=asked,
        projects=[(name, name) for name in projects],
        kinds=[(kind, kind) for kind in KINDS],
        states=list(STATE_LABELS.items()),
        sources=SOURCES,
        tracks=TRACKS,
        marks=question_words(asked.q),
        orders=[(sort.name, sort.label) for sort in view.sorts],
    )
