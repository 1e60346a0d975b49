"""The supervisor's end of the guard: starts it, tells it of process groups, starts it again if it dies."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from pathlib import Path

from argus_cli import guard


class Guard:
    def __init__(self) -> None:
        self._groups: dict[int, int] = {}
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """A session of its own: neither Ctrl+C nor a hang-up of the terminal reaches it."""
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(Path(guard.__file__))],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env={},
            start_new_session=True,
        )
        for group, number in self._groups.items():
            self._tell(f"+{group} {number}")

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process is not None else None

    def keep_alive(self) -> None:
        if self._process is not None and self._process.poll() is not None:
            self.start()

    def watch(self, group: int, number: int) -> None:
        self._groups[group] = number
        self._tell(f"+{group} {number}")

    def forget(self, group: int) -> None:
        self._groups.pop(group, None)
        self._tell(f"-{group}")

    def stop(self) -> None:
        """After everything was stopped: it has nothing left to end and goes by itself."""
        for group in list(self._groups):
            self.forget(group)
        if self._process is not None:
            assert self._process.stdin is not None
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.close()
            self._process.wait(10)
            self._process = None

    def _tell(self, line: str) -> None:
        if self._process is None or self._process.stdin is None:
            return
        # A dead guard is started again by keep_alive, with all groups; nothing is lost by this write.
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(line.encode() + b"\n")
            self._process.stdin.flush()
