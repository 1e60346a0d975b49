"""`/ui/parked`: what was tried too often; try it again, or give it up."""

from __future__ import annotations

from typing import Final, Literal

from fastapi import APIRouter, Request
from starlette.responses import Response

from argus_api.hub import Here, utc_now
from argus_api.note_routes import RowId
from argus_api.ui.changes import ACTOR, change
from argus_api.ui.lists import Listing, one_of, options
from argus_api.ui.page import render
from argus_api.ui.security import Sent, SignedIn
from argus_memory.errors import NotFound
from argus_memory.stages.distill import drop_parked, retry_parked
from argus_memory.stages.embed import retry_embedding
from argus_memory.upkeep.pages import parked

router = APIRouter()
LIST: Final = Listing(parked.SORTS, ("kind",))
TARGETS: Final = ("note", "turn")
UNITS: Final[dict[str, Literal["episode", "item"]]] = {"episode": "episode", "item": "item"}


@router.get("/ui/parked")
def show(request: Request, hub: Here, session: SignedIn) -> Response:
    view = LIST.read(request)
    page = parked.find_parked(hub.db, one_of(view, "kind", parked.KINDS), wanted=view.wanted)
    return render(request, "parked.html", view=view, page=page, kinds=options(parked.KINDS))


@router.post("/ui/parked/{kind}/{id}/{verb}")
def decide(request: Request, hub: Here, form: Sent, kind: str, id: RowId, verb: str) -> Response:  # noqa: A002
    unit = UNITS.get(kind)
    if verb not in ("retry", "drop") or (unit is None and (kind not in TARGETS or verb == "drop")):
        raise NotFound(f"nothing parked can be told to {verb[:40]!r}")

    def act() -> str:
        if unit is None:
            retry_embedding(hub.db, kind, id)
        elif verb == "retry":
            retry_parked(hub.db, (unit, id))
        else:
            drop_parked(hub.db, (unit, id), ACTOR, now=utc_now())
            return f"Given up: {kind} {id} stays on record, and nothing is distilled of it."
        return f"Waiting again: {kind} {id} has five more tries."

    return change(request, "/ui/parked", act)
