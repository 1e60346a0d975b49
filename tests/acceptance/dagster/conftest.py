"""Databases that hold both schemas, Argus's and Dagster's: migrated once, then copied for each test."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from unittest import mock

import dagster as dg
import psycopg
import pytest

from argus_cli.dagster_url import dagster_url
from argus_cli.embedded_postgres import EmbeddedPostgres
from argus_cli.prepare import ensure_dagster_schema
from argus_memory.settings import Settings
from tests.conftest import TEMPLATE
from tests.dagster_runs import environment_of

REPOSITORY = Path(__file__).parents[3]
BOTH = "argus_dagster_template"
_numbers = count(1)


def dagster_environment(dsn: str, home: Path) -> dict[str, str]:
    """What a process of the hub finds of Dagster's in its environment, with the hub's own dagster.yaml."""
    home.mkdir(exist_ok=True)
    shutil.copy(REPOSITORY / "dagster.yaml", home)
    return {"ARGUS_DAGSTER_DATABASE_URL": dagster_url(dsn), "DAGSTER_HOME": str(home)}


@pytest.fixture(scope="package")
def both_schemas(postgres: EmbeddedPostgres, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The name of the database to copy from."""
    with psycopg.connect(postgres.dsn("postgres", "postgres"), autocommit=True) as admin:
        admin.execute(f"create database {BOTH} template {TEMPLATE} owner argus strategy wal_log")
    dsn = postgres.dsn("argus", BOTH)
    ensure_dagster_schema(dsn)
    variables = dagster_environment(dsn, tmp_path_factory.mktemp("dagster"))
    with mock.patch.dict(os.environ, variables), dg.DagsterInstance.get() as instance:
        instance.upgrade()
    with psycopg.connect(postgres.dsn("postgres", "postgres"), autocommit=True) as admin:
        # A database that somebody is in cannot be copied, and Dagster's storage keeps its connections.
        admin.execute("select pg_terminate_backend(pid) from pg_stat_activity where datname = %s", (BOTH,))
    return BOTH


@pytest.fixture
def dsn(postgres: EmbeddedPostgres, both_schemas: str) -> Iterator[str]:
    """The address of a fresh copy, for the role `argus`."""
    name = f"argus_dagster_test_{next(_numbers)}"
    with psycopg.connect(postgres.dsn("postgres", "postgres"), autocommit=True) as admin:
        admin.execute(f"create database {name} template {both_schemas} owner argus strategy wal_log")
        try:
            yield postgres.dsn("argus", name)
        finally:
            admin.execute(f"drop database if exists {name} with (force)")


@pytest.fixture
def instance(settings: Settings, dsn: str, tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    """The instance of a hub on the test's database."""
    variables = dagster_environment(dsn, tmp_path / "dagster")
    with environment_of(settings, **variables), dg.DagsterInstance.get() as made:
        yield made
