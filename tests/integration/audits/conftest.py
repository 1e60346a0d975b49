"""A superuser's hand for faults that the database itself would refuse, and an embedder of words for the stages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from argus_cli.embedded_postgres import EmbeddedPostgres
from argus_memory.upkeep import process
from tests.dagster_runs import WordEmbedder

Force = Callable[..., None]


@pytest.fixture
def force(postgres: EmbeddedPostgres, dsn: str) -> Force:
    """Run statements past triggers, foreign keys and checks, as somebody with a superuser's psql could."""
    name = str(conninfo_to_dict(dsn)["dbname"])

    def run(statement: str, *params: Any) -> None:
        with psycopg.connect(postgres.dsn("postgres", name)) as admin:
            admin.execute("set session_replication_role = replica")
            admin.execute(statement, params or None)  # type: ignore[arg-type]

    return run


@pytest.fixture
def unchecked(force: Force) -> Force:
    """The same, with every check and unique constraint of the table taken away before."""

    def run(table: str, statement: str, *params: Any) -> None:
        force(
            "do $$ declare c record; begin for c in select conname from pg_constraint"
            f" where conrelid = '{table}'::regclass and contype = 'c' loop"
            f" execute format('alter table {table} drop constraint %I', c.conname); end loop; end $$"
        )
        force(statement, *params)

    return run


@pytest.fixture
def embedder(monkeypatch: pytest.MonkeyPatch) -> WordEmbedder:
    made = WordEmbedder()
    monkeypatch.setattr(process, "open_embedder", lambda _db, _settings: made)
    return made
