"""The supervisor behind `argus up`: starts everything in order, starts again what dies, stops it all.

1. the platform, the home's lock and the ports (nothing is started yet)
2. Postgres, then the database's lock
3. migrations, Dagster's own, orphaned runs (one process that ends: prepare.py)
4. API, code server (waited for), daemon, webserver: the rows of service_table.py
5. watch (service_watch.py): signals and deaths wake it
6. stop: SIGTERM to every service at once, SIGKILL to what is left; Postgres last, by SIGINT

One thread, and no import of Dagster, Alembic or SQLAlchemy: it sleeps most of its life and should weigh little.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from argus_cli.guard_client import Guard
from argus_cli.home import PROJECT_ROOT, Home, HomeLock
from argus_cli.log_files import rotate
from argus_cli.managed_process import ManagedProcess
from argus_cli.platform_check import check_platform
from argus_cli.ports import LOOPBACK, find_free_port, port_is_free
from argus_cli.service_environment import service_environment
from argus_cli.service_table import CLOSE_ORPHANS, PREPARE, SERVICES, Addresses
from argus_cli.service_watch import ServiceWatch, StopRequested
from argus_cli.supervised_database import SupervisedDatabase
from argus_cli.tokens import ensure_tokens
from argus_cli.wakeups import Wakeups
from argus_memory.errors import Unreachable
from argus_memory.settings import Settings

CODE_READY_SECONDS = 60.0  # then daemon and webserver start all the same: they wait for it themselves
READY_SECONDS = 120.0
# A stop takes 15 s at most. Four busy neighbours on two cores made a code server take 10 s on SIGTERM.
SERVICES_STOP_SECONDS = 8.0  # all services together
REAP_SECONDS = 1.0  # after SIGKILL, all together
POSTGRES_STOP_SECONDS = 5.0  # fast stop; then the immediate one, which costs a recovery at the next start and no row


class Supervisor:
    """`say(name, text)` prints one line for people; `ready(True)` is called once everything answers and is well.

    `ready(False)` is called instead when something still does not answer after READY_SECONDS (it is tried on), or
    answers and yet cannot work: Dagster without code.
    """

    def __init__(
        self,
        settings: Settings,
        environment: Mapping[str, str],
        *,
        say: Callable[[str, str], None],
        ready: Callable[[bool], None],
    ) -> None:
        self.settings = settings
        self.environment = environment
        self.home = Home(settings.home)
        self.say = say
        self.on_ready = ready
        self.guard = Guard()
        self.database: SupervisedDatabase | None = None
        self.processes: dict[str, ManagedProcess] = {}
        self._wakeups = Wakeups()
        self._last_state: dict[str, object] = {}
        self._started_at = datetime.now(UTC)

    def run(self) -> int:
        """Until a stop is asked for; returns 0. Raises an ArgusError when the start is not possible."""
        check_platform()
        self.home.make()
        lock = HomeLock(self.home)
        try:
            addresses = choose_addresses(self.settings)
            with self._wakeups:
                try:
                    watch = self._start(addresses)
                    while True:
                        watch.sleep()
                        watch.tick()
                except StopRequested:
                    self.say("argus", "stopping")
                finally:
                    self._stop()
            return 0
        finally:
            self.home.state.unlink(missing_ok=True)
            lock.release()

    # --- start ------------------------------------------------------------------------------

    def _start(self, addresses: Addresses) -> ServiceWatch:
        made = ensure_tokens(self.settings.env_file, self.environment)
        if made:
            self.say("tokens", f"{', '.join(made)} made in {self.settings.env_file}")
        self.guard.start()
        self.database = database = SupervisedDatabase(
            self.home, self.settings.database_url, watch=self.guard.watch, forget=self.guard.forget
        )
        database.start()
        database.hold_lock()
        self.say("postgres", f"ready ({database.describe()})")
        if made and database.embedded and not database.made:
            folder = database.embedded.place.folder
            self.say("postgres", f"an earlier database of this home goes on; remove {folder} to begin anew")
        environment = service_environment(self.environment, self.home, database.dsn, addresses)
        self._prepare(environment)
        self.processes = self._make_processes(environment, addresses)
        watch = ServiceWatch(
            self.processes,
            database,
            addresses,
            self._wakeups,
            say=self.say,
            upkeep=self._keep_up,
            changed=lambda: self._write_state(addresses),
        )
        watch.launch("api")
        watch.launch("code")
        watch.wait_ready(["code"], CODE_READY_SECONDS)
        watch.launch("daemon")
        watch.launch("webserver")
        ready = watch.wait_ready(list(self.processes), READY_SECONDS)
        if not ready:
            late = ", ".join(name for name, process in self.processes.items() if not process.ready)
            self.say("argus", f"after {READY_SECONDS:.0f} s still not ready: {late}; see {self.home.logs}")
        self.on_ready(ready and not any(process.fault for process in self.processes.values()))
        return watch

    def _make_processes(
        self, environment: Mapping[str, str], addresses: Addresses
    ) -> dict[str, ManagedProcess]:
        return {
            service.name: ManagedProcess(
                service.name,
                service.argv(sys.executable, addresses),
                environment,
                self.home.logs / f"{service.name}.log",
                watch=self.guard.watch,
                forget=self.guard.forget,
            )
            for service in SERVICES
        }

    def _prepare(self, environment: Mapping[str, str]) -> None:
        """Run prepare.py and pass on its lines; its refusal (a foreign database, …) becomes ours."""
        log = self.home.logs / "prepare.log"
        with log.open("w+b") as output:
            process = subprocess.Popen(
                [sys.executable, *PREPARE, CLOSE_ORPHANS],
                env=dict(environment),
                cwd=PROJECT_ROOT,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                process_group=0,
            )
            self.guard.watch(process.pid, signal.SIGTERM)
            while process.poll() is None:
                if self._wakeups.stop_requests:
                    process.terminate()
                self._wakeups.wait(1.0)
            self.guard.forget(process.pid)
        if self._wakeups.stop_requests:
            raise StopRequested
        lines = [line for line in log.read_text("utf-8", "replace").splitlines() if line.strip()]
        if process.returncode != 0:
            said = [line.removeprefix("argus: ") for line in lines if line.startswith("argus: ")]
            raise Unreachable(said[-1] if said else f"the migrations failed: see {log}")
        for line in lines:
            name, _, text = line.partition(" ")
            if name in ("migrations", "dagster"):
                self.say(name, text.strip())

    # --- while it runs ----------------------------------------------------------------------

    def _keep_up(self) -> None:
        """Every minute: the guard, the logs' sizes, groups that became empty, the database's lock."""
        assert self.database is not None
        self.guard.keep_alive()
        for log in self.home.logs.glob("*.log"):
            rotate(log)
        for process in self.processes.values():
            process.forget_empty_groups()
        if self.database.is_alive():
            try:
                self.database.hold_lock()
            except Unreachable as error:
                self.say("postgres", str(error))

    def _write_state(self, addresses: Addresses) -> None:
        """For `argus status`: written only when something changed."""
        assert self.database is not None
        services: dict[str, object] = {
            "postgres": {
                "pid": self.database.pid,
                "restarts": self.database.restarts,
                "ready": self.database.is_alive(),
            }
        }
        for name, process in self.processes.items():
            services[name] = {"pid": process.pid, "restarts": process.restarts, "ready": process.ready}
        state: dict[str, object] = {
            "pid": os.getpid(),
            "guard_pid": self.guard.pid,
            "started_at": self._started_at.isoformat(timespec="seconds"),
            "addresses": {name: getattr(addresses, name) for name in Addresses.__slots__},
            "database": self.database.describe(),
            "services": services,
        }
        if state != self._last_state:
            self.home.write_state(state)
            self._last_state = state

    # --- stop -------------------------------------------------------------------------------

    def _stop(self) -> None:
        """Every service is asked at once and all share one wait: none needs another in order to end."""
        requests = self._wakeups.stop_requests
        ending = [process for process in reversed(self.processes.values()) if not process.is_gone()]
        for process in ending:
            process.signal_groups(signal.SIGTERM)
        waiting = self._wait_gone(ending, SERVICES_STOP_SECONDS, requests)
        for process in waiting:
            process.signal_groups(signal.SIGKILL)
            self.say(process.name, f"stopped, by force after {SERVICES_STOP_SECONDS:.0f} s")
        end = time.monotonic() + REAP_SECONDS
        for process in waiting:
            process.reap(end - time.monotonic())
        if self.database is not None:
            self.database.stop(POSTGRES_STOP_SECONDS)
            self.say("postgres", "stopped" if self.database.embedded else "left running (external)")
        self.guard.stop()

    def _wait_gone(self, ending: list[ManagedProcess], seconds: float, requests: int) -> list[ManagedProcess]:
        """Say which are gone as they go; returns those left after `seconds`, or at a second Ctrl+C."""
        end = time.monotonic() + seconds
        waiting = list(ending)
        while waiting and time.monotonic() < end and self._wakeups.stop_requests == requests:
            self._wakeups.wait(min(0.2, end - time.monotonic()))
            for process in [process for process in waiting if process.is_gone()]:
                waiting.remove(process)
                self.say(process.name, "stopped")
        return waiting


def choose_addresses(settings: Settings) -> Addresses:
    """Where everything listens; raises Unreachable when a port is taken.

    Asked before anything starts: a second code server would share its port without a word.
    """
    for host, port, variable, name in (
        (settings.api_host, settings.api_port, "ARGUS_API_PORT", "API"),
        (LOOPBACK, settings.dagster_port, "ARGUS_DAGSTER_PORT", "Dagster UI"),
    ):
        if not port_is_free(port, host):
            raise Unreachable(
                f"port {port} on {host}, meant for the {name}, is in use: stop the program that has it, or set"
                f" {variable} to a free one"
            )
    return Addresses(
        api_host=settings.api_host,
        api_port=settings.api_port,
        dagster_host=LOOPBACK,
        dagster_port=settings.dagster_port,
        code_host=LOOPBACK,
        code_port=find_free_port(),
        workspace=str(PROJECT_ROOT / "workspace.yaml"),
    )
