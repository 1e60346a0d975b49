"""What runs before the services: migrations of both schemas, orphaned runs, refusals, the database's lock."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from argus_cli.dagster_url import dagster_url
from argus_cli.embedded_postgres import EmbeddedPostgres
from argus_cli.home import Home
from argus_cli.hub import open_database, stored_dsn
from argus_cli.ports import find_free_port
from argus_cli.prepare import ensure_extension
from argus_cli.supervised_database import SupervisedDatabase
from argus_cli.supervisor import choose_addresses
from argus_memory.errors import AlreadyRunning, Unreachable
from argus_memory.migrate import head_revision
from argus_memory.settings import load_settings

ROOT = Path(__file__).resolve().parents[3]

# Prepare; a run that counts as going on, as a power loss leaves it; an asset through the whole event log; prepare.
TWO_STARTS = """
import os
import dagster as dg
import psycopg
from dagster._core.test_utils import create_run_for_test
from argus_cli.ports import find_free_port
from argus_cli.prepare import prepare

@dg.asset
def word():
    return dg.MaterializeResult(metadata={"rows": 3})

prepare(orphans=True)
with dg.DagsterInstance.get() as instance:
    assert instance.get_runs() == []
    with psycopg.connect(os.environ["ARGUS_DATABASE_URL"]) as connection:  # as a restart of Postgres does
        connection.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity"
            " where datname = current_database() and pid <> pg_backend_pid()"
        )
    create_run_for_test(instance, job_name="orphan", status=dg.DagsterRunStatus.STARTED)
    assert dg.materialize([word], instance=instance).success
    event = instance.get_latest_materialization_event(dg.AssetKey("word"))
    assert event.asset_materialization.metadata["rows"].value == 3
prepare(orphans=False)
with dg.DagsterInstance.get() as instance:
    assert [run.status.value for run in instance.get_runs()] == ["SUCCESS", "STARTED"]
prepare(orphans=True)
"""


def run_python(words: list[str], dsn: str, home: Path) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "ARGUS_HOME": str(home),
        "ARGUS_DATABASE_URL": dsn,
        "ARGUS_DAGSTER_DATABASE_URL": dagster_url(dsn),
        "DAGSTER_HOME": str(home / "dagster"),
    }
    return subprocess.run(
        [sys.executable, *words], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


def test_an_empty_database_is_made_ready_and_orphans_are_closed(empty_dsn: str, tmp_path: Path) -> None:
    """Both schemas are migrated, Dagster stores events through psycopg2 (also on connections that were cut in
    between), and a run left STARTED ends failed."""
    done = run_python(["-c", TWO_STARTS], empty_dsn, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        f"migrations at revision {head_revision()}", "dagster    migrated",
        f"migrations at revision {head_revision()}", "dagster    migrated",
        f"migrations at revision {head_revision()}", "dagster    migrated, 1 orphaned run reported failed",
    ]  # fmt: skip
    with psycopg.connect(empty_dsn) as connection:
        runs = connection.execute("select pipeline_name, status from dagster.runs order by id").fetchall()
        assert runs[0] == ("orphan", "FAILURE")
        assert [status for _, status in runs[1:]] == ["SUCCESS"]
        tables = connection.execute(
            "select count(*) from pg_tables where schemaname = 'public' and tablename in ('runs', 'event_logs')"
        ).fetchone()
        assert tables == (0,)


def test_a_foreign_database_is_refused(empty_dsn: str, tmp_path: Path) -> None:
    """Tables of somebody else: one sentence, exit 3, nothing made."""
    with psycopg.connect(empty_dsn) as connection:
        connection.execute("create table invoices (id int)")
    done = run_python(["-m", "argus_cli.prepare"], empty_dsn, tmp_path)
    assert done.returncode == 3
    assert done.stderr.startswith("argus: ")
    assert "invoices" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_newer_database_is_refused(dsn: str, tmp_path: Path) -> None:
    """A revision this code does not know: one sentence that names it, exit 3."""
    with psycopg.connect(dsn) as connection:
        connection.execute("update alembic_version set version_num = '9999_later'")
    done = run_python(["-m", "argus_cli.prepare"], dsn, tmp_path)
    assert done.returncode == 3
    assert "9999_later" in done.stderr


def test_a_database_without_pgvector_asks_for_an_administrator(postgres: EmbeddedPostgres) -> None:
    """Argus's role may not add the extension: the sentence has the statement to run."""
    with psycopg.connect(postgres.dsn("postgres", "postgres"), autocommit=True) as admin:
        admin.execute("create database bare owner argus")
        try:
            with pytest.raises(Unreachable, match="create extension vector"):
                ensure_extension(postgres.dsn("argus", "bare"))
        finally:
            admin.execute("drop database bare with (force)")


