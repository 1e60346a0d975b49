"""Pictures of the pages: `python -m tests.ui.screenshots [FOLDER [NAME…]]`.

Each page of tests/ui/paths.py on the filled store: light and dark, 1,440 and 360 pixels wide. Without a folder those
that the documents show go into docs/images, as a window shows them.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.ui.paths import FILLED
from tests.ui.scene import browser, own_postgres, serve

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "images"
SIZES = ((1440, 900), (360, 760))
SHOWN = (
    "overview-light-1440", "overview-dark-1440", "overview-light-360", "search-hits-light-1440", "note-light-1440",
    "review-light-1440", "review-dark-1440", "tasks-light-1440", "task-light-1440", "episode-light-1440",
    "injections-light-1440", "health-light-1440", "timeline-light-1440", "costs-light-1440",
)  # fmt: skip


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    only, documents = sys.argv[2:], len(sys.argv) == 1
    folder.mkdir(parents=True, exist_ok=True)
    with own_postgres() as postgres, serve(postgres, "argus_shots", filled=True) as hub, browser() as opened:
        assert hub.filled is not None
        for theme in ("light", "dark"):
            for width, height in SIZES:
                context = opened.new_context(
                    viewport={"width": width, "height": height}, color_scheme=theme, timezone_id="Europe/Vienna"
                )
                page = context.new_page()
                page.goto(hub.entrance())
                for name, path_of in FILLED.items():
                    picture = f"{name}-{theme}-{width}"
                    if (only and name not in only) or (documents and picture not in SHOWN):
                        continue
                    page.goto(f"{hub.url}{path_of(hub.filled)}")
                    page.wait_for_load_state("load")
                    file = folder / f"{picture}.png"
                    page.screenshot(path=str(file), full_page=not documents)
                    sys.stdout.write(f"{file}\n")
                context.close()


if __name__ == "__main__":
    main()
