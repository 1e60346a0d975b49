"""Real Postgres for every test that asks: one embedded server a session, one fresh database a test."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import psycopg
import pytest

from argus_cli.embedded_postgres import EmbeddedPostgres
from argus_memory import migrate
from argus_memory.db import Database
from argus_memory.settings import Settings, load_settings

REPOSITORY = Path(__file__).resolve().parent.parent
TEMPLATE = "argus_template"
_numbers = count(1)


@pytest.fixture(scope="session")
def postgres() -> Iterator[EmbeddedPostgres]:
    """A server without fsync in a folder of its own, with one migrated database to copy from."""
    folder = Path(tempfile.mkdtemp(prefix="argus-test-"))
    # As root the server runs as a system user, which must be able to walk to its own folder.
    folder.chmod(0o755)
    server = EmbeddedPostgres(folder / "postgres", fsync=False)
    try:
        server.start()
        with psycopg.connect(server.dsn("postgres", "postgres"), autocommit=True) as admin:
            admin.execute(f"create database {TEMPLATE} owner argus")
        with psycopg.connect(server.dsn("postgres", TEMPLATE), autocommit=True) as admin:
            admin.execute("create extension if not exists vector")
        migrate.upgrade(server.dsn("argus", TEMPLATE))
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def dsn(postgres: EmbeddedPostgres) -> Iterator[str]:
    """The address of a fresh database at the newest revision, for the role `argus`."""
    name = f"argus_test_{next(_numbers)}"
    with psycopg.connect(postgres.dsn("postgres", "postgres"), autocommit=True) as admin:
        admin.execute(f"create database {name} template {TEMPLATE} owner argus strategy wal_log")
        try:
            yield postgres.dsn("argus", name)
        finally:
            admin.execute(f"drop database if exists {name} with (force)")


@pytest.fixture
def empty_dsn(postgres: EmbeddedPostgres) -> Iterator[str]:
    """The address of a database without any table."""
    name = f"argus_empty_{next(_numbers)}"
    with psycopg.connect(postgres.dsn("postgres", "postgres"), autocommit=True) as admin:
        admin.execute(f"create database {name} owner argus")
        try:
            with psycopg.connect(postgres.dsn("postgres", name), autocommit=True) as inside:
                inside.execute("create extension if not exists vector")
            yield postgres.dsn("argus", name)
        finally:
            admin.execute(f"drop database if exists {name} with (force)")


@pytest.fixture
def db(dsn: str) -> Iterator[Database]:
    with Database(dsn) as database:
        yield database


@pytest.fixture
def settings(dsn: str, tmp_path: Path) -> Settings:
    """Settings of a home that holds nothing, on the test's database, with known tokens."""
    return load_settings(
        {
            "ARGUS_HOME": str(tmp_path / "home"),
            "ARGUS_DATABASE_URL": dsn,
            "ARGUS_CAPTURE_TOKEN": "capture-token-for-tests",
            "ARGUS_MCP_TOKEN": "mcp-token-for-tests-only",
            "ARGUS_ADMIN_TOKEN": "admin-token-for-tests-only",
        }
    )


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The recorded transcripts and benchmark halves; tests that need them say so where they are absent."""
    folder = REPOSITORY.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"needs the data folder {folder}, which is not part of the repository")
    return folder
