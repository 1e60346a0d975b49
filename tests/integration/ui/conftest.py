"""Pages asked for in this process: signed in, signed out, on an empty and on a filled store."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from argus_api.app import create_app
from argus_memory.db import Database
from argus_memory.settings import Settings
from tests.filled_store import Filled, fill
from tests.ui_client import BASE, Browser


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """With tasks of the test's own."""
    from dataclasses import replace

    return replace(settings, tasks=settings.home / "tasks")


@pytest.fixture
def app(db: Database, settings: Settings) -> Iterator[FastAPI]:
    """The application without its threads: what they write would be news to a page's tests."""
    application = create_app(settings)
    application.state.hub.db.open()
    yield application
    application.state.hub.db.close()


@pytest.fixture
def stranger(app: FastAPI) -> TestClient:
    """Signed out."""
    return TestClient(app, base_url=BASE, raise_server_exceptions=False, follow_redirects=False)


@pytest.fixture
def browser(stranger: TestClient, settings: Settings) -> Browser:
    """Signed in."""
    return Browser.signed_in(stranger, settings)


@pytest.fixture
def filled(db: Database, settings: Settings) -> Filled:
    """A store with everything in it."""
    return fill(db, settings, datetime.now(UTC))
