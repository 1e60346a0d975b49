"""The runner's end of the guard: give the order, hear when it ended, ask it to stop, clear up when it is gone."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector
from typing import Any

from argus_memory.settings import CODE_FOLDER

# Without site-packages and the user's own Python settings: it starts in 50 ms, and nothing installed can break it.
GUARD = "import sys; sys.path.insert(0, sys.argv[1]); from argus_memory.tasks.guard import main; main()"


class GuardProcess:
    """One guard and its task. Raises OSError where no process can be made."""

    def __init__(self, order: Mapping[str, Any]) -> None:
        self._spool = Path(order["spool"])
        self._buffer = b""
        self.task_pid: int | None = None
        self.report: dict[str, Any] | None = None
        self._process = subprocess.Popen(  # noqa: S603 — our own file
            [sys.executable, "-I", "-S", "-B", "-c", GUARD, str(CODE_FOLDER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl+C in a terminal is the runner's to answer
            cwd="/",
            # A task can read its guard's environment, so there is nothing of ours in it.
            env={name: value for name, value in os.environ.items() if name in ("PATH", "LD_LIBRARY_PATH")},
        )
        assert self._process.stdin
        assert self._process.stdout
        self._selector = DefaultSelector()
        self._selector.register(self._process.stdout, EVENT_READ)
        self._send(json.dumps(order).encode() + b"\n")

    def wait(self, seconds: float) -> bool:
        """Whether the task has ended, asked for at most so long; then `report` is there."""
        if self.report is None and self._selector.select(seconds):
            assert self._process.stdout
            data = os.read(self._process.stdout.fileno(), 65536)
            if not data:
                self._lost()
            self._buffer += data
            *lines, self._buffer = self._buffer.split(b"\n")
            for line in lines:
                self._hear(json.loads(line))
        return self.report is not None

    def stop(self) -> None:
        """Ask the guard to end the task; `wait` goes on until it reports."""
        self._send(b"stop\n")

    def close(self) -> None:
        """Let go of a guard that has reported."""
        assert self._process.stdin
        assert self._process.stdout
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        self._selector.close()
        self._process.stdout.close()
        self._process.wait()

    def _send(self, data: bytes) -> None:
        assert self._process.stdin
        with suppress(BrokenPipeError):  # a guard that is gone is found out by `wait`
            self._process.stdin.write(data)
            self._process.stdin.flush()

    def _hear(self, message: dict[str, Any]) -> None:
        if message["event"] == "started":
            self.task_pid = message["pid"]
        elif message.get("spooled"):
            self.report = self._read_spool() or {"filed": True}
        else:
            self.report = message

    def _read_spool(self) -> dict[str, Any] | None:
        """None where there is none, also when `close_orphans` filed it already."""
        try:
            report: dict[str, Any] = json.loads(self._spool.read_bytes())
        except FileNotFoundError:
            return None
        return report

    def _lost(self) -> None:
        """The guard is gone without a word: what it left in the spool counts, else its task is ended from here."""
        self._process.wait()
        self.report = self._read_spool()
        if self.report is not None:
            return
        if self.task_pid is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.task_pid, signal.SIGKILL)
        self.report = {"guard_lost": True, "pid": self.task_pid}
