"""`/ui/timeline`: what happened to notes; and, of a subject, what changed between two moments."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from fastapi import APIRouter, Request
from starlette.responses import Response

from argus_api.hub import Here, utc_now
from argus_api.ui import plots
from argus_api.ui.lists import Listing, View, one_of
from argus_api.ui.page import Viewer, render
from argus_api.ui.security import SignedIn
from argus_memory.rules.event_words import detail_words
from argus_memory.rules.moments import parse_moment
from argus_memory.upkeep import history
from argus_memory.upkeep.pages import timeline

router = APIRouter()
LIST: Final = Listing(timeline.SORTS, ("subject", "project", "event", "actor", "since", "until"))
SUBJECT_SINCE: Final = "30d"  # where a subject is asked for without a beginning
# Of a diff: field of SubjectDiff, head, tone of its chip.
PARTS: Final = (
    ("added", "New", "ok"), ("changed", "Changed", "accent"), ("removed", "Gone", "failed"),
    ("passed", "Came and went", "warn"), ("corroborated", "Heard again", ""),
)  # fmt: skip
TONES: Final = {
    "created": "ok", "restored": "ok", "included": "ok", "approved": "ok", "auto-approved": "ok", "confirmed": "ok",
    "forgotten": "failed", "redacted": "failed", "removed": "failed", "rejected": "failed", "excluded": "warn",
    "superseded": "warn", "corrected": "warn", "merged": "warn", "redistilled": "warn", "held": "warn",
}  # fmt: skip


@router.get("/ui/timeline")
def show(request: Request, hub: Here, session: SignedIn) -> Response:
    """With `subject`: what was learned, lost and changed about it since a moment; without: events, newest first."""
    now = utc_now()
    view = LIST.read(request)
    if view["subject"]:
        return _show_diff(request, hub, view, now)
    since, until = _window(view, now)
    filters = timeline.Filters(
        since or history.EVER, until, view["project"], one_of(view, "event", timeline.EVENTS), view["actor"]
    )
    viewer = Viewer(request, hub.settings, now)
    page = timeline.find_timeline(hub.db, filters, wanted=view.wanted, zone=viewer.zone, now=now)
    return render(
        request,
        "timeline.html",
        view=view,
        page=page,
        days=[_column(day) for day in page.days],
        projects=_choices(page.projects, view),
        events=[(word, word) for word in timeline.EVENTS],
        tones=TONES,
        detail_words=detail_words,
    )


def _show_diff(request: Request, hub: Here, view: View, now: datetime) -> Response:
    since, until = _window(view, now)
    if since is None:
        since = parse_moment(SUBJECT_SINCE, name="since", now=now)
    found = history.read_diff(hub.db, view["subject"] or "", since=since, until=until, project=view["project"])
    return render(
        request,
        "diff.html",
        view=view,
        found=found,
        parts=[(name, head, tone, getattr(found, name)) for name, head, tone in PARTS],
        projects=_choices(timeline.find_projects(hub.db), view),
        default_since=SUBJECT_SINCE,
    )


def _window(view: View, now: datetime) -> tuple[datetime | None, datetime]:
    """Days and moments as `argus timeline` takes them. Raises UsageError."""
    since, until = view["since"], view["until"]
    return (
        parse_moment(since, name="since", now=now) if since else None,
        parse_moment(until, name="until", now=now, end=True) if until else history.just_after(now),
    )


def _choices(projects: tuple[str, ...], view: View) -> list[tuple[str, str]]:
    asked = view["project"]
    names = [*projects, *([asked] if asked and asked not in projects else [])]
    return [(name, name) for name in names]


def _column(day: timeline.Day) -> plots.Column:
    kinds = ", ".join(f"{number} {kind}" for kind, number in sorted(day.kinds.items(), key=lambda pair: -pair[1]))
    return plots.Column(day.total, f"{day.day:%Y-%m-%d}: {kinds or 'nothing'}", "accent" if day.total else "none")
