"""`/ui/raw/{id}`: a captured item as it came; and redaction, of an item or of the one a note quotes.

Redaction has a page of its own: it says what it does, shows what it would change, and asks for a reason.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from fastapi import APIRouter, Request
from starlette.responses import Response

from argus_api.hub import Here, Hub, utc_now
from argus_api.note_routes import RowId
from argus_api.ui.changes import ACTOR, sentence
from argus_api.ui.note import reason_of
from argus_api.ui.page import back, render
from argus_api.ui.security import Form, Sent, SignedIn
from argus_api.ui.words import count_text
from argus_memory.errors import NotFound, UsageError
from argus_memory.rules.storable import storable
from argus_memory.upkeep.pages import note
from argus_memory.upkeep.redacting import RedactReceipt, redact

router = APIRouter()
Whose = Literal["notes", "raw"]
AGREED: Final = "agreed"


@router.get("/ui/raw/{id}")
def show(request: Request, hub: Here, session: SignedIn, id: RowId, whole: bool = False) -> Response:  # noqa: A002
    """The item with its neighbours; `?whole=true` for all of a long one."""
    page = note.find_raw(hub.db, id, now=utc_now(), whole=whole)
    return render(request, "raw.html", page=page, whole=whole)


@router.get("/ui/{whose}/{id}/redact")
def ask(request: Request, hub: Here, session: SignedIn, whose: Whose, id: RowId) -> Response:  # noqa: A002
    """What redaction does, before anything is done."""
    return _page(request, hub, whose, id, Form())


@router.post("/ui/{whose}/{id}/redact")
def redact_it(request: Request, hub: Here, form: Sent, whose: Whose, id: RowId) -> Response:  # noqa: A002
    """Without `agreed`: what would change, and nothing does. With it: for good."""
    sure = form.text("sure") == AGREED
    try:
        receipt = _redact(hub, whose, id, form, dry_run=not sure)
    except (UsageError, NotFound) as error:
        return _page(request, hub, whose, id, form, problem=sentence(str(error)))
    if not sure:
        return _page(request, hub, whose, id, form, preview=receipt)
    return back(request, f"/ui/{whose}/{id}", redact_words(receipt))


def _redact(hub: Hub, whose: Whose, id_: int, form: Form, *, dry_run: bool) -> RedactReceipt:
    text = storable(form.get("text", ""))
    reason = reason_of(form)
    if reason is None:
        raise UsageError("a reason is needed: it is kept in place of the words")
    named: dict[str, Any] = {"note_id": id_} if whose == "notes" else {"raw_id": id_}
    replacement = storable(form.text("replacement")) or None
    return redact(
        hub.db, **named, text=text if text.strip() else None, reason=reason, actor=ACTOR, now=utc_now(),
        replacement=replacement, dry_run=dry_run,
    )  # fmt: skip


def _page(
    request: Request, hub: Hub, whose: Whose, id_: int, form: Form, *, preview: RedactReceipt | None = None,
    problem: str = "",
) -> Response:  # fmt: skip
    now = utc_now()
    raw_id = id_ if whose == "raw" else note.find_note(hub.db, id_, now=now).note["raw_id"]
    page = note.find_raw(hub.db, raw_id, now=now)
    return render(
        request, "redact.html", status=422 if problem else 200, whose=whose, id=id_, page=page, form=form,
        preview=preview, problem=problem, agreed=AGREED,
    )  # fmt: skip


def redact_words(receipt: RedactReceipt) -> str:
    """What was done, and what is out of its reach."""
    if receipt.outcome == "no-op":
        return "Nothing changed: these words had been redacted before."
    raws, notes = count_text(len(receipt.raws), "captured item"), count_text(len(receipt.notes), "note")
    told = [f"Redacted in {raws} and {notes}"]
    if receipt.unswept:
        told.append(f"{count_text(len(receipt.unswept), 'table')} will be rewritten by housekeeping")
    if receipt.dumps:
        told.append(f"{count_text(len(receipt.dumps), 'backup')} made earlier still hold the words")
    if receipt.kept:
        told.append(f"names and keys that hold them stay: {', '.join(receipt.kept)}")
    return "; ".join(told) + "."
