"""Pages asked for in this process: signed in, signed out, on an empty and on a filled store.

`reader` and `bare` serve a whole module from one store: for tests that change nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import psycopg
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from argus_api.app import create_app
from argus_cli.embedded_postgres import EmbeddedPostgres
from argus_memory.db import Database
from argus_memory.settings import Settings, load_settings
from tests.filled_store import Filled, fill
from tests.ui_client import BASE, Browser

_numbers = count(1)


def client_of(app: FastAPI) -> TestClient:
    """A caller that follows no redirect by itself; errors come as answers, as over the wire."""
    return TestClient(app, base_url=BASE, raise_server_exceptions=False, follow_redirects=False)


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """With tasks of the test's own."""
    return replace(settings, tasks=settings.home / "tasks")


@pytest.fixture
def app(db: Database, settings: Settings) -> Iterator[FastAPI]:
    """The application without its threads: what they write would be news to a page's tests."""
    application = create_app(settings)
    with application.state.hub.db:
        yield application


@pytest.fixture
def stranger(app: FastAPI) -> TestClient:
    """Signed out."""
    return client_of(app)


@pytest.fixture
def browser(stranger: TestClient, settings: Settings) -> Browser:
    """Signed in."""
    return Browser.signed_in(stranger, settings)


@pytest.fixture
def filled(db: Database, settings: Settings) -> Filled:
    """A store with everything in it."""
    return fill(db, settings, datetime.now(UTC))


@contextmanager
def _shared(postgres: EmbeddedPostgres, home: Path, *, full: bool) -> Iterator[Browser]:
    name = f"argus_pages_{next(_numbers)}"
    with psycopg.connect(postgres.dsn("postgres", "postgres"), autocommit=True) as admin:
        admin.execute(f"create database {name} template argus_template owner argus strategy wal_log")
        settings = replace(
            load_settings(
                {"ARGUS_HOME": str(home), "ARGUS_DATABASE_URL": postgres.dsn("argus", name),
                 "ARGUS_ADMIN_TOKEN": "admin-token-for-tests-only"}
            ),
            tasks=home / "tasks",
        )  # fmt: skip
        settings.tasks_folder.mkdir()
        (settings.tasks_folder / "config.ini").touch()
        app = create_app(settings)
        try:
            with app.state.hub.db as db:
                app.state.filled = fill(db, settings, datetime.now(UTC)) if full else None
                yield Browser.signed_in(client_of(app), settings)
        finally:
            admin.execute(f"drop database if exists {name} with (force)")


@pytest.fixture(scope="module")
def reader(postgres: EmbeddedPostgres, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Signed in on a filled store, for tests that change nothing."""
    with _shared(postgres, tmp_path_factory.mktemp("home"), full=True) as opened:
        yield opened


@pytest.fixture(scope="module")
def bare(postgres: EmbeddedPostgres, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Signed in on an empty store, for tests that change nothing."""
    with _shared(postgres, tmp_path_factory.mktemp("home"), full=False) as opened:
        yield opened


@pytest.fixture(scope="module")
def shelf(reader: Browser) -> Filled:
    """What stands in the store of `reader`."""
    filled: Filled = reader.client.app.state.filled  # type: ignore[attr-defined]
    return filled
