"""A person's home and a stand-in server for hooks run as real processes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.stubs.hook_home import HookHome
from tests.stubs.hook_server import HookServer


@pytest.fixture
def server() -> Iterator[HookServer]:
    with HookServer() as running:
        yield running


@pytest.fixture
def home(tmp_path: Path, server: HookServer) -> HookHome:
    return HookHome(tmp_path / "home", server.url)
