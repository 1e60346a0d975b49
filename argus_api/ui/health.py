"""`/ui/health`: how the memory as a whole is, what to look at in it, and the graph of its notes."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter, Request
from starlette.responses import Response

from argus_api.hub import Here, utc_now
from argus_api.ui import plots
from argus_api.ui.graph_plot import draw
from argus_api.ui.lists import Listing, View
from argus_api.ui.page import render
from argus_api.ui.security import SignedIn
from argus_memory.errors import NotFound, UsageError
from argus_memory.rules.memory_health import RULES
from argus_memory.upkeep.fading import list_fading
from argus_memory.upkeep.memory_graph import DEPTH_MAX, read_graph
from argus_memory.upkeep.memory_health import list_history, read_memory_health
from argus_memory.upkeep.pages import timeline

router = APIRouter()
REPORT: Final = Listing(timeline.SORTS, ("project",))
GRAPH: Final = Listing(timeline.SORTS, ("project", "note", "depth"))
GRAPH_NOTES: Final = 40
FADING_ROWS: Final = 50
PAIRS: Final = ("near-duplicates", "contradictions")
FADING: Final = ("stale", "fading")
# Parts whose notes one may go on holding to, with a click.
HOLDABLE: Final = (*FADING, "low-confidence", "orphans")


@router.get("/ui/health")
def show(request: Request, hub: Here, session: SignedIn) -> Response:
    """The score with its parts and, of each, the notes it is about."""
    from argus_api.ui.pages import has_page

    view = REPORT.read(request)
    report = read_memory_health(hub.db, now=utc_now(), project=view["project"])
    history = [row for row in reversed(list_history(hub.db)) if row["score"] is not None]
    points = [
        plots.Point(row["at"].timestamp(), row["score"], f"{row['at']:%Y-%m-%d}: {row['score']:.0f}")
        for row in history
    ]
    weeks = [
        plots.Column(
            week["used"] / week["judged"], f"week of {week['week']}: {week['used']} of {week['judged']} used"
        )
        for week in reversed(report.weeks)
        if week["judged"]
    ]
    return render(
        request, "health.html", view=view, report=report, points=points, weeks=weeks, pairs=PAIRS, holdable=HOLDABLE,
        fading=FADING, reviewing=has_page("/ui/review"),
        projects=_choices(timeline.find_projects(hub.db), view["project"]),
    )  # fmt: skip


@router.get("/ui/health/graph")
def show_graph(request: Request, hub: Here, session: SignedIn) -> Response:
    """The most important notes of a project, or what is around one note, and what links them."""
    view = GRAPH.read(request)
    note_id, depth = _number(view, "note", None), _number(view, "depth", 1)
    graph = read_graph(
        hub.db, now=utc_now(), project=view["project"], note_id=note_id, depth=depth or 0, limit=GRAPH_NOTES
    )
    heading = f"Around note {note_id}" if note_id is not None else view["project"] or "All projects"
    return render(
        request, "graph.html", view=view, graph=graph, heading=heading, picture=draw(graph, heading),
        labels={node.id: node.label for node in graph.nodes}, note_id=note_id, depth=depth, depth_max=DEPTH_MAX,
        projects=_choices(timeline.find_projects(hub.db), view["project"]),
    )  # fmt: skip


@router.get("/ui/health/{part}")
def show_part(request: Request, hub: Here, session: SignedIn, part: str, passed: int = 0) -> Response:
    """All notes that are stale or fading, the most faded first; `passed`: so many were on the pages before."""
    rule = next((rule for rule in RULES if rule.name == part), None)
    if rule is None or part not in FADING:
        raise NotFound(f"there is no list of {part[:40]!r} notes; stale and fading are listed")
    view = REPORT.read(request)
    if not 0 <= passed < 2**31:
        raise UsageError(f"passed: {passed} is no place in this list; begin at its first page")
    found = list_fading(
        hub.db, "stale" if part == "stale" else "fading", now=utc_now(), project=view["project"], limit=FADING_ROWS,
        after=passed,
    )  # fmt: skip
    return render(
        request, "fading.html", view=view, rule=rule, found=found, passed=passed, rows=FADING_ROWS, fading=FADING,
        projects=_choices(timeline.find_projects(hub.db), view["project"]),
    )  # fmt: skip


def _number(view: View, name: str, default: int | None) -> int | None:
    text = view[name]
    if text is None:
        return default
    if not text.isascii() or not text.isdigit() or int(text) >= 2**63:
        raise UsageError(f"{name}: {text[:40]!r} is no whole number")
    return int(text)


def _choices(projects: tuple[str, ...], asked: str | None) -> list[tuple[str, str]]:
    names = [*projects, *([asked] if asked and asked not in projects else [])]
    return [(name, name) for name in names]
