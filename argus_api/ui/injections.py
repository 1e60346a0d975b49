"""`/ui/injections`: the ledger of what was handed back to sessions, and what another floor would have done."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter, Request
from starlette.responses import Response

from argus_api.hub import Here, utc_now
from argus_api.note_routes import RowId
from argus_api.ui import plots
from argus_api.ui.lists import Listing, View, one_of
from argus_api.ui.page import render
from argus_api.ui.security import SignedIn
from argus_memory.errors import UsageError
from argus_memory.upkeep.pages import injections

router = APIRouter()
LIST: Final = Listing(injections.SORTS, ("session", "project", "kind", "outcome", "note", "floor", "last"))
KINDS: Final = (("prompt", "for a prompt"), ("context", "as a session began"))
OUTCOMES: Final = (
    ("shown", "something was shown"), ("used", "the answer used it"), ("unused", "the answer used none"),
    ("waiting", "not judged"), ("nothing", "nothing on record"), ("gated", "not looked up"),
)  # fmt: skip
# Why a candidate was left out, and why a prompt got nothing, in words.
WHY: Final = {
    "relevance-floor": "below the relevance floor", "evidence-floor": "too little to do with the prompt",
    "already-injected": "the session has it already", "covered-by-note": "a note shown says it",
    "beyond-limit": "others fitted better", "no-room": "no room in the text",
    "nothing-on-record": "nothing on record", "system-turn": "a turn of the program's own",
    "substance": "too few words to look for",
}  # fmt: skip


@router.get("/ui/injections")
def show(request: Request, hub: Here, session: SignedIn) -> Response:
    """Rows by their filters; above them the scores of the last prompt recalls."""
    view = LIST.read(request)
    filters = injections.Filters(
        session=view["session"],
        project=view["project"],
        mode=one_of(view, "kind", tuple(injections.MODES)),
        outcome=one_of(view, "outcome", tuple(injections.OUTCOMES)),
        note=_note_of(view),
    )
    page = injections.find_ledger(
        hub.db, filters, wanted=view.wanted, floor_now=hub.settings.recall_floor, floor=_floor_of(view),
        last=_last_of(view),
    )  # fmt: skip
    projects = list(page.projects)
    if filters.project and filters.project not in projects:
        projects.append(filters.project)
    return render(
        request,
        "injections.html",
        view=view,
        page=page,
        histogram=histogram(page),
        projects=[(name, name) for name in projects],
        kinds=KINDS,
        outcomes=OUTCOMES,
        why=WHY,
        lasts=[(str(number), f"{number:,}") for number in injections.LAST],
        filtered=any(view[name] for name in ("session", "project", "kind", "outcome", "note")),
    )


@router.get("/ui/injections/{id}")
def show_one(request: Request, hub: Here, session: SignedIn, id: RowId) -> Response:  # noqa: A002
    """What one recall chose from, what it showed, and what the answer used."""
    recall = injections.find_recall(hub.db, id, now=utc_now())
    points = [
        plots.Point(
            number,
            one.rrf_score,
            f"{one.type} {one.id}: {one.rrf_score:.4f}, {WHY.get(one.why, one.why) or 'shown'}",
            "ok" if one.shown else "unknown",
        )
        for number, one in enumerate(recall.candidates)
        if one.rrf_score is not None
    ]
    floor = recall.row["floor"]
    marks = [] if floor is None else [plots.Mark(floor, f"relevance floor {floor:.4f}")]
    return render(request, "injection.html", recall=recall, row=recall.row, points=points, marks=marks, why=WHY)


def histogram(page: injections.Ledger) -> list[tuple[str, list[plots.Column], list[plots.Mark]]]:
    """Two plots over the same axis: what was kept, what was dropped; the floors stand in both."""
    marks = [plots.Mark(page.floors.now, f"relevance floor {page.floors.now:.4f}")]
    if page.floors.tried != page.floors.now:
        marks.append(plots.Mark(page.floors.tried, f"tried floor {page.floors.tried:.4f}"))
    shown = []
    for name, tone in (("kept", "ok"), ("dropped", "unknown")):
        bars = [
            plots.Column(
                getattr(one, name),
                f"{one.low:.3f} to {one.low + injections.WIDTH:.3f}: {getattr(one, name):,} {name}",
                tone if getattr(one, name) else "none",
            )
            for one in page.buckets
        ]
        shown.append((name, bars, marks))
    return shown


def _floor_of(view: View) -> float | None:
    text = view["floor"]
    if text is None:
        return None
    try:
        floor = float(text.replace(",", "."))
    except ValueError:
        floor = -1.0
    if not 0 <= floor <= 1:
        raise UsageError(f"floor: {text[:40]!r} is no number from 0 to 1; ARGUS_RECALL_FLOOR is one, as 0.015")
    return floor


def _last_of(view: View) -> int:
    chosen = one_of(view, "last", tuple(str(number) for number in injections.LAST))
    return int(chosen) if chosen else injections.LAST[1]


def _note_of(view: View) -> int | None:
    text = view["note"]
    if text is None:
        return None
    if not text.isascii() or not text.isdigit() or int(text) >= 2**63:
        raise UsageError(f"note: {text[:40]!r} is no number of a note")
    return int(text)
