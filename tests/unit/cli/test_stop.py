"""How a hub ends: everything asked at once, what is deaf ended by force together, Postgres last."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from argus_cli import supervisor as supervising
from argus_cli.managed_process import ManagedProcess
from argus_cli.supervisor import Supervisor
from argus_memory.settings import load_settings
from tests.helpers import wait_until

STOP_GOAL_SECONDS = 15.0
DEAF = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('here', flush=True); time.sleep(60)"
POLITE = "import time; print('here', flush=True); time.sleep(60)"


class Database:
    """Stands for Postgres: notes which services were alive when it was stopped."""

    embedded = True

    def __init__(self, processes: dict[str, ManagedProcess]) -> None:
        self.processes = processes
        self.alive: list[str] | None = None

    def stop(self, seconds: float) -> None:
        assert seconds == supervising.POSTGRES_STOP_SECONDS
        self.alive = [name for name, process in self.processes.items() if not process.is_gone()]


def test_deaf_services_share_one_wait_and_postgres_is_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three that ignore SIGTERM take as long as one; what listens ends at once; then the database is stopped."""
    monkeypatch.setattr(supervising, "SERVICES_STOP_SECONDS", 0.6)
    said: list[tuple[str, str]] = []
    settings = load_settings({"ARGUS_HOME": str(tmp_path)})
    hub = Supervisor(settings, {}, say=lambda *line: said.append(line), ready=lambda _well: None)
    for name, code in {"api": POLITE, "code": DEAF, "daemon": DEAF, "webserver": DEAF}.items():
        log = tmp_path / f"{name}.log"
        argv = [sys.executable, "-c", code]
        process = ManagedProcess(name, argv, dict(os.environ), log, watch=lambda *_: None, forget=lambda _: None)
        process.start()
        hub.processes[name] = process
        wait_until(lambda log=log: "here" in log.read_text())  # type: ignore[misc]
    database: Any = Database(hub.processes)
    hub.database = database
    begun = time.monotonic()
    hub._stop()
    assert time.monotonic() - begun < 3 * 0.6
    assert database.alive == []
    assert said[0] == ("api", "stopped")
    assert {name for name, text in said if "by force" in text} == {"code", "daemon", "webserver"}
    assert said[-1] == ("postgres", "stopped")


def test_all_waits_together_stay_within_the_goal() -> None:
    """Services, what is left of them after SIGKILL, and Postgres, each at its worst: under 15 s."""
    waits = (supervising.SERVICES_STOP_SECONDS, supervising.REAP_SECONDS, supervising.POSTGRES_STOP_SECONDS)
    assert sum(waits) < STOP_GOAL_SECONDS
