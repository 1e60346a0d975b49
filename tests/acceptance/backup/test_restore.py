"""A backup of one home becomes the memory of another, by the two commands alone."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from tests.acceptance.hub import Hub, new_hub


def remember(hub: Hub, text: str) -> None:
    """A captured turn, as an import brings it."""
    line = {
        "type": "user", "uuid": f"u-{text}", "sessionId": "s1", "timestamp": "2026-11-30T10:00:00.000Z",
        "cwd": "/home/kim/garden", "message": {"role": "user", "content": text},
    }  # fmt: skip
    path = hub.home.parent / "s1.jsonl"
    path.write_text(json.dumps(line) + "\n")
    done = hub.argus("import", str(path), "--source", "claude-code")
    assert done.returncode == 0, done.stderr


def found(hub: Hub, query: str) -> list[str]:
    done = hub.argus("search", query, "--json")
    return [hit["text"] for hit in json.loads(done.stdout)["results"]]


def test_a_backup_brings_a_memory_to_another_home_and_keeps_what_was_there() -> None:
    """What was captured is found after the restore; the memory that was there stays as a database beside."""
    with new_hub() as first, new_hub() as second:
        remember(first, "The pump in the greenhouse is a Brookfield 40.")
        made = first.argus("backup", "--json")
        assert made.returncode == 0, made.stderr
        backup = json.loads(made.stdout)
        assert backup["outcome"] == "proven"
        moved = Path(shutil.copy(backup["path"], second.home.parent))
        shutil.copy(Path(backup["path"]).with_suffix(".json"), second.home.parent)

        remember(second, "The kitchen has two windows.")
        done = second.argus("restore", str(moved), "--json")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["before"].startswith("argus_before_")
        assert any("Brookfield" in text for text in found(second, "pump greenhouse"))
        assert not any("windows" in text for text in found(second, "kitchen windows"))

        moved.write_bytes(b"damaged")
        refused = second.argus("restore", str(moved))
        assert refused.returncode == 2
        assert "damaged" in refused.stderr
