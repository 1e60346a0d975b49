"""One regeneration at a time, whatever process it runs in: its lock ends with its connection, so kill -9 frees it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

import psycopg
from psycopg.rows import dict_row

from argus_memory.db import Database, queries
from argus_memory.errors import Conflict, Unreachable


@contextmanager
def one_at_a_time(db: Database) -> Iterator[None]:
    """Raises Conflict while another one works, Unreachable without a database."""
    try:
        connection = psycopg.connect(db.dsn, autocommit=True, row_factory=dict_row)
    except psycopg.OperationalError as error:
        raise Unreachable(f"the database cannot be reached ({str(error).splitlines()[0]})") from error
    with connection:
        row = connection.execute(queries("regeneration").try_lock).fetchone()
        if row is None or not row["locked"]:
            raise Conflict("another regeneration is at work (`argus regenerate list`); try again when it is done")
        try:
            yield
        finally:
            # The server lets go of a closed connection's lock a moment later; who comes right after must not meet it.
            with suppress(psycopg.Error):
                connection.execute(queries("regeneration").unlock)
