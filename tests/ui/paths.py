"""The pages that the browser opens: a new page is a line here, and is then tried in both themes and widths."""

from __future__ import annotations

from tests.ui.scene import Hub


def empty_paths() -> dict[str, str]:
    """Pages of an empty store."""
    return {
        "overview": "/ui",
        "search": "/ui/search",
        "search-empty": "/ui/search?q=walrus",
        "check-stage": "/ui/checks/distill",
        "check": "/ui/checks/disk",
    }


def filled_paths(hub: Hub) -> dict[str, str]:
    """Pages of the filled store."""
    assert hub.filled is not None
    return {
        **empty_paths(),
        "search-hits": "/ui/search?q=where+do+the+dumps+go",
        "search-turns": "/ui/search?type=turn&state=any",
        "search-hostile": "/ui/search?q=said&project=lab",
        "note": f"/ui/notes/{hub.filled.note('Dumps are kept for 14')}",
        "note-source": f"/ui/notes/{hub.filled.note('Tomatoes')}",
        "note-replaced": f"/ui/notes/{hub.filled.note('Dumps are kept for 30')}",
        "note-hostile": f"/ui/notes/{hub.filled.hostile_notes[1]}",
        "raw": f"/ui/raw/{hub.filled.turns['backup'][1]}",
        "raw-long": f"/ui/raw/{hub.filled.turns['hostile'][-1]}",
        "redact": f"/ui/notes/{hub.filled.note('Nightly')}/redact",
        "error": "/ui/notes/99999",
    }
