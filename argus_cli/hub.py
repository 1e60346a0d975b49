"""How other commands reach the database: the running hub's, an external one, or the embedded one started for them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from argus_cli.home import Home, HomeLock
from argus_memory.settings import Settings

if TYPE_CHECKING:
    from argus_memory.db import Database


def stored_dsn(settings: Settings) -> str:
    """The address to use now: the setting's, else that of the embedded cluster's last start.

    Raises Unreachable where neither is there.
    """
    if settings.database_url:
        return settings.database_url
    from argus_cli.embedded_postgres import DATABASE
    from argus_cli.postgres_credentials import ROLE, Credentials
    from argus_cli.postgres_place import stored_folder

    return Credentials(stored_folder(Home(settings.home).postgres)).dsn(ROLE, DATABASE)


def hub_runs(settings: Settings) -> bool:
    """Whether `argus up` is at work on this home."""
    return bool(Home(settings.home).read_state())


@contextmanager
def open_database(settings: Settings) -> Iterator[Database]:
    """A migrated database for one command.

    With a hub or an external address: that one. Without: the embedded server runs for as long as the command,
    under the home's lock, so that a start in between is refused rather than two servers on one cluster.
    Raises AlreadyRunning when another command does the same at this moment.
    """
    from argus_memory.db import Database
    from argus_memory.migrate import upgrade

    if settings.database_url or hub_runs(settings):
        dsn = stored_dsn(settings)
        if settings.database_url and not hub_runs(settings):
            upgrade(dsn)
        with Database(dsn) as database:
            yield database
        return
    from argus_cli.embedded_postgres import EmbeddedPostgres

    home = Home(settings.home)
    home.make()
    lock = HomeLock(home)
    try:
        with EmbeddedPostgres(home.postgres, log_file=home.logs / "postgres.log") as server:
            upgrade(server.dsn())
            with Database(server.dsn()) as database:
                yield database
    finally:
        lock.release()
