"""`/ui/deliveries`: the outbox: what was sent where, what waits and why; a message that waits can be sent at once."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter, Request
from starlette.responses import Response

from argus_api.hub import Here, utc_now
from argus_api.note_routes import RowId
from argus_api.ui.changes import change
from argus_api.ui.lists import Listing, one_of, options
from argus_api.ui.page import render
from argus_api.ui.security import Sent, SignedIn
from argus_memory.upkeep.pages import deliveries
from argus_memory.watch.deliveries import retry_delivery

router = APIRouter()
LIST: Final = Listing(deliveries.SORTS, ("status", "channel", "kind"))


@router.get("/ui/deliveries")
def show_list(request: Request, hub: Here, session: SignedIn) -> Response:
    view = LIST.read(request)
    filters = {
        "status": one_of(view, "status", deliveries.STATUSES),
        "kind": one_of(view, "kind", deliveries.KINDS),
        "channel": view["channel"],
    }
    page = deliveries.read_outbox(hub.db, hub.settings, filters, wanted=view.wanted)
    return render(
        request, "deliveries.html", view=view, page=page, statuses=options(deliveries.STATUSES),
        kinds=options(deliveries.KINDS), channels=options(page.channels),
    )  # fmt: skip


@router.get("/ui/deliveries/{id}")
def show_one(request: Request, hub: Here, session: SignedIn, id: RowId) -> Response:  # noqa: A002
    page = deliveries.find_message(hub.db, hub.settings, id)
    return render(request, "delivery.html", page=page)


@router.post("/ui/deliveries/{id}/retry")
def retry(request: Request, hub: Here, form: Sent, id: RowId) -> Response:  # noqa: A002
    def act() -> str:
        retry_delivery(hub.db, id, now=utc_now())
        return f"Message {id} is sent at the next pass of the sender."

    return change(request, f"/ui/deliveries/{id}", act)
