"""A hub whose Dagster cannot load its code: every process lives and nothing would ever run, so it has to be said."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path

from tests.acceptance.hub import new_hub
from tests.helpers import wait_until

# Imported by every interpreter of the hub before anything else.
BREAK = """
import sys

class Broken:
    def find_spec(self, name, path=None, target=None):
        if name == "argus_assets.definitions":
            raise ImportError("no plumbing")

sys.meta_path.insert(0, Broken())
"""


def test_code_that_does_not_load_is_told_everywhere(tmp_path: Path) -> None:
    """`argus up` ends with what is wrong and exit 1, `argus status` has the error and exit 1, /healthz is not ok."""
    (tmp_path / "sitecustomize.py").write_text(BREAK)
    with new_hub({"PYTHONPATH": str(tmp_path)}) as hub:
        done = hub.argus("up", "--detach")
        try:
            hub.look()
            assert done.returncode == 1, done.stdout + done.stderr
            assert "argus does not load (ImportError: no plumbing)" in done.stdout
            assert "is up" not in done.stdout
            code, answer = hub.status()
            assert (code, answer["status"], answer["services"]["webserver"]["status"]) == (1, "degraded", "failed")
            assert "no plumbing" in answer["services"]["webserver"]["detail"]

            def check() -> bool:
                with urllib.request.urlopen(f"http://127.0.0.1:{hub.api_port}/healthz", timeout=10) as response:
                    dagster = json.loads(response.read())["checks"]["dagster"]
                return dagster["status"] == "failed" and "does not load (ImportError)" in dagster["detail"]

            wait_until(check, seconds=20, step=0.5)
        finally:
            assert hub.argus("down").returncode == 0
        wait_until(lambda: not hub.left(), seconds=5)
