"""`/ui/review`: what waits for a person, with both texts and the reasoning; and merges that can be taken back."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter, Request
from starlette.responses import Response

from argus_api.hub import Here, utc_now
from argus_api.note_routes import RowId
from argus_api.ui.changes import ACTOR, change, sentence
from argus_api.ui.differences import differences
from argus_api.ui.lists import Listing, one_of, options
from argus_api.ui.page import back, render
from argus_api.ui.security import Sent, SignedIn
from argus_memory.errors import Conflict, UsageError
from argus_memory.upkeep.held import preview_redaction
from argus_memory.upkeep.pages import review
from argus_memory.upkeep.review_queue import mark_looked
from argus_memory.upkeep.review_settle import KINDS, settle

router = APIRouter()
WAITING: Final = Listing(review.WAITING_SORTS, ("kind", "project"), review.ROWS)
SETTLED: Final = Listing(review.SETTLED_SORTS, ("status", "project"), review.ROWS)


@router.get("/ui/review")
def show_waiting(request: Request, hub: Here, session: SignedIn) -> Response:
    view = WAITING.read(request)
    filters = {"kind": one_of(view, "kind", KINDS), "project": view["project"]}
    page = review.find_reviews(hub.db, filters, settled=False, wanted=view.wanted)
    return render(
        request, "review.html", view=view, page=page, kinds=options(KINDS), differences=differences, settled=False
    )


@router.get("/ui/review/settled")
def show_settled(request: Request, hub: Here, session: SignedIn) -> Response:
    view = SETTLED.read(request)
    filters = {"status": one_of(view, "status", review.SETTLED), "project": view["project"]}
    page = review.find_reviews(hub.db, filters, settled=True, wanted=view.wanted)
    return render(
        request, "review.html", view=view, page=page, statuses=options(review.SETTLED), differences=differences,
        settled=True,
    )  # fmt: skip


@router.post("/ui/review/looked")
def looked(request: Request, hub: Here, form: Sent) -> Response:
    mark_looked(hub.db, now=utc_now())
    return back(request, "/ui/review", "Seen: what comes from now on counts as new.")


@router.post("/ui/review/decisions/{id}/preview")
def preview(request: Request, hub: Here, form: Sent, id: RowId) -> Response:  # noqa: A002
    """What a redaction that an agent asks for would take out; approved from there."""
    try:
        found = preview_redaction(hub.db, id, ACTOR, now=utc_now())
    except (Conflict, UsageError) as error:
        return back(request, "/ui/review", f"{sentence(str(error))}. Nothing was changed.", bad=True)
    return render(request, "review_redaction.html", id=id, preview=found)


@router.post("/ui/review/{kind}/{id}/{verb}")
def decide(request: Request, hub: Here, form: Sent, kind: str, id: RowId, verb: str) -> Response:  # noqa: A002
    def act() -> str:
        return settle(hub.db, hub.settings, kind, id, verb, ACTOR, now=utc_now())

    return change(request, "/ui/review/settled" if form.text("from") == "settled" else "/ui/review", act)
