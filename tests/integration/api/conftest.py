"""The application on a fresh database, called in this process; and a real server where the wire matters."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from itertools import count
from typing import Any

import httpx
import psycopg
import pytest
import uvicorn
from fastapi import FastAPI
from fastapi.testclient import TestClient

from argus_api.app import create_app
from argus_cli.embedded_postgres import EmbeddedPostgres
from argus_memory.db import Database
from argus_memory.settings import Settings, load_settings
from tests.helpers import wait_until

BASE = "http://127.0.0.1:8484"
_numbers = count(1)


def bearer(token: str | None) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"} if token else {}


def turn(body: str, **metadata: Any) -> dict[str, Any]:
    """A captured turn as a hook sends it."""
    return {
        "source": "claude-code",
        "kind": "turn",
        "body": body,
        "session": "s1",
        "cwd": "/home/kim/garden",
        "metadata": {"role": "user", "original_timestamp": "2026-03-02T09:00:00Z", **metadata},
    }


def count_rows(db: Database) -> int:
    row = db.fetch_one("select count(*)::int as n from raw_items")
    assert row
    return int(row["n"])


@pytest.fixture
def app(db: Database, settings: Settings) -> FastAPI:
    """`db` comes first, so that the test's own pool outlives the application's."""
    return create_app(settings)


@pytest.fixture
def client(app: FastAPI, settings: Settings) -> Iterator[TestClient]:
    """Calls with the admin token; errors come as answers, as they do over the wire."""
    with TestClient(
        app, base_url=BASE, raise_server_exceptions=False, headers=bearer(settings.admin_token)
    ) as called:
        yield called


@pytest.fixture(scope="module")
def quiet_app(postgres: EmbeddedPostgres, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FastAPI]:
    """One application on one database for a module's tests that change nothing, or nothing that others look at."""
    name = f"argus_quiet_{next(_numbers)}"
    with psycopg.connect(postgres.dsn("postgres", "postgres"), autocommit=True) as admin:
        admin.execute(f"create database {name} template argus_template owner argus strategy wal_log")
        home = tmp_path_factory.mktemp("home")
        app = create_app(load_settings({
            "ARGUS_HOME": str(home),
            "ARGUS_DATABASE_URL": postgres.dsn("argus", name),
            "ARGUS_CAPTURE_TOKEN": "capture-token-for-tests",
            "ARGUS_MCP_TOKEN": "mcp-token-for-tests-only",
            "ARGUS_ADMIN_TOKEN": "admin-token-for-tests-only",
        }))  # fmt: skip
        try:
            with TestClient(app):
                yield app
        finally:
            admin.execute(f"drop database if exists {name} with (force)")


@pytest.fixture
def quiet(quiet_app: FastAPI) -> TestClient:
    """That application, called with the admin token."""
    token = quiet_app.state.hub.settings.admin_token
    return TestClient(quiet_app, base_url=BASE, raise_server_exceptions=False, headers=bearer(token))


@pytest.fixture
def stranger(quiet_app: FastAPI) -> TestClient:
    """That application, called without any token."""
    return TestClient(quiet_app, base_url=BASE, raise_server_exceptions=False)


@pytest.fixture
def server(app: FastAPI, settings: Settings) -> Iterator[httpx.Client]:
    """The application behind uvicorn on a free port of the loopback, as `argus up` runs it."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    config = uvicorn.Config(app, log_level="critical", access_log=False, timeout_graceful_shutdown=1)
    runner = uvicorn.Server(config)
    thread = threading.Thread(target=runner.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    wait_until(lambda: runner.started, what="the server has started")
    address = f"http://127.0.0.1:{listener.getsockname()[1]}"
    with httpx.Client(base_url=address, headers=bearer(settings.admin_token), timeout=30) as called:
        yield called
    runner.should_exit = True
    thread.join(10)
    listener.close()
