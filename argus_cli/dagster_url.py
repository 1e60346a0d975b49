"""Dagster's spelling of the database's address, and the schema its tables live in.

One database with a schema `dagster`, not a second database: an external server is often given as one database
without the right to make another, one address serves both, one dump holds both, and the heartbeats can be asked
for over the connection everybody has. Its Alembic table does not meet ours, since each schema has its own.
"""

from __future__ import annotations

from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

DAGSTER_SCHEMA = "dagster"


def dagster_url(dsn: str) -> str:
    """`dsn` with psycopg2 named outright and the schema as search path.

    SQLAlchemy 2.1 reads a bare postgresql:// as psycopg 3, and dagster-postgres then fails at its first NOTIFY.
    """
    parts = urlsplit(dsn)
    query = dict(parse_qsl(parts.query))
    query["options"] = f"{query.get('options', '')} -csearch_path={DAGSTER_SCHEMA}".strip()
    return urlunsplit(
        ("postgresql+psycopg2", parts.netloc, parts.path, urlencode(query, quote_via=quote), parts.fragment)
    )
