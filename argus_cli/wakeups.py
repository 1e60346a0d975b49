"""Waiting without polling: SIGCHLD, SIGTERM and SIGINT end a wait at once, on Linux and macOS alike."""

from __future__ import annotations

import select
import signal
import socket
from types import FrameType, TracebackType
from typing import Any

STOPPING = (signal.SIGTERM, signal.SIGINT)


class Wakeups:
    """Context manager; handlers and wake-up descriptor are put back at the end. Main thread only."""

    def __init__(self) -> None:
        self.stop_requests = 0
        self._before: dict[int, Any] = {}
        self._read, self._write = socket.socketpair()
        self._old_descriptor = -1

    def __enter__(self) -> Wakeups:
        for end in (self._read, self._write):
            end.setblocking(False)
        self._old_descriptor = signal.set_wakeup_fd(self._write.fileno(), warn_on_full_buffer=False)
        for number in STOPPING:
            self._before[number] = signal.signal(number, self._stop)
        self._before[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, self._ignore)
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # nohup's wish is kept
            self._before[signal.SIGHUP] = signal.signal(signal.SIGHUP, self._stop)
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._old_descriptor)
        self._read.close()
        self._write.close()

    def wait(self, seconds: float) -> None:
        """Until a signal or the time is over."""
        ready, _, _ = select.select([self._read], [], [], max(0.0, seconds))
        if ready:
            try:
                while self._read.recv(4096):
                    pass
            except BlockingIOError:
                return

    def _stop(self, _number: int, _frame: FrameType | None) -> None:
        self.stop_requests += 1

    def _ignore(self, _number: int, _frame: FrameType | None) -> None:
        return
