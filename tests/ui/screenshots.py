"""Pictures of the pages: `python -m tests.ui.screenshots [FOLDER [NAME…]]`, by default all into docs/images.

Each page of tests/ui/paths.py on the filled store: light and dark, 1,440 and 360 pixels wide.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.ui.paths import FILLED
from tests.ui.scene import browser, own_postgres, serve

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "images"
SIZES = ((1440, 900), (360, 760))


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    only = sys.argv[2:]
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
                    if only and name not in only:
                        continue
                    page.goto(f"{hub.url}{path_of(hub.filled)}")
                    page.wait_for_load_state("load")
                    file = folder / f"{name}-{theme}-{width}.png"
                    page.screenshot(path=str(file), full_page=True)
                    sys.stdout.write(f"{file}\n")
                context.close()


if __name__ == "__main__":
    main()
