"""`/ui/costs`: what models and engines were asked for and what it cost; unknown cost stands apart from none."""

from __future__ import annotations

from typing import Final
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Request
from starlette.responses import Response

from argus_api.hub import Here, utc_now
from argus_api.ui.lists import Listing, one_of, options
from argus_api.ui.page import Viewer, render
from argus_api.ui.plots import Column
from argus_api.ui.security import SignedIn
from argus_api.ui.words import money_text
from argus_memory.upkeep.pages import costs

router = APIRouter()
LIST: Final = Listing(costs.SORTS, ("days", "stage", "model", "outcome"))
SPANS: Final = tuple(map(str, costs.SPANS))


@router.get("/ui/costs")
def show(request: Request, hub: Here, session: SignedIn) -> Response:
    view = LIST.read(request)
    now = utc_now()
    span = int(one_of(view, "days", SPANS) or SPANS[1])
    viewer = Viewer(request, hub.settings, now)
    zone = viewer.zone.key if isinstance(viewer.zone, ZoneInfo) else "UTC"
    page = costs.read_costs(hub.db, span, ZoneInfo(zone), zone, now=now)
    filters = {"stage": view["stage"], "model": view["model"], "outcome": one_of(view, "outcome", costs.OUTCOMES)}
    calls = costs.find_calls(hub.db, filters, wanted=view.wanted)
    return render(
        request, "costs.html", view=view, page=page, calls=calls, spans=SPANS, outcomes=options(costs.OUTCOMES),
        budget=hub.settings.llm_calls_per_hour, tokens=hub.settings.llm_tokens_per_hour,
        stages=options(each.name for each in page.stages), models=options(each.name for each in page.models),
        asked=[_column(each, each.calls, "accent") for _, each in page.days],
        spent=[_column(each, each.usd or 0.0, "warn" if each.unknown else "ok") for _, each in page.days],
    )  # fmt: skip


def _column(day: costs.Sum, value: float, tone: str) -> Column:
    """A day's bar; told in full, so that a day whose cost is unknown is not read as free."""
    cost = money_text(day.usd) if day.usd is not None else "no known cost"
    unknown = f", unknown for {day.unknown}" if day.unknown else ""
    told = f"{day.name}: {day.calls} calls, {cost}{unknown}" if day.calls else f"{day.name}: no call"
    return Column(value, told, tone if day.calls else "none")
