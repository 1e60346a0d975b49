"""pg_dump and pg_restore for a server, and a scratch database to try a backup in."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from argus_cli.embedded_postgres import EmbeddedPostgres
from argus_cli.postgres_place import POSTGRES_MAJOR, system_place, wheel_binaries
from argus_memory.errors import Unreachable


def find_tools(dsn: str) -> Path:
    """The folder of programs that fit the server: those that come with Argus, else newer ones on the PATH.

    pg_dump refuses a server newer than itself. Raises Unreachable with what to install.
    """
    try:
        with psycopg.connect(dsn, connect_timeout=10) as conn:
            major = conn.info.server_version // 10000
    except psycopg.OperationalError as error:
        reason = (str(error).strip().splitlines() or ["no reason given"])[0]
        raise Unreachable(f"the database cannot be reached ({reason}); see `argus status`") from error
    if major <= POSTGRES_MAJOR:
        return wheel_binaries()
    found = shutil.which("pg_dump")
    if found is None:
        raise Unreachable(f"the server is PostgreSQL {major}: install its client programs, so that pg_dump is found")
    return Path(found).resolve().parent


@contextmanager
def scratch_database() -> Iterator[str]:
    """The address of an empty database with pgvector, on a server of its own that is gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="argus-scratch-"))
    folder.chmod(0o755)  # as root the server runs as a system user, which has to walk here; `data` itself is closed
    server = EmbeddedPostgres(folder / "postgres", fsync=False)
    try:
        server.start()
        yield server.dsn()
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)
        if server.place.moved:
            shutil.rmtree(system_place(folder / "postgres"), ignore_errors=True)
