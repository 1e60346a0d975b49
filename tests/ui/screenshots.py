"""Pictures of the pages for docs/images: `python -m tests.ui.screenshots [FOLDER]`, by default docs/images.

Each page of tests/ui/paths.py on the filled store: light and dark, 1,440 and 360 pixels wide.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.ui.paths import filled_paths
from tests.ui.scene import browser, own_postgres, serve, slug

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "images"
SIZES = ((1440, 900), (360, 760))


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    only = sys.argv[2:]
    folder.mkdir(parents=True, exist_ok=True)
    with own_postgres() as postgres, serve(postgres, "argus_shots", filled=True) as hub, browser() as opened:
        for theme in ("light", "dark"):
            for width, height in SIZES:
                context = opened.new_context(
                    viewport={"width": width, "height": height}, color_scheme=theme, timezone_id="Europe/Vienna"
                )
                page = context.new_page()
                page.goto(hub.entrance())
                for name, path in filled_paths(hub).items():
                    if only and name not in only:
                        continue
                    page.goto(f"{hub.url}{path}")
                    page.wait_for_load_state("networkidle")
                    file = folder / f"{name}-{theme}-{width}.png"
                    page.screenshot(path=str(file), full_page=True)
                    print(file)
                context.close()


if __name__ == "__main__":
    main()
