"""The database as the supervisor sees it: embedded (started and stopped here) or external (only asked).

Either way one session holds an advisory lock for as long as the supervisor runs, so that two supervisors never
work on one database: two Dagster daemons on one instance may fire everything twice.
"""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from argus_cli.embedded_postgres import EmbeddedPostgres
from argus_cli.home import Home
from argus_cli.restart_rule import deaths_in_row, pause_before
from argus_memory.errors import AlreadyRunning, ArgusError, Unreachable

if TYPE_CHECKING:
    import psycopg

SUPERVISOR_LOCK = 4_714_921  # any fixed number, other than that of the migrations
LOCK_PATIENCE_SECONDS = 5.0  # a killed supervisor's session may linger this long


class SupervisedDatabase:
    def __init__(
        self, home: Home, url: str | None, *, watch: Callable[[int, int], None], forget: Callable[[int], None]
    ) -> None:
        self.embedded = (
            None if url else EmbeddedPostgres(home.postgres, log_file=home.logs / "postgres.log")
        )
        self._url = url
        self._watch = watch
        self._forget = forget
        self._group: int | None = None
        self._session: psycopg.Connection[tuple[object, ...]] | None = None
        self.made = False  # whether this start made the cluster
        self.restarts = 0
        self.start_at: float | None = None  # monotonic; when a dead server is due again
        self._deaths = 0
        self._started_at = 0.0

    @property
    def dsn(self) -> str:
        return self._url or self._embedded().dsn()

    @property
    def pid(self) -> int | None:
        process = self.embedded.process if self.embedded else None
        return process.pid if process else None

    def describe(self) -> str:
        """Where it is, without the password."""
        if self.embedded is None:
            import psycopg

            info = psycopg.conninfo.conninfo_to_dict(self.dsn)
            return f"external, {info.get('host', 'localhost')}:{info.get('port', 5432)}/{info.get('dbname', '')}"
        place = self.embedded.place
        moved = f", not below {place.asked.parent}, which the database's user cannot enter" if place.moved else ""
        return f"port {self.embedded.credentials.port()}, {place.folder}{moved}"

    def start(self) -> None:
        """Start the embedded server; raises Unreachable with the reason."""
        if self.embedded is None:
            return
        self.made = self.embedded.ensure_initialised() or self.made
        if self._group is not None:
            self._forget(self._group)
        self.embedded.start()
        assert self.embedded.process is not None
        self._group = self.embedded.process.pid
        self._watch(self._group, signal.SIGINT)
        self._started_at = time.monotonic()

    def is_alive(self) -> bool:
        return self.embedded is None or self.embedded.is_alive()

    def watch_over(self, now: float) -> str | None:
        """Start a dead embedded server again, with growing pauses; returns a sentence when something happened."""
        if self.is_alive() or (self.start_at is not None and now < self.start_at):
            return None
        if self.start_at is None:
            self._deaths = deaths_in_row(self._deaths, now - self._started_at)
            self.start_at = now + pause_before(self._deaths)
            return f"ended, starts again in {pause_before(self._deaths):.0f} s"
        try:
            self.start()
            self.hold_lock()
        except ArgusError as error:
            self._deaths += 1
            self.start_at = time.monotonic() + pause_before(self._deaths)
            return f"did not start, tries again in {pause_before(self._deaths):.0f} s ({error})"
        self.start_at = None
        self.restarts += 1
        return f"ready ({self.describe()})"

    def hold_lock(self) -> None:
        """Take the lock, or make sure it is still held.

        Raises AlreadyRunning when another supervisor has it, Unreachable when the database does not answer.
        """
        import psycopg

        if self._session is not None:
            try:
                self._session.execute("select 1")
                return
            except psycopg.Error:
                self._drop_session()
        end = time.monotonic() + LOCK_PATIENCE_SECONDS
        try:
            session = psycopg.connect(
                self.dsn, autocommit=True, connect_timeout=10, application_name="argus supervisor"
            )
            while not self._try_lock(session):
                if time.monotonic() > end:
                    session.close()
                    raise AlreadyRunning(
                        f"another Argus already works on the database ({self.describe()}): stop that one first"
                    )
                time.sleep(0.25)
        except psycopg.OperationalError as error:
            reason = str(error).strip().splitlines()[0]
            raise Unreachable(f"the database cannot be reached ({reason}): check ARGUS_DATABASE_URL") from error
        self._session = session

    def stop(self, seconds: float) -> None:
        """End the session and the embedded server: fast, and after `seconds` at once."""
        self._drop_session()
        if self.embedded is not None:
            self.embedded.stop(seconds)
        if self._group is not None:
            self._forget(self._group)
            self._group = None

    @staticmethod
    def _try_lock(session: psycopg.Connection[tuple[object, ...]]) -> bool:
        row = session.execute("select pg_try_advisory_lock(%s)", [SUPERVISOR_LOCK]).fetchone()
        return bool(row and row[0])

    def _drop_session(self) -> None:
        if self._session is not None:
            with contextlib.suppress(Exception):  # it is gone either way
                self._session.close()
            self._session = None

    def _embedded(self) -> EmbeddedPostgres:
        assert self.embedded is not None
        return self.embedded
