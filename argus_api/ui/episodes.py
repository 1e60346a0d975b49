"""`/ui/episodes`: how conversations were cut and what was made of each; `/ui/episodes/{id}`: one, with evidence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from fastapi import APIRouter, Request
from markupsafe import Markup
from psycopg.rows import DictRow
from starlette.responses import Response

from argus_api.hub import Here
from argus_api.note_routes import RowId
from argus_api.ui import plots
from argus_api.ui.lists import Listing, one_of, options
from argus_api.ui.page import render
from argus_api.ui.security import SignedIn
from argus_memory.upkeep.pages import episodes

router = APIRouter()
LIST: Final = Listing(episodes.SORTS, ("project", "session", "state"))


@router.get("/ui/episodes")
def show_list(request: Request, hub: Here, session: SignedIn) -> Response:
    view = LIST.read(request)
    filters = {
        "project": view["project"], "session": view["session"], "state": one_of(view, "state", episodes.STATES),
    }  # fmt: skip
    page = episodes.find_episodes(hub.db, filters, wanted=view.wanted)
    return render(request, "episodes.html", view=view, page=page, states=options(episodes.STATES))


@router.get("/ui/episodes/{id}")
def show_one(request: Request, hub: Here, session: SignedIn, id: RowId) -> Response:  # noqa: A002
    page = episodes.find_episode(hub.db, id)
    return render(request, "episode.html", page=page, plot=_plot(page.checks))


def _plot(checks: Sequence[DictRow]) -> Markup | None:
    """Scores of the topic checks against their threshold; None where no check has a score."""
    scored = [check for check in checks if check["score"] is not None]
    if not scored:
        return None
    points = [
        plots.Point(
            number, check["score"],
            f"{check['reason']} before item {check['before_raw_id']}: {check['score']:.3f}"
            f" against {check['threshold'] or 0:.3f}, {'cut' if check['fired'] else 'went on'}",
            "failed" if check["fired"] else "ok",
        )
        for number, check in enumerate(scored)
    ]  # fmt: skip
    thresholds = sorted({round(check["threshold"], 3) for check in scored if check["threshold"] is not None})
    marks = [plots.Mark(each, f"threshold {each:.3f}") for each in thresholds[:5]]
    return plots.line(points, "Boundary checks", marks=marks, joined=False)
