"""Alembic's entry: the address comes from the caller (attribute `dsn`) or ARGUS_DATABASE_URL."""

from __future__ import annotations

import os

from alembic import context
from sqlalchemy import create_engine, pool

# Any fixed number: two starts at once must not migrate at once.
MIGRATION_LOCK = 7_283_491


def _url() -> str:
    dsn = context.config.attributes.get("dsn") or os.environ["ARGUS_DATABASE_URL"]
    return "postgresql+psycopg://" + str(dsn).split("://", 1)[1]


engine = create_engine(_url(), poolclass=pool.NullPool)
with engine.connect() as connection:
    context.configure(connection=connection, transaction_per_migration=False)
    with context.begin_transaction():
        connection.exec_driver_sql(f"select pg_advisory_xact_lock({MIGRATION_LOCK})")
        context.run_migrations()
engine.dispose()
