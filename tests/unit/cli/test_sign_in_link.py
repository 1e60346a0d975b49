"""What `argus up` prints for a person."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from argus_cli.up_command import sign_in_link
from argus_memory.settings import load_settings
from argus_memory.upkeep.entry import use_code


def test_the_link_opens_the_pages_once(tmp_path: Path) -> None:
    """On the API's own address, with a code that this home knows; a home that takes no file has none."""
    settings = load_settings({"ARGUS_HOME": str(tmp_path), "ARGUS_API_PORT": "8490"})
    link = sign_in_link(settings)
    assert link is not None
    address, _, code = link.partition("?code=")
    assert address == "http://127.0.0.1:8490/ui/enter"
    assert use_code(tmp_path, code, now=datetime.now(UTC))
    assert sign_in_link(replace(settings, home=tmp_path / "none")) is None
