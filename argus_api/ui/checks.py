"""`/ui/checks/{name}`: the evidence behind a row of the overview."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter, Request
from starlette.responses import Response

from argus_api.hub import Here, utc_now
from argus_api.ui.lists import Listing, one_of
from argus_api.ui.page import render
from argus_api.ui.security import SignedIn
from argus_memory.errors import NotFound
from argus_memory.upkeep.pages import checks
from argus_memory.upkeep.pages.overview import find_row

router = APIRouter()
SAMPLES: Final = Listing(checks.SAMPLE_SORTS)
PASSES: Final = Listing(checks.PASS_SORTS, ("outcome",))
# Where the rows behind a check stand: pages of ours, linked once they are there, and tables for psql.
DETAILS: Final = {
    "capture": (("/ui/search", "Search turns"),),
    "segment": (("/ui/episodes", "Episodes"),),
    "distill": (("/ui/episodes", "Episodes"), ("/ui/parked", "Parked"), ("/ui/costs", "Model calls")),
    "dedup": (("/ui/review", "Review"),),
    "recall": (("/ui/injections", "Recall ledger"),),
    "outbox": (("/ui/deliveries", "Deliveries"),),
    "tasks": (("/ui/tasks", "Tasks"),),
}
TABLES: Final = {
    "capture": "raw_items, capture_outcomes, hook_heartbeats", "segment": "episodes, segment_checks",
    "distill": "distill_state, gate_rejections, distill_failures", "embed": "embed_queue, turn_vectors, note_vectors",
    "dedup": "dedup_log", "recall": "injections", "watchdog": "watcher_beats, watcher_gaps",
    "dagster-watchdog": "watcher_beats, watcher_gaps", "canary": "canary_runs",
    "hooks": "hook_heartbeats, session_marks",
    "outbox": "deliveries, delivery_attempts", "tasks": "task_runs, expected_runs", "backups": "backups",
}  # fmt: skip
ASSETS: Final = {
    "segment": "episodes", "distill": "distilled_notes", "embed": "note_embeddings", "dedup": "dedup_log"
}  # fmt: skip


@router.get("/ui/checks/{name}")
def show(request: Request, hub: Here, session: SignedIn, name: str) -> Response:
    """The state now, what it was, and of a stage its passes. Raises NotFound."""
    from argus_api.ui.pages import has_page

    row = find_row(hub.db, hub.settings, name, now=utc_now())
    if row is None:
        raise NotFound(f"there is no check {name[:60]!r}")
    passes = checks.has_passes(name)
    view = (PASSES if passes else SAMPLES).read(request)
    if passes:
        outcome = one_of(view, "outcome", checks.OUTCOMES)
        page = checks.find_passes(hub.db, name, outcome=outcome, wanted=view.wanted)
    else:
        page = checks.find_samples(hub.db, name, wanted=view.wanted)
    return render(
        request,
        "check.html",
        row=row,
        view=view,
        page=page,
        passes=passes,
        details=[(path, label) for path, label in DETAILS.get(name, ()) if has_page(path)],
        tables=TABLES.get(name, ""),
        dagster_asset=ASSETS.get(name, ""),
    )
