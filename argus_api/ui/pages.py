"""Every page there is: its place in the navigation and its routes. A new page is one line here.

Only what stands here is linked, so that no link leads nowhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from fastapi import APIRouter, FastAPI
from starlette.routing import Route

from argus_api.ui import (
    checks,
    costs,
    deliveries,
    episodes,
    health,
    injections,
    note,
    overview,
    parked,
    projects,
    raw,
    review,
    search,
    sign_in,
    static,
    tasks,
    timeline,
)
from argus_api.ui.page import error_page
from argus_api.ui.security import signed_out_answer


@dataclass(frozen=True, slots=True)
class Page:
    """`label` None: reached from other pages, not from the navigation."""

    path: str
    label: str | None
    router: APIRouter


@dataclass(frozen=True, slots=True)
class Link:
    path: str
    label: str
    current: bool


# In the order of the navigation.
PAGES: tuple[Page, ...] = (
    Page("/ui", "Overview", overview.router),
    Page("/ui/search", "Search", search.router),
    Page("/ui/raw", None, raw.router),  # before the notes, whose decisions would take its word `redact`
    Page("/ui/notes", None, note.router),
    Page("/ui/tasks", "Tasks", tasks.router),
    Page("/ui/review", "Review", review.router),
    Page("/ui/parked", "Parked", parked.router),
    Page("/ui/episodes", "Episodes", episodes.router),
    Page("/ui/costs", "Costs", costs.router),
    Page("/ui/deliveries", "Deliveries", deliveries.router),
    Page("/ui/projects", "Projects", projects.router),
    Page("/ui/health", "Health", health.router),
    Page("/ui/timeline", "Timeline", timeline.router),
    Page("/ui/injections", "Recalls", injections.router),
    Page("/ui/checks", None, checks.router),
)


def add_pages(app: FastAPI) -> None:
    """The routes of all pages, and errors as pages."""
    app.state.error_page = error_page
    app.state.signed_out_answer = signed_out_answer
    app.include_router(sign_in.router)
    app.include_router(static.router)
    for page in PAGES:
        app.include_router(page.router)


def navigation(here: str) -> tuple[Link, ...]:
    """The links of the navigation; the one of the page at `here` is current."""
    shown = [page for page in PAGES if page.label]
    fits = [page.path for page in shown if here == page.path or here.startswith(f"{page.path}/")]
    current = max(fits, key=len, default="") if here != "/ui" else "/ui"
    if current == "/ui" and here != "/ui":
        current = ""
    return tuple(Link(page.path, page.label or "", page.path == current) for page in shown)


@cache
def _paths() -> frozenset[str]:
    routes = (route for page in PAGES for route in page.router.routes)
    return frozenset(route.path for route in routes if isinstance(route, Route))


def has_page(path: str) -> bool:
    """Whether a page answers there: `/ui/tasks`, or with its parameters' names, `/ui/tasks/{name}`."""
    return path in _paths()
