"""The pages that the browser opens: a new page is a line here, and is then tried in both themes and widths."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from tests.filled_store import Filled

# Pages of a store without anything in it.
EMPTY: Final[Mapping[str, str]] = {
    "overview": "/ui",
    "search": "/ui/search",
    "search-nothing": "/ui/search?q=walrus",
    "check-stage": "/ui/checks/distill",
    "check": "/ui/checks/disk",
    "review": "/ui/review",
    "tasks": "/ui/tasks",
    "todos": "/ui/tasks/todos",
    "parked": "/ui/parked",
    "episodes": "/ui/episodes",
    "review-settled": "/ui/review/settled",
    "deliveries": "/ui/deliveries",
    "costs": "/ui/costs",
    "injections": "/ui/injections",
    "timeline": "/ui/timeline",
    "projects": "/ui/projects",
    "health": "/ui/health",
    "graph": "/ui/health/graph",
    "stale": "/ui/health/stale",
    "diff": "/ui/timeline?subject=vents",
}

# Pages of the filled store.
FILLED: Final[Mapping[str, Callable[[Filled], str]]] = {
    "overview": lambda _: "/ui",
    "search": lambda _: "/ui/search",
    "search-hits": lambda _: "/ui/search?q=where+do+the+dumps+go",
    "search-turns": lambda _: "/ui/search?type=turn&state=any",
    "search-hostile": lambda _: "/ui/search?project=lab&state=any",
    "search-past-end": lambda _: "/ui/search?after=2001-01-01T00:00:00Z~1",
    "note": lambda filled: f"/ui/notes/{filled.note('Tomatoes')}",
    "note-corrected": lambda filled: f"/ui/notes/{filled.note('Dumps are kept for 14')}",
    "note-replaced": lambda filled: f"/ui/notes/{filled.note('Dumps are kept for 30')}",
    "note-hostile": lambda filled: f"/ui/notes/{filled.hostile_notes[1]}",
    "note-long-word": lambda filled: f"/ui/notes/{filled.hostile_notes[4]}",
    "raw": lambda filled: f"/ui/raw/{filled.turns['backup'][1]}",
    "raw-long": lambda filled: f"/ui/raw/{filled.turns['hostile'][-1]}",
    "redact": lambda filled: f"/ui/notes/{filled.note('Nightly')}/redact",
    "check-stage": lambda _: "/ui/checks/embed",
    "check": lambda _: "/ui/checks/tasks",
    "tasks": lambda _: "/ui/tasks",
    "task": lambda _: "/ui/tasks/weather-note",
    "task-run": lambda _: "/ui/tasks/weather-note/runs/43",
    "todos": lambda _: "/ui/tasks/todos",
    "parked": lambda _: "/ui/parked",
    "episodes": lambda _: "/ui/episodes",
    "episode": lambda _: "/ui/episodes/1",
    "episode-hostile": lambda _: "/ui/episodes/5",
    "review": lambda _: "/ui/review",
    "review-settled": lambda _: "/ui/review/settled",
    "deliveries": lambda _: "/ui/deliveries",
    "delivery": lambda _: "/ui/deliveries/1",
    "costs": lambda _: "/ui/costs",
    "costs-year": lambda _: "/ui/costs?days=365&stage=distill&sort=dearest",
    "injections": lambda _: "/ui/injections",
    "injections-floor": lambda _: "/ui/injections?floor=0.02&outcome=used",
    "injection": lambda _: "/ui/injections/3",
    "health": lambda _: "/ui/health",
    "graph": lambda _: "/ui/health/graph",
    "projects": lambda _: "/ui/projects",
    "project": lambda _: "/ui/projects/garden",
    "timeline": lambda _: "/ui/timeline",
    "diff": lambda _: "/ui/timeline?subject=dumps+kept&since=3d",
    "error": lambda _: "/ui/notes/99999",
}
