"""An API that really answers at ARGUS_API_URL."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest
import uvicorn

from argus_api.app import create_app
from argus_cli.ports import find_free_port
from argus_memory.db import Database
from argus_memory.settings import Settings
from tests.helpers import wait_until


@pytest.fixture
def served(db: Database, settings: Settings) -> Iterator[Settings]:
    """The settings of a running API; `db` comes first, so that the test's pool outlives the application's."""
    port = find_free_port()
    settings = replace(settings, api_port=port, api_url=f"http://127.0.0.1:{port}")
    runner = uvicorn.Server(
        uvicorn.Config(create_app(settings), port=port, log_level="critical", timeout_graceful_shutdown=1)
    )
    thread = threading.Thread(target=runner.run, daemon=True)
    thread.start()
    wait_until(lambda: runner.started, what="the API has started")
    yield settings
    runner.should_exit = True
    thread.join(10)
