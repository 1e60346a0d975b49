"""The application on a fresh database, called in this process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from argus_api.app import create_app
from argus_memory.db import Database
from argus_memory.settings import Settings


@pytest.fixture
def client(db: Database, settings: Settings) -> Iterator[TestClient]:
    """Without a token of its own; errors come as answers, as they do over the wire."""
    app = create_app(settings)
    with TestClient(app, base_url="http://127.0.0.1:8484", raise_server_exceptions=False) as calls:
        yield calls
