"""A hub of real processes on a home of its own, with free ports; everything it started is gone afterwards."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pytest

from argus_cli.ports import find_free_port
from argus_cli.postgres_place import system_place
from tests.helpers import wait_until

REPOSITORY = Path(__file__).resolve().parents[2]
UP_SECONDS = 120.0


@dataclass
class Hub:
    """`argus up` in the foreground, its output in a file; `seen` are all processes it ever had."""

    home: Path
    api_port: int
    dagster_port: int
    extra: Mapping[str, str] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None
    seen: dict[int, psutil.Process] = field(default_factory=dict)

    @property
    def output(self) -> Path:
        return self.home.parent / "output"

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("ARGUS_")}
        return {
            **kept,
            "ARGUS_HOME": str(self.home),
            "ARGUS_API_PORT": str(self.api_port),
            "ARGUS_DAGSTER_PORT": str(self.dagster_port),
            **self.extra,
        }

    def argus(self, *words: str, timeout: float = UP_SECONDS) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "argus_cli.main", *words],
            cwd=REPOSITORY, env=self.environment, capture_output=True, text=True, timeout=timeout, check=False,
        )  # fmt: skip

    def start(self) -> None:
        with self.output.open("ab") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "argus_cli.main", "up"],
                cwd=REPOSITORY, env=self.environment, stdout=output, stderr=output, start_new_session=True,
            )  # fmt: skip
        wait_until(self._is_up, seconds=UP_SECONDS, step=0.1)
        self.look()

    def _is_up(self) -> bool:
        assert self.process is not None
        if self.process.poll() is not None:
            pytest.fail(f"argus up ended with {self.process.returncode}:\n{self.text()}")
        return " is up: " in self.text()

    def text(self) -> str:
        return self.output.read_text("utf-8", "replace")

    def status(self) -> tuple[int, dict[str, Any]]:
        done = self.argus("status", "--json")
        return done.returncode, json.loads(done.stdout)

    def pids(self) -> dict[str, int]:
        return {name: row["pid"] for name, row in self.status()[1]["services"].items() if row["pid"]}

    def look(self) -> None:
        """Remember every process of the hub by now, grandchildren included."""
        state = json.loads((self.home / "run" / "state.json").read_text())
        root = psutil.Process(state["pid"])
        for process in [root, *root.children(recursive=True)]:
            self.seen[process.pid] = process

    def left(self) -> list[str]:
        """Processes once seen that still run (a zombie that nobody reaps has ended)."""
        running = []
        for process in self.seen.values():
            try:
                if process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
                    running.append(" ".join(process.cmdline())[:120])
            except psutil.NoSuchProcess:
                continue
        return running

    def end(self) -> None:
        """Whatever a failed test left behind."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(30)
        for process in self.seen.values():
            try:
                if process.is_running():
                    process.kill()
            except psutil.NoSuchProcess:
                continue


@contextmanager
def new_hub(extra: Mapping[str, str] | None = None) -> Iterator[Hub]:
    """A hub that is not started, with settings of its own; ended and removed afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="argus-hub-"))
    folder.chmod(0o755)
    home = folder / "home"
    made = Hub(home, find_free_port(), find_free_port(), extra or {})
    try:
        yield made
    finally:
        made.end()
        shutil.rmtree(folder, ignore_errors=True)
        if os.geteuid() == 0:
            shutil.rmtree(system_place(home / "postgres"), ignore_errors=True)
