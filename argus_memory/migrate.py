"""Bring the schema to this code's revision, or say why it must not be touched."""

from __future__ import annotations

from pathlib import Path

import psycopg

from argus_memory.errors import Unreachable

MIGRATIONS = Path(__file__).resolve().parent.parent / "migrations"
OUR_FIRST_TABLE = "raw_items"


def _config(dsn: str):  # type: ignore[no-untyped-def]  # Alembic is imported where it is used: 0.2 s
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.attributes["dsn"] = dsn
    return config


def head_revision() -> str:
    """The newest revision this code knows."""
    from alembic.script import ScriptDirectory

    return str(ScriptDirectory.from_config(_config("")).get_current_head())


def current_revision(dsn: str) -> str | None:
    """The database's revision, None for an empty one; raises Unreachable for a foreign or a newer one."""
    from alembic.script import ScriptDirectory

    try:
        with psycopg.connect(dsn, connect_timeout=10) as connection:
            tables = {
                row[0]
                for row in connection.execute(
                    "select tablename from pg_tables where schemaname = 'public'"
                ).fetchall()
            }
            if "alembic_version" not in tables:
                if OUR_FIRST_TABLE in tables or tables:
                    raise Unreachable(
                        "the database holds tables that are not Argus's"
                        f" ({', '.join(sorted(tables)[:3])}…): name an empty one in ARGUS_DATABASE_URL"
                    )
                return None
            row = connection.execute("select version_num from alembic_version").fetchone()
    except psycopg.OperationalError as error:
        reason = (str(error).strip().splitlines() or ["no reason given"])[0]
        raise Unreachable(f"the database cannot be reached ({reason}); check ARGUS_DATABASE_URL") from error
    revision = str(row[0]) if row else None
    known = {script.revision for script in ScriptDirectory.from_config(_config(dsn)).walk_revisions()}
    if revision is not None and revision not in known:
        raise Unreachable(
            f"the database is at revision {revision}, which this version of Argus does not know"
            " (newer, or another program's): update Argus or name another database"
        )
    return revision


def upgrade(dsn: str, to: str = "head") -> str:
    """Run every missing revision up to `to` in one transaction; returns the revision reached."""
    from alembic import command

    current_revision(dsn)
    command.upgrade(_config(dsn), to)
    return head_revision() if to == "head" else to
