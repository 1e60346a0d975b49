"""Running hubs for the browser: the application behind uvicorn on a free port, on a filled and on an empty store."""

from __future__ import annotations

import shutil
import socket
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import uvicorn

from argus_api.app import create_app
from argus_cli.embedded_postgres import EmbeddedPostgres
from argus_memory.db import Database
from argus_memory.settings import Settings, load_settings
from argus_memory.stages.embed import embed_pending
from argus_memory.upkeep.entry import make_code
from tests.filled_store import Filled, fill
from tests.helpers import wait_until

CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
INSTALL = "no Chromium was found: install it with `apt-get install -y chromium`, then repeat `make test-ui`"


@dataclass(slots=True)
class Hub:
    """A served application; `filled` None: its store is empty."""

    url: str
    settings: Settings
    db: Database
    filled: Filled | None

    def entrance(self) -> str:
        """A one-time link that signs in."""
        return f"{self.url}/ui/enter?code={make_code(self.settings.home, now=datetime.now(UTC))}"


def find_chromium() -> str:
    """Its path. Raises RuntimeError with the command that brings it."""
    for name in CHROMIUM:
        if path := shutil.which(name):
            return path
    raise RuntimeError(INSTALL)


@contextmanager
def serve(postgres: EmbeddedPostgres, name: str, *, filled: bool) -> Iterator[Hub]:
    """A hub on a database of this name; the watchdogs and the sender do not run, so that nothing moves by itself."""
    home = Path(tempfile.mkdtemp(prefix="argus-ui-"))
    with psycopg.connect(postgres.dsn("postgres", "postgres"), autocommit=True) as admin:
        admin.execute(f"create database {name} template argus_template owner argus strategy wal_log")
    settings = load_settings({
        "ARGUS_HOME": str(home), "ARGUS_DATABASE_URL": postgres.dsn("argus", name), "ARGUS_TIMEZONE": "Europe/Vienna",
        "ARGUS_CAPTURE_TOKEN": "capture-token-for-tests", "ARGUS_MCP_TOKEN": "mcp-token-for-tests-only",
        "ARGUS_ADMIN_TOKEN": "admin-token-for-tests-only",
    })  # fmt: skip
    settings = replace(settings, tasks=home / "tasks")
    app = create_app(settings)
    db: Database = app.state.hub.db
    try:
        with db:
            made = fill(db, settings, datetime.now(UTC)) if filled else None
            if filled:
                app.state.hub.embedder.start()
                app.state.hub.embedder.finish()
                embed_pending(db, settings, app.state.hub.embedder, now=datetime.now(UTC))
            else:
                (home / "tasks").mkdir()
                (home / "tasks" / "config.ini").touch()
            with listening(app) as url:
                yield Hub(url, settings, db, made)
    finally:
        with psycopg.connect(postgres.dsn("postgres", "postgres"), autocommit=True) as admin:
            admin.execute(f"drop database if exists {name} with (force)")
        shutil.rmtree(home, ignore_errors=True)


@contextmanager
def listening(app: Any) -> Iterator[str]:
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    config = uvicorn.Config(app, log_level="critical", access_log=False, lifespan="off", timeout_graceful_shutdown=1)
    runner = uvicorn.Server(config)
    thread = threading.Thread(target=runner.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        wait_until(lambda: runner.started, what="the server has started")
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        runner.should_exit = True
        thread.join(10)
        listener.close()


@contextmanager
def own_postgres() -> Iterator[EmbeddedPostgres]:
    """A server with the migrated template, for the script that makes the pictures."""
    from argus_memory import migrate

    folder = Path(tempfile.mkdtemp(prefix="argus-shots-"))
    folder.chmod(0o755)
    server = EmbeddedPostgres(folder / "postgres", fsync=False)
    try:
        server.start()
        with psycopg.connect(server.dsn("postgres", "postgres"), autocommit=True) as admin:
            admin.execute("create database argus_template owner argus")
        with psycopg.connect(server.dsn("postgres", "argus_template"), autocommit=True) as admin:
            admin.execute("create extension if not exists vector")
        migrate.upgrade(server.dsn("argus", "argus_template"))
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def browser() -> Iterator[Any]:
    """Playwright's door to the system's Chromium."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        opened = play.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox", "--disable-gpu"])
        try:
            yield opened
        finally:
            opened.close()
