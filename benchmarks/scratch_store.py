"""A store of its own for one measurement: an embedded Postgres in a temporary folder, migrated, gone afterwards."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from argus_cli.embedded_postgres import EmbeddedPostgres
from argus_memory import migrate
from argus_memory.db import Database
from argus_memory.settings import Settings, load_settings


@dataclass(frozen=True)
class ScratchStore:
    db: Database
    settings: Settings
    superuser_dsn: str


@contextmanager
def scratch_store(environment: dict[str, str] | None = None) -> Iterator[ScratchStore]:
    """The server runs with the settings of an installed Argus, fsync included."""
    folder = Path(tempfile.mkdtemp(prefix="argus-bench-"))
    folder.chmod(0o755)  # as root the server runs as a system user that must get through
    server = EmbeddedPostgres(folder / "postgres")
    try:
        server.start()
        migrate.upgrade(server.dsn())
        settings = load_settings(
            {"ARGUS_HOME": str(folder / "home"), "ARGUS_DATABASE_URL": server.dsn(), **(environment or {})}
        )
        with Database(server.dsn()) as db:
            yield ScratchStore(db, settings, server.dsn("postgres"))
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)
