"""`argus restore FILE`: a backup becomes the memory of this home; what was there stays beside until it is dropped."""

from __future__ import annotations

import argparse
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from argus_cli.home import Home, HomeLock
from argus_cli.hub import hub_runs
from argus_memory.errors import Conflict, Unreachable
from argus_memory.settings import Settings, load_settings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="a .dump of `argus backup`, its .json beside it")


def run(arguments: argparse.Namespace) -> int:
    from argus_memory.upkeep.backup import read_manifest

    settings = load_settings()
    if hub_runs(settings):
        raise Conflict("Argus is running on this home: `argus down` first, then restore")
    path = arguments.file.absolute()
    known = read_manifest(path)
    home = Home(settings.home)
    home.make()
    lock = HomeLock(home)
    try:
        beside = None
        if settings.database_url:
            _into_external(settings, path)
        else:
            beside = _into_embedded(home, path)
    finally:
        lock.release()
    rows = sum(known["rows"].values())
    if arguments.json:
        print(json.dumps({"restored": str(path), "rows": rows, "revision": known["revision"], "before": beside}))
    else:
        kept = f"; what was there before is kept as database {beside}" if beside else ""
        print(f"{path.name} is the memory of {settings.home} now: {rows:,} rows{kept}")
    return 0


def _into_embedded(home: Home, path: Path) -> str | None:
    """A fresh database beside, filled and migrated, then the names are exchanged; on any failure nothing changed."""
    import psycopg
    from psycopg import sql

    from argus_cli.embedded_postgres import DATABASE, EmbeddedPostgres
    from argus_cli.postgres_credentials import ROLE, SUPERUSER
    from argus_cli.postgres_place import wheel_binaries
    from argus_memory.migrate import upgrade
    from argus_memory.upkeep.backup import restore_into

    stamp = f"{datetime.now(UTC):%Y%m%d%H%M%S}"
    fresh, before = f"{DATABASE}_restored_{stamp}", f"{DATABASE}_before_{stamp}"
    with (
        EmbeddedPostgres(home.postgres, log_file=home.logs / "postgres.log") as server,
        psycopg.connect(server.dsn(SUPERUSER, "postgres"), autocommit=True) as admin,
    ):
        name = sql.Identifier(fresh)
        admin.execute(sql.SQL("create database {} owner {}").format(name, sql.Identifier(ROLE)))
        try:
            with psycopg.connect(server.dsn(SUPERUSER, fresh), autocommit=True) as inside:
                inside.execute("create extension if not exists vector")
            restore_into(path, server.dsn(ROLE, fresh), wheel_binaries())
            upgrade(server.dsn(ROLE, fresh))
        except BaseException:
            admin.execute(sql.SQL("drop database {} with (force)").format(name))
            raise
        held = _holds_anything(server.dsn(ROLE, DATABASE))
        old, new = sql.Identifier(DATABASE), sql.Identifier(before)
        admin.execute(sql.SQL("alter database {} rename to {}").format(old, new))
        admin.execute(sql.SQL("alter database {} rename to {}").format(name, old))
        if not held:
            admin.execute(sql.SQL("drop database {}").format(new))
    return before if held else None


def _into_external(settings: Settings, path: Path) -> None:
    from argus_cli.postgres_tools import find_tools
    from argus_cli.prepare import ensure_extension
    from argus_memory.migrate import upgrade
    from argus_memory.upkeep.backup import restore_into

    assert settings.database_url is not None
    tools = find_tools(settings.database_url)
    if _tables(settings.database_url):
        raise Conflict(
            "the database of ARGUS_DATABASE_URL is not empty, and a restore overwrites nothing: name an empty one"
        )
    ensure_extension(settings.database_url)
    restore_into(path, settings.database_url, tools)
    upgrade(settings.database_url)


def _holds_anything(dsn: str) -> bool:
    import psycopg

    if "raw_items" not in _tables(dsn):
        return False
    with psycopg.connect(dsn) as conn:
        row: Any = conn.execute("select exists (select from raw_items)").fetchone()
        return bool(row[0])


def _tables(dsn: str) -> set[str]:
    import psycopg

    try:
        with psycopg.connect(dsn, connect_timeout=10) as conn:
            return {row[0] for row in conn.execute("select tablename from pg_tables where schemaname = 'public'")}
    except psycopg.OperationalError as error:
        reason = (str(error).strip().splitlines() or ["no reason given"])[0]
        raise Unreachable(f"the database cannot be reached ({reason}): check ARGUS_DATABASE_URL") from error
