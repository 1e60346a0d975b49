"""`/ui/notes/{id}`: a note with its grounds and its history, and what a person may do with it."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter, Request
from starlette.responses import Response

from argus_api.hub import Here, utc_now
from argus_api.note_routes import RowId
from argus_api.ui.changes import ACTOR, change, receipt_words
from argus_api.ui.page import render
from argus_api.ui.security import Sent, SignedIn
from argus_memory.errors import NotFound, UsageError
from argus_memory.rules.storable import storable
from argus_memory.upkeep.decisions import Verb, decide
from argus_memory.upkeep.pages import note
from argus_memory.upkeep.receiving import correct
from argus_memory.upkeep.writing import Writer

router = APIRouter()
REASON_MAX: Final = 500  # characters
DONE: Final[dict[str, tuple[Verb, str]]] = {
    "pin": ("pin", "Pinned"),
    "unpin": ("unpin", "No longer pinned"),
    "exclude": ("exclude", "Excluded: no recall shows it"),
    "include": ("include", "Included again"),
    "forget": ("forget", "Forgotten: it does not come back by itself; Restore brings it back"),
    "restore": ("restore", "Restored"),
    "reconfirm": ("confirm", "Confirmed: it still holds"),
}


@router.get("/ui/notes/{id}")
def show(request: Request, hub: Here, session: SignedIn, id: RowId) -> Response:  # noqa: A002
    return render(request, "note.html", page=note.find_note(hub.db, id, now=utc_now()))


@router.post("/ui/notes/{id}/correct")
def correct_note(request: Request, hub: Here, form: Sent, id: RowId) -> Response:  # noqa: A002
    """The new words in place of the note's; on to the new note."""
    goal = f"/ui/notes/{id}"

    def act() -> str:
        nonlocal goal
        text = storable(form.need("text", "the corrected text"))
        writer = Writer(ACTOR, source="ui")
        receipt = correct(hub.db, hub.settings, id, text, writer, now=utc_now(), reason=reason_of(form))
        if receipt.outcome == "changed" and receipt.note_id is not None:
            goal = f"/ui/notes/{receipt.note_id}"
        return receipt_words(receipt, f"Corrected: this note stands in the place of note {id}")

    reply = change(request, goal, act)
    reply.headers["location"] = goal
    return reply


@router.post("/ui/notes/{id}/{verb}")
def decide_note(request: Request, hub: Here, form: Sent, id: RowId, verb: str) -> Response:  # noqa: A002
    if verb not in DONE:
        raise NotFound(f"a note cannot be told to {verb[:40]}")
    decision, done = DONE[verb]

    def act() -> str:
        receipt = decide(hub.db, decision, id, ACTOR, now=utc_now(), reason=reason_of(form))
        return receipt_words(receipt, done)

    return change(request, f"/ui/notes/{id}", act)


def reason_of(form: Sent) -> str | None:
    """Raises UsageError for one that is too long."""
    text = storable(form.text("reason"))
    if len(text) > REASON_MAX:
        raise UsageError(f"the reason has {len(text):,} characters, at most {REASON_MAX} are taken")
    return text or None
