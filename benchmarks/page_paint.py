"""First paint and bytes of pages in a real browser: the part of benchmarks/pages.py that needs Chromium.

Each page is opened with an empty cache: what comes over the wire counts with style sheet and scripts, gzipped as the hub
sends them. First contentful paint is the browser's own figure, from the start of the navigation.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from argus_memory.settings import Settings
from argus_memory.upkeep.entry import make_code
from tests.ui.scene import browser, listening

ROUNDS = 5
PAINT = """() => new Promise(done => {
  const tell = () => performance.getEntriesByName('first-contentful-paint').forEach(entry => done(entry.startTime));
  tell();
  new PerformanceObserver(tell).observe({type: 'paint', buffered: true});
})"""
BYTES = (
    "() => performance.getEntriesByType('resource').concat(performance.getEntriesByType('navigation'))"
    ".reduce((sum, e) => sum + e.transferSize, 0)"
)


def measure_paint(app: Any, settings: Settings, paths: Mapping[str, str]) -> None:
    """Prints a line a page: median and largest first paint of ROUNDS, and bytes transferred."""
    with listening(app) as url, browser() as opened:
        context = opened.new_context()
        context.new_page().goto(f"{url}/ui/enter?code={make_code(settings.home, now=datetime.now(UTC))}")
        signed_in = context.storage_state()
        context.close()
        print(f"\n{'page':<20}{'paint p50':>10}{'most ms':>9}{'bytes':>9}")
        for name, path in paths.items():
            paints, size = [], 0
            for _ in range(ROUNDS):
                context = opened.new_context(viewport={"width": 1440, "height": 900}, storage_state=signed_in)
                page = context.new_page()
                page.goto(f"{url}{path}", wait_until="load")
                paints.append(page.evaluate(PAINT))
                size = page.evaluate(BYTES)
                context.close()
            print(f"{name:<20}{statistics.median(paints):>10.0f}{max(paints):>9.0f}{size:>9,.0f}")
