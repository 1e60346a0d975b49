"""Watching over the services: what died is started again, what went silent is stopped first, and it is said.

One `tick` is one round; between rounds it sleeps until a signal or the next thing that is due.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable

from argus_cli.managed_process import ManagedProcess
from argus_cli.probes import Probe, probe_service
from argus_cli.service_table import SERVICES, Addresses, Health, Service
from argus_cli.supervised_database import SupervisedDatabase
from argus_cli.wakeups import Wakeups

PROBE_SECONDS = 30.0  # a service that is ready
STARTING_PROBE_SECONDS = 0.5  # one that is not
UPKEEP_SECONDS = 60.0
STOP_SECONDS = 10.0  # a code server took over 30 s on SIGTERM


class StopRequested(Exception):
    """Ctrl+C or SIGTERM: unwinds whatever the supervisor is doing; no error."""


class ServiceWatch:
    """`upkeep` is called every UPKEEP_SECONDS, `changed` after every round (to write the state)."""

    def __init__(
        self,
        processes: dict[str, ManagedProcess],
        database: SupervisedDatabase,
        addresses: Addresses,
        wakeups: Wakeups,
        *,
        say: Callable[[str, str], None],
        upkeep: Callable[[], None],
        changed: Callable[[], None],
    ) -> None:
        self.processes = processes
        self.database = database
        self.addresses = addresses
        self._services: dict[str, Service] = {service.name: service for service in SERVICES}
        self._wakeups = wakeups
        self._say = say
        self._upkeep = upkeep
        self._changed = changed
        self._next_probe: dict[str, float] = {}
        self._kill_at: dict[str, float] = {}
        self._next_upkeep = time.monotonic() + UPKEEP_SECONDS

    def check_stop(self) -> None:
        if self._wakeups.stop_requests:
            raise StopRequested

    def launch(self, name: str) -> None:
        self.check_stop()
        self.processes[name].start()
        self._next_probe[name] = time.monotonic() + STARTING_PROBE_SECONDS
        self._changed()

    def wait_ready(self, names: list[str], limit: float) -> bool:
        """Rounds until all of `names` answer; False after `limit` seconds."""
        end = time.monotonic() + limit
        while True:
            self.tick()
            if all(self.processes[name].ready for name in names):
                return True
            if time.monotonic() > end:
                return False
            self.sleep()

    def sleep(self) -> None:
        """Until a signal comes or something is due."""
        self._wakeups.wait(self._until_next_due())

    def tick(self) -> None:
        """One round; raises StopRequested when a signal asked for the end."""
        self.check_stop()
        now = time.monotonic()
        told = self.database.watch_over(now)
        if told:
            self._say("postgres", told)
        for process in self.processes.values():
            self._watch(process, now)
        if now >= self._next_upkeep:
            self._upkeep()
            self._next_upkeep = now + UPKEEP_SECONDS
        self._changed()

    def _watch(self, process: ManagedProcess, now: float) -> None:
        name = process.name
        if process.process is not None and not process.is_running():
            self._kill_at.pop(name, None)
            self._say(name, process.note_death())
        if process.start_at is not None and now >= process.start_at and self.database.is_alive():
            self.launch(name)
        elif process.is_running() and now >= self._next_probe[name]:
            self._probe(process)
        if name in self._kill_at and now >= self._kill_at[name]:
            del self._kill_at[name]
            process.signal_groups(signal.SIGKILL)

    def _probe(self, process: ManagedProcess) -> None:
        """Ask one service: ready when it answers for the first time, stopped when it went silent."""
        service = self._services[process.name]
        probe = probe_service(service, self.addresses, self.database.dsn)
        if not process.ready:
            process.ready = answers_anew(service, probe, process.age_seconds)
            if process.ready:
                process.fault = fault_of(service, probe)
                told = f"answers, but {process.fault}" if process.fault else f"ready ({probe.detail})"
                self._say(process.name, told)
        elif probe.answered is not None and process.note_probe(probe.answered):
            self._say(process.name, f"does not answer ({probe.detail}), is stopped and started again")
            process.signal_groups(signal.SIGTERM)
            self._kill_at[process.name] = time.monotonic() + STOP_SECONDS
        elif probe.answered and probe.status != "warn" and fault_of(service, probe) != process.fault:
            process.fault = fault_of(service, probe)
            self._say(process.name, process.fault or f"well again ({probe.detail})")
        pause = PROBE_SECONDS if process.ready else STARTING_PROBE_SECONDS
        self._next_probe[process.name] = time.monotonic() + pause

    def _until_next_due(self) -> float:
        due = [self._next_upkeep, *self._kill_at.values()]
        if self.database.start_at is not None:
            due.append(self.database.start_at)
        for process in self.processes.values():
            if process.start_at is not None:
                due.append(process.start_at)
            elif process.process is not None:
                due.append(self._next_probe[process.name])
        return max(0.05, min(due) - time.monotonic())


def fault_of(service: Service, probe: Probe) -> str:
    """What is wrong with Dagster's code, which no restart of the webserver would cure; else nothing."""
    return probe.detail if service.health is Health.DAGSTER and probe.answered and probe.status == "failed" else ""


def answers_anew(service: Service, probe: Probe, age_seconds: float) -> bool:
    """Whether this life of the service answered: a heartbeat older than its process is its predecessor's."""
    if not probe.answered:
        return False
    if service.health is Health.HEARTBEAT and probe.data is not None:
        return float(probe.data["oldest_seconds"]) < age_seconds
    return True
