"""What must be true before a service starts; `python -m argus_cli.prepare` is one process that ends.

1. DAGSTER_HOME holds this version's dagster.yaml
2. the database answers and pgvector is there
3. Argus's own revisions are run (a foreign or newer database is refused), and the search terms fit the setting
4. what tasks/config.ini says is written down, before Dagster reads the same file
5. the schema `dagster` is there and Dagster's own migration is run
6. with `--close-orphans`, runs that a power loss left STARTED are reported failed (close_orphans.py)

Reads ARGUS_DATABASE_URL, ARGUS_DAGSTER_DATABASE_URL (derived where unset) and DAGSTER_HOME. A process of its own,
since Alembic, SQLAlchemy and Dagster would otherwise stay in the supervisor's memory.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from argus_cli.close_orphans import close_orphans, told
from argus_cli.dagster_url import DAGSTER_SCHEMA, dagster_url
from argus_cli.home import PROJECT_ROOT
from argus_cli.service_table import CLOSE_ORPHANS
from argus_memory.errors import ArgusError, Unreachable


def place_dagster_yaml(dagster_home: Path) -> None:
    """A copy: the file is part of the code, and DAGSTER_HOME also keeps what must survive an update."""
    dagster_home.mkdir(parents=True, exist_ok=True)
    (dagster_home / "dagster.yaml").write_bytes((PROJECT_ROOT / "dagster.yaml").read_bytes())


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
            if not connection.execute("select 1 from pg_namespace where nspname = %s", [DAGSTER_SCHEMA]).fetchone():
                connection.execute(f"create schema {DAGSTER_SCHEMA}")
    except psycopg.errors.InsufficientPrivilege as error:
        raise Unreachable(
            f"this role may not make the schema `{DAGSTER_SCHEMA}`: let an administrator run"
            f" `create schema {DAGSTER_SCHEMA} authorization <role>` in the database"
        ) from error


def fit_search_terms(dsn: str) -> None:
    """Make the terms anew where ARGUS_TEXT_SEARCH changed; raises SettingError for an unknown configuration."""
    from datetime import UTC, datetime

    from argus_memory.db import Database
    from argus_memory.settings import load_settings
    from argus_memory.upkeep.text_search import apply_text_search

    configuration = load_settings().text_search
    with Database(dsn) as db:
        done = apply_text_search(db, configuration, now=datetime.now(UTC))
    if done:
        print(f"search     terms made anew for {configuration}: {done.turns} turns, {done.notes} notes", flush=True)


def register_task_list(dsn: str) -> None:
    """A broken stanza stops nothing: it is said here, on the pages and as an alert."""
    from datetime import UTC, datetime

    from argus_memory.db import Database
    from argus_memory.settings import load_settings
    from argus_memory.tasks.config import default_zone_of, read_task_list
    from argus_memory.tasks.registry import register_tasks
    from argus_memory.watch.slo import thresholds_of

    settings = load_settings()
    thresholds_of(settings)  # a level that does not exist stops the start, as every bad setting does
    task_list = read_task_list(settings.tasks_folder, default_zone=default_zone_of(settings))
    with Database(dsn) as db:
        register_tasks(db, settings, task_list, now=datetime.now(UTC), by="prepare")
    for broken in task_list.broken:
        print(f"task       {broken.name} cannot be used: {broken.sentence}", flush=True)


def migrate_dagster() -> None:
    from dagster import DagsterInstance

    with DagsterInstance.get() as instance:
        instance.upgrade()


def prepare(orphans: bool) -> None:
    """All steps; raises Unreachable with one sentence where one of them cannot be done."""
    from argus_memory.migrate import upgrade

    dsn = os.environ["ARGUS_DATABASE_URL"]
    os.environ.setdefault("ARGUS_DAGSTER_DATABASE_URL", dagster_url(dsn))
    place_dagster_yaml(Path(os.environ["DAGSTER_HOME"]))
    ensure_extension(dsn)
    print(f"migrations at revision {upgrade(dsn)}", flush=True)
    fit_search_terms(dsn)
    register_task_list(dsn)
    ensure_dagster_schema(dsn)
    migrate_dagster()
    closed = close_orphans() if orphans else 0
    print("dagster    migrated" + (f", {told(closed)}" if closed else ""), flush=True)


def main(arguments: Sequence[str]) -> int:
    try:
        prepare(CLOSE_ORPHANS in arguments)
    except ArgusError as error:
        print(f"argus: {error}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
