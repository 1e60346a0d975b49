"""Hubs and a real browser. `make test-ui` runs these; `make test` leaves this folder out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from argus_cli.embedded_postgres import EmbeddedPostgres
from tests.ui.scene import Hub, browser, serve

AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text("utf-8")
WIDTHS = {360: 760, 1440: 900}
_numbers = count(1)


@dataclass(slots=True)
class Visit:
    """A signed-in window on a hub. `troubles`: console errors, failed scripts, refused by the policy."""

    hub: Hub
    page: Any
    troubles: list[str] = field(default_factory=list)

    def open(self, path: str) -> Any:
        """Go there; the troubles begin anew."""
        self.troubles.clear()
        answer = self.page.goto(f"{self.hub.url}{path}")
        self.page.wait_for_load_state("load")
        return answer

    def serious(self) -> list[str]:
        """What axe-core finds to be serious or worse."""
        self.page.evaluate(AXE)
        found = self.page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        return [
            f"{one['id']}: {one['help']}: {one['nodes'][0]['html'][:160]} {one['nodes'][0].get('failureSummary', '')[:300]}"
            for one in found["violations"]
            if one["impact"] in ("serious", "critical")
        ]

    def is_too_wide(self) -> bool:
        """Whether a reader would have to scroll sideways."""
        return bool(self.page.evaluate("document.documentElement.scrollWidth > window.innerWidth"))

    def flash(self) -> str:
        """The line that tells what happened."""
        return str(self.page.locator(".flash[role=status]").inner_text())


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """The system's Chromium; without one every test here is red with the command that brings it."""
    with browser() as opened:
        yield opened


@pytest.fixture(scope="session")
def filled_hub(postgres: EmbeddedPostgres) -> Iterator[Hub]:
    """A hub with everything in it, for tests that only look."""
    with serve(postgres, "argus_ui_filled", filled=True) as hub:
        yield hub


@pytest.fixture(scope="session")
def empty_hub(postgres: EmbeddedPostgres) -> Iterator[Hub]:
    with serve(postgres, "argus_ui_empty", filled=False) as hub:
        yield hub


@pytest.fixture
def own_hub(postgres: EmbeddedPostgres) -> Iterator[Hub]:
    """A filled hub for one test that changes it."""
    with serve(postgres, f"argus_ui_{next(_numbers)}", filled=True) as hub:
        yield hub


@pytest.fixture(scope="session")
def windows(chromium: Any) -> Iterator[Callable[..., Visit]]:
    """`windows(hub, theme=, width=)`: a signed-in window, opened once for each."""
    opened: dict[tuple[str, str, int, bool], Visit] = {}

    def window(hub: Hub, *, theme: str = "light", width: int = 1440, script: bool = True) -> Visit:
        key = (hub.url, theme, width, script)
        if key not in opened:
            context = chromium.new_context(
                viewport={"width": width, "height": WIDTHS[width]}, color_scheme=theme, java_script_enabled=script,
                timezone_id="Europe/Vienna",
            )  # fmt: skip
            visit = Visit(hub, context.new_page())
            visit.page.on(
                "console", lambda said: visit.troubles.append(said.text) if said.type in ("error", "warning") else None
            )
            visit.page.on("pageerror", lambda error: visit.troubles.append(str(error)))
            visit.page.goto(hub.entrance())
            opened[key] = visit
        return opened[key]

    yield window
    for visit in opened.values():
        visit.page.context.close()


@pytest.fixture
def visit(own_hub: Hub, windows: Callable[..., Visit]) -> Visit:
    """A window on a filled hub of the test's own."""
    return windows(own_hub)