def test_an_unreachable_database_is_told(tmp_path: Path) -> None:
    """Nothing listens there: one sentence, exit 3, no password in it."""
    done = run_python(["-m", "argus_cli.prepare"], "postgresql://argus:geheim@127.0.0.1:1/argus", tmp_path)
    assert done.returncode == 3
    assert "cannot be reached" in done.stderr
    assert "geheim" not in done.stderr


def database(dsn: str, tmp_path: Path) -> SupervisedDatabase:
    return SupervisedDatabase(Home(tmp_path), dsn, watch=lambda *_: None, forget=lambda *_: None)


def test_two_supervisors_on_one_database_are_refused(
    dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second is told, without the password; after the first has stopped, it may."""
    monkeypatch.setattr("argus_cli.supervised_database.LOCK_PATIENCE_SECONDS", 0.1)
    first, second = database(dsn, tmp_path), database(dsn, tmp_path)
    first.start()
    first.hold_lock()
    first.hold_lock()  # asked every minute
    with pytest.raises(AlreadyRunning) as refused:
        second.hold_lock()
    password = dsn.split(":")[2].split("@")[0]
    assert password not in str(refused.value)
    first.stop(5)
    second.hold_lock()
    second.stop(5)


def test_a_lock_lost_with_its_session_is_taken_again(
    dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a restart of the database the supervisor notices and holds the lock again."""
    monkeypatch.setattr("argus_cli.supervised_database.LOCK_PATIENCE_SECONDS", 0.1)
    held = database(dsn, tmp_path)
    held.hold_lock()
    with psycopg.connect(dsn) as connection:
        connection.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity"
            " where application_name = 'argus supervisor' and datname = current_database()"
        )
    held.hold_lock()
    other = database(dsn, tmp_path)
    with pytest.raises(AlreadyRunning):
        other.hold_lock()
    held.stop(5)


def test_a_command_without_a_hub_uses_the_external_database(dsn: str, tmp_path: Path) -> None:
    """open_database migrates and opens what ARGUS_DATABASE_URL names, and stored_dsn says the same."""
    settings = load_settings({"ARGUS_HOME": str(tmp_path / "home"), "ARGUS_DATABASE_URL": dsn})
    assert stored_dsn(settings) == dsn
    with open_database(settings) as opened:
        assert opened.fetch_one("select count(*) as n from raw_items") == {"n": 0}


def test_taken_ports_are_told_with_the_variable(tmp_path: Path) -> None:
    """A stranger on the Dagster port: the sentence names port and variable."""
    with socket.socket() as stranger:
        stranger.bind(("127.0.0.1", 0))
        stranger.listen()
        port = stranger.getsockname()[1]
        free = str(find_free_port())
        settings = load_settings(
            {"ARGUS_HOME": str(tmp_path), "ARGUS_API_PORT": free, "ARGUS_DAGSTER_PORT": str(port)}
        )
        with pytest.raises(Unreachable, match=rf"port {port} .*ARGUS_DAGSTER_PORT"):
            choose_addresses(settings)
