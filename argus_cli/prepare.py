"""What must be true before a service starts; `python -m argus_cli.prepare` is one process that ends.

1. the database answers and pgvector is there
2. Argus's own revisions are run (a foreign or newer database is refused)
3. the schema `dagster` is there and Dagster's own migration is run
4. runs that were left STARTED or STARTING by a power loss are reported failed

Reads ARGUS_DATABASE_URL, ARGUS_DAGSTER_DATABASE_URL (derived where unset) and DAGSTER_HOME. A process of its own,
since Alembic, SQLAlchemy and Dagster would otherwise stay in the supervisor's memory. Step 4 belongs before the
daemon: without it a zombie run holds its slot for ever, since the launcher has no health check for its worker.
"""

from __future__ import annotations

import os
import sys

from argus_cli.dagster_url import DAGSTER_SCHEMA, dagster_url
from argus_memory.errors import ArgusError, Unreachable

ORPHANED = "orphaned by a restart of Argus"


def ensure_extension(dsn: str) -> None:
    """pgvector is there, made where this role may; raises Unreachable with the statement an admin has to run."""
    import psycopg

    try:
        with psycopg.connect(dsn, connect_timeout=10) as connection:
            if connection.execute("select 1 from pg_extension where extname = 'vector'").fetchone():
                return
            connection.execute("create extension if not exists vector")
    except psycopg.OperationalError as error:
        reason = str(error).strip().splitlines()[0]
        raise Unreachable(f"the database cannot be reached ({reason}): check ARGUS_DATABASE_URL") from error
    except psycopg.Error as error:
        raise Unreachable(
            "the database has no pgvector and this role may not add it: let an administrator run"
            " `create extension vector` in it"
        ) from error


def ensure_dagster_schema(dsn: str) -> None:
    import psycopg

    try:
        with psycopg.connect(dsn, connect_timeout=10) as connection:
            connection.execute(f"create schema if not exists {DAGSTER_SCHEMA}")
    except psycopg.errors.InsufficientPrivilege as error:
        raise Unreachable(
            f"this role may not make the schema `{DAGSTER_SCHEMA}`: let an administrator run"
            f" `create schema {DAGSTER_SCHEMA} authorization <role>`"
        ) from error


def migrate_dagster() -> int:
    """Dagster's own migration; then orphaned runs are closed; returns how many."""
    from dagster import DagsterInstance, DagsterRunStatus, RunsFilter

    with DagsterInstance.get() as instance:
        instance.upgrade()
        orphans = instance.get_runs(
            RunsFilter(statuses=[DagsterRunStatus.STARTED, DagsterRunStatus.STARTING, DagsterRunStatus.CANCELING])
        )
        for run in orphans:
            instance.report_run_failed(run, ORPHANED)
    return len(orphans)


def prepare() -> int:
    """All steps; returns the number of orphaned runs."""
    from argus_memory.migrate import upgrade

    dsn = os.environ["ARGUS_DATABASE_URL"]
    os.environ.setdefault("ARGUS_DAGSTER_DATABASE_URL", dagster_url(dsn))
    ensure_extension(dsn)
    revision = upgrade(dsn)
    print(f"migrations at revision {revision}", flush=True)
    ensure_dagster_schema(dsn)
    orphans = migrate_dagster()
    told = f", {orphans} orphaned run{'s' if orphans != 1 else ''} reported failed" if orphans else ""
    print(f"dagster    migrated{told}", flush=True)
    return orphans


def main() -> int:
    try:
        prepare()
    except ArgusError as error:
        print(f"argus: {error}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
