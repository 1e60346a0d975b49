"""The pages that the browser opens: a new page is a line here, and is then tried in both themes and widths."""

from __future__ import annotations

from tests.ui.scene import Hub


def empty_paths() -> dict[str, str]:
    """Pages of an empty store."""
    return {
        "overview": "/ui",
        "check-stage": "/ui/checks/distill",
        "check": "/ui/checks/disk",
    }


def filled_paths(hub: Hub) -> dict[str, str]:
    """Pages of the filled store."""
    assert hub.filled is not None
    return {
        **empty_paths(),
    }
