"""The embedded Postgres: the wheel's binaries as our own child, with passwords, fsync and a proper stop.

    <folder>/data              the cluster (PGDATA)
    <folder>/credentials       passwords of `postgres` and `argus`, and the port
    role `argus`               NOSUPERUSER, owner of database `argus`; all of Argus works as it

Stopped with SIGINT (fast): SIGTERM waits for every client and hung over 20 s with one open; SIGQUIT comes
next, SIGKILL last. It listens on 127.0.0.1 only and has no unix socket.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from argus_cli.child_process import die_with_parent
from argus_cli.ports import LOOPBACK, find_free_port, port_is_free
from argus_cli.postgres_credentials import ROLE, SUPERUSER, Credentials
from argus_cli.postgres_place import POSTGRES_MAJOR, Place, find_place, make_owned_folder
from argus_cli.private_file import write_private
from argus_memory.errors import Unreachable

DATABASE = "argus"
START_SECONDS = 60.0  # recovery after a power loss replays the log since the last checkpoint
STOP_SECONDS = 10.0
INITDB_SECONDS = 120.0
SHARED_BUFFERS = "64MB"  # the idle budget is 750 MB for everything; recall's working set fits


class EmbeddedPostgres:
    """One cluster and, between start() and stop(), its server.

    `port=None` keeps the port of the last start where it is still free, else takes a free one; a given port
    that is taken raises Unreachable. `fsync=False` is for tests alone: a power loss would cost the cluster.
    """

    def __init__(
        self,
        data_dir: Path,
        *,
        port: int | None = None,
        log_file: Path | None = None,
        fsync: bool = True,
        shared_buffers: str = SHARED_BUFFERS,
    ) -> None:
        self.place: Place = find_place(data_dir)
        self.data = self.place.folder / "data"
        self.log_file = log_file
        self.process: subprocess.Popen[bytes] | None = None
        self.credentials = Credentials(self.place.folder, self.place.owner)
        self._wanted_port = port
        self._fsync = fsync
        self._shared_buffers = shared_buffers

    def ensure_initialised(self) -> bool:
        """Make the cluster if there is none; returns whether it was made.

        Raises Unreachable when the folder holds a cluster of another major version, or something else.
        """
        if (self.data / "PG_VERSION").exists():
            self._check_version()
            return False
        if self.data.exists() and any(self.data.iterdir()):
            raise Unreachable(f"{self.data} is not empty and holds no cluster: move it away and start again")
        make_owned_folder(self.place.folder, self.place.owner)
        self.credentials.create()
        self._initdb()
        return True

    def start(self) -> None:
        """Start, wait until it answers, and make role, database and extension where missing.

        Raises Unreachable when the port or the cluster is in use, or the server does not come up.
        """
        self.ensure_initialised()
        self._stop_leftover()
        port = self._choose_port()
        self.credentials.keep_port(port)
        self._wanted_port = port  # a start after a crash serves the address that clients already have
        log = self._open_log()
        try:
            self.process = subprocess.Popen(
                self._command(port),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",
                process_group=0,
                preexec_fn=die_with_parent(signal.SIGINT),
                **self._drop(),
            )
        finally:
            if not isinstance(log, int):
                log.close()
        try:
            self._wait_ready()
            self._provision()
        except BaseException:
            self.stop()
            raise

    def stop(self, seconds: float = STOP_SECONDS) -> None:
        """Fast stop (SIGINT); after `seconds` SIGQUIT; SIGKILL only for what ignores both."""
        if self.process is None:
            return
        for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL):
            if self.process.poll() is not None:
                break
            self.process.send_signal(number)
            try:
                self.process.wait(seconds)
            except subprocess.TimeoutExpired:
                continue
        self.process = None

    def is_alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def dsn(self, role: str = ROLE, db: str = DATABASE) -> str:
        """The address for `role` (argus or postgres), password included."""
        return self.credentials.dsn(role, db)

    def __enter__(self) -> EmbeddedPostgres:
        self.start()
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.stop()

    # --- making the cluster ------------------------------------------------------------------------

    def _initdb(self) -> None:
        """Into a folder beside, renamed when whole: an interrupted first start leaves no half cluster."""
        fresh = self.place.folder / "data.new"
        shutil.rmtree(fresh, ignore_errors=True)
        owner = self.place.owner
        password_file = self.place.folder / "password.new"
        password = self.credentials.password(SUPERUSER) + "\n"
        write_private(password_file, password, owner=None if owner is None else (owner.uid, owner.gid))
        command = [
            str(self.place.binaries / "initdb"), "-D", str(fresh),
            "-U", SUPERUSER, "--pwfile", str(password_file), "--auth=scram-sha-256",
            "--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8",
            "--data-checksums", "--no-instructions", *([] if self._fsync else ["--no-sync"]),
        ]  # fmt: skip
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=INITDB_SECONDS, cwd="/", **self._drop()
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise Unreachable(f"initdb could not run ({error}): see `argus doctor`") from error
        finally:
            password_file.unlink(missing_ok=True)
        if done.returncode != 0:
            shutil.rmtree(fresh, ignore_errors=True)
            lines = (done.stderr.strip() or done.stdout.strip() or "no reason given").splitlines()
            raise Unreachable(
                f"the cluster could not be made at {self.data} ({lines[-1]}): check the folder's space"
                " and modes"
            )
        fresh.rename(self.data)

    def _check_version(self) -> None:
        found = (self.data / "PG_VERSION").read_text().strip()
        if found != str(POSTGRES_MAJOR):
            raise Unreachable(
                f"the cluster at {self.data} is of PostgreSQL {found} and this Argus brings {POSTGRES_MAJOR}:"
                f" restore a backup into a new home, or serve it with PostgreSQL {found} through"
                " ARGUS_DATABASE_URL"
            )

    def _provision(self) -> None:
        """Role, database and extension, each only where missing; the extension needs the superuser."""
        import psycopg
        from psycopg import sql

        role, database = sql.Identifier(ROLE), sql.Identifier(DATABASE)
        with psycopg.connect(self.dsn(SUPERUSER, "postgres"), autocommit=True) as admin:
            if not admin.execute("select 1 from pg_roles where rolname = %s", [ROLE]).fetchone():
                password = sql.Literal(self.credentials.password(ROLE))
                # 4096 rounds protect short passwords; on 192 random bits they only cost 4 ms a connection.
                admin.execute("set scram_iterations = 1")
                create = "create role {} login nosuperuser nocreatedb nocreaterole password {}"
                admin.execute(sql.SQL(create).format(role, password))
            if not admin.execute("select 1 from pg_database where datname = %s", [DATABASE]).fetchone():
                admin.execute(sql.SQL("create database {} owner {}").format(database, role))
        with psycopg.connect(self.dsn(SUPERUSER, DATABASE), autocommit=True) as admin:
            admin.execute("set client_min_messages = warning")
            admin.execute("create extension if not exists vector")
            admin.execute("alter extension vector update")

    # --- starting the server -----------------------------------------------------------------------

    def _command(self, port: int) -> list[str]:
        durable = "on" if self._fsync else "off"
        settings = {
            "listen_addresses": LOOPBACK,
            "port": str(port),
            "unix_socket_directories": "",
            "password_encryption": "scram-sha-256",
            "fsync": durable,
            "full_page_writes": durable,
            "synchronous_commit": durable,
            "shared_buffers": self._shared_buffers,
            "timezone": "UTC",
            "log_timezone": "UTC",
            "log_line_prefix": "%m [%p] ",
            "log_checkpoints": "off",
        }
        command = [str(self.place.binaries / "postgres"), "-D", str(self.data)]
        for name, value in settings.items():
            command += ["-c", f"{name}={value}"]
        return command

    def _wait_ready(self) -> None:
        """Until a password login works; the child's death ends the wait at once."""
        import psycopg

        assert self.process is not None
        end = time.monotonic() + START_SECONDS
        reason = "no answer"
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise Unreachable(f"PostgreSQL stopped while starting: {self._last_log_line()}")
            try:
                psycopg.connect(self.dsn(SUPERUSER, "postgres"), connect_timeout=5).close()
            except psycopg.OperationalError as error:
                reason = str(error).strip().splitlines()[0]
                if "password authentication failed" in reason:
                    raise Unreachable(
                        f"the passwords in {self.credentials.path} are not those of the cluster: restore that"
                        " file from a backup"
                    ) from error
                time.sleep(0.03)
            else:
                return
        raise Unreachable(f"PostgreSQL did not answer within {START_SECONDS:.0f} s ({reason})")

    def _stop_leftover(self) -> None:
        """Stop a server of an earlier Argus that outlived it; a stale postmaster.pid is left to Postgres."""
        pid = self._postmaster_pid()
        if pid is None:
            return
        for number in (signal.SIGINT, signal.SIGQUIT):
            if not serves(pid, self.data):
                return
            os.kill(pid, number)
            end = time.monotonic() + STOP_SECONDS
            while time.monotonic() < end and serves(pid, self.data):
                time.sleep(0.05)
        if serves(pid, self.data):
            raise Unreachable(
                f"an earlier PostgreSQL (process {pid}) holds {self.data}: stop it and start again"
            )

    def _postmaster_pid(self) -> int | None:
        try:
            return int((self.data / "postmaster.pid").read_text().splitlines()[0])
        except (FileNotFoundError, IndexError, ValueError):
            return None

    def _choose_port(self) -> int:
        if self._wanted_port is not None:
            if not port_is_free(self._wanted_port):
                raise Unreachable(
                    f"port {self._wanted_port} on {LOOPBACK}, meant for PostgreSQL, is in use: free it"
                )
            return self._wanted_port
        last = self.credentials.port()
        return last if last is not None and port_is_free(last) else find_free_port()

    def _drop(self) -> dict[str, Any]:
        """Popen arguments that make the child the system user and keep the environment's secrets from it."""
        arguments: dict[str, Any] = {"env": {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LC_ALL": "C"}}
        if self.place.owner is not None:
            arguments |= {"user": self.place.owner.uid, "group": self.place.owner.gid, "extra_groups": []}
        return arguments

    def _open_log(self) -> IO[bytes] | int:
        if self.log_file is None:
            return subprocess.DEVNULL
        self.log_file.parent.mkdir(parents=True, exist_ok=True)
        return self.log_file.open("ab")

    def _last_log_line(self) -> str:
        if self.log_file is None or not self.log_file.exists():
            return "no log was kept"
        with self.log_file.open("rb") as log:
            log.seek(max(0, self.log_file.stat().st_size - 4096))
            lines = log.read().decode("utf-8", "replace").strip().splitlines()
        telling = [line for line in lines if "FATAL" in line or "PANIC" in line]
        return (telling or lines or ["its log is empty"])[-1]


def serves(pid: int, data: Path) -> bool:
    """Whether process `pid` is a living postgres on `data`: a stale pid file may name a stranger.

    A dead but unreaped postmaster (a zombie) counts as gone.
    """
    import psutil

    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        command = process.cmdline()
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return False
    return bool(command) and "postgres" in Path(command[0]).name and str(data) in command
