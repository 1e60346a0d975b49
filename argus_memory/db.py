"""The door to Postgres: a pool, transactions, named queries, and the one predicate for a live note.

SQL lives in `argus_memory/sql/<stage>.sql`; a query starts at a line `-- name: some_name` and is reached as
`queries("stage").some_name`, so that one word finds both the caller and the query.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import resources
from typing import Any, LiteralString

import orjson
import psycopg
from psycopg.rows import DictRow, dict_row
from psycopg.types.json import set_json_loads
from psycopg_pool import ConnectionPool, PoolTimeout

from argus_memory.errors import Unreachable

Connection = psycopg.Connection[DictRow]

# A note that recall may show. Alias n; `now` is a parameter, so that "as of a date" is the same question.
LIVE_NOTE = (
    "(n.deleted_at is null and n.excluded_at is null and n.valid_from <= %(now)s"
    " and (n.valid_to is null or n.valid_to > %(now)s))"
)

# What a recall shows unasked; procedures and dead ends answer `before_you_try` alone (rules/dead_ends.py).
ORDINARY_NOTE = "(n.category <> 'procedure' and not n.tags @> array['dead-end'])"

# LIVE_NOTE as of a moment: known by then and valid then as recorded by then. What a person took away stays away.
LIVE_THEN = (
    "(n.excluded_at is null"
    " and coalesce(n.deleted_reason, '') not in ('forgotten', 'corrected', 'redacted', 'rejected')"
    " and argus_live_at(n.id, n.created_at, n.valid_from, n.valid_to, %(now)s))"
)

POOL_MAX = 8  # connections a process; the API answers from a handful of threads
POOL_WAIT_SECONDS = 10.0

_NAME = re.compile(r"^-- name: *([a-z][a-z0-9_]*) *$", re.MULTILINE)


class Queries:
    """The queries of one file as attributes; an unknown name raises AttributeError with the file's name."""

    def __init__(self, stage: str, texts: Mapping[str, LiteralString]) -> None:
        self._stage = stage
        self._texts = texts

    def __getattr__(self, name: str) -> LiteralString:
        try:
            return self._texts[name]
        except KeyError:
            raise AttributeError(f"no query {name!r} in argus_memory/sql/{self._stage}.sql") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)


def parse_queries(stage: str, text: str) -> Queries:
    """Split a file at its `-- name:` lines; raises ValueError on a name given twice."""
    parts = _NAME.split(text)
    names, bodies = parts[1::2], parts[2::2]
    if len(set(names)) != len(names):
        raise ValueError(f"argus_memory/sql/{stage}.sql names a query twice")
    bodies = [body.replace("{live_note}", LIVE_NOTE).replace("{ordinary}", ORDINARY_NOTE).strip() for body in bodies]
    return Queries(stage, dict(zip(names, bodies, strict=True)))


@cache
def queries(stage: str) -> Queries:
    """The named queries of argus_memory/sql/<stage>.sql."""
    return parse_queries(stage, (resources.files("argus_memory") / "sql" / f"{stage}.sql").read_text("utf-8"))


class Database:
    """A pool on one Postgres. Rows come as dicts; every session runs in UTC."""

    def __init__(self, dsn: str, *, pool_max: int = POOL_MAX) -> None:
        self.dsn = dsn
        self._pool: ConnectionPool[Connection] = ConnectionPool(
            dsn,
            min_size=0,
            max_size=pool_max,
            open=False,
            timeout=POOL_WAIT_SECONDS,
            check=ConnectionPool.check_connection,
            kwargs={"row_factory": dict_row, "options": "-c timezone=UTC"},
            configure=_configure,
            name="argus",
        )

    def open(self) -> Database:
        self._pool.open()
        return self

    def close(self) -> None:
        self._pool.close()

    def __enter__(self) -> Database:
        return self.open()

    def __exit__(self, *_exc: object) -> None:
        self.close()

    @contextmanager
    def transaction(self, *, wait: float | None = None) -> Iterator[Connection]:
        """One transaction: committed at the end, rolled back on any error.

        Raises Unreachable when no connection can be had within `wait` seconds (POOL_WAIT_SECONDS unless given).
        """
        try:
            with self._pool.connection(wait) as connection:
                yield connection
        except (PoolTimeout, psycopg.OperationalError) as error:
            if isinstance(error, psycopg.errors.QueryCanceled | psycopg.errors.LockNotAvailable):
                raise
            raise Unreachable(
                f"the database cannot be reached ({_reason(error)}); see `argus status`"
            ) from error

    def fetch_all(self, query: LiteralString, params: Mapping[str, Any] | None = None) -> list[DictRow]:
        with self.transaction() as connection:
            return connection.execute(query, params).fetchall()

    def fetch_one(self, query: LiteralString, params: Mapping[str, Any] | None = None) -> DictRow | None:
        with self.transaction() as connection:
            return connection.execute(query, params).fetchone()


def _configure(connection: psycopg.Connection[Any]) -> None:
    """Teach a new connection pgvector's type; a database without the extension (before migration) is let be."""
    from pgvector.psycopg import register_vector

    set_json_loads(orjson.loads, connection)  # a diff reads hundreds of details
    try:
        register_vector(connection)
    except psycopg.ProgrammingError:
        connection.rollback()
    else:
        connection.commit()


def _reason(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
