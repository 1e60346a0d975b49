"""One service as a child: start, watch, stop with its whole process group, and the count of its deaths."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from argus_cli.child_process import die_with_parent
from argus_cli.home import PROJECT_ROOT
from argus_cli.log_files import last_line, open_log
from argus_cli.restart_rule import deaths_in_row, is_hung, pause_before


class ManagedProcess:
    """`watch(group, signal)` and `forget(group)` tell the guard; times are those of time.monotonic."""

    def __init__(
        self,
        name: str,
        argv: list[str],
        environment: Mapping[str, str],
        log: Path,
        *,
        watch: Callable[[int, int], None],
        forget: Callable[[int], None],
    ) -> None:
        self.name = name
        self.argv = argv
        self.environment = environment
        self.log = log
        self.process: subprocess.Popen[bytes] | None = None
        self.ready = False
        self.fault = ""  # what is wrong though it answers
        self.restarts = 0
        self.start_at: float | None = None  # when a dead service is due again
        self.old_groups: set[int] = set()  # groups of earlier lives that may still hold a run
        self._watch = watch
        self._forget = forget
        self._started_at = 0.0
        self._deaths = 0
        self._silent = 0

    def start(self) -> None:
        with open_log(self.log) as log:
            self.process = subprocess.Popen(
                self.argv,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=dict(self.environment),
                cwd=PROJECT_ROOT,
                process_group=0,
                preexec_fn=die_with_parent(signal.SIGTERM),
            )
        self._watch(self.process.pid, signal.SIGTERM)
        self._started_at = time.monotonic()
        self._silent = 0
        self.ready = False
        self.start_at = None

    @property
    def pid(self) -> int | None:
        return self.process.pid if self.process is not None else None

    @property
    def age_seconds(self) -> float:
        return time.monotonic() - self._started_at

    def is_running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def note_death(self) -> str:
        """After the process ended: set the time of the next start; returns one sentence about it."""
        assert self.process is not None
        code = self.process.returncode
        self._deaths = deaths_in_row(self._deaths, time.monotonic() - self._started_at)
        pause = pause_before(self._deaths)
        self.start_at = time.monotonic() + pause
        self.restarts += 1
        self.ready = False
        # Kept, not killed: a run may be going on in the group of a code server that died.
        self.old_groups.add(self.process.pid)
        self.process = None
        how = f"by {signal.Signals(-code).name}" if code < 0 else f"with code {code}"
        told = last_line(self.log) if code > 0 else ""
        return f"ended {how}, starts again in {pause:.0f} s" + (f" ({told[:200]})" if told else "")

    def note_probe(self, alive: bool) -> bool:
        """Count silent probes in a row; returns whether the service must count as hung."""
        self._silent = 0 if alive else self._silent + 1
        return is_hung(self._silent)

    def forget_empty_groups(self) -> None:
        for group in [group for group in self.old_groups if not group_lives(group)]:
            self.old_groups.discard(group)
            self._forget(group)

    def signal_groups(self, number: int) -> None:
        for group in self._groups():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(group, number)

    def is_gone(self) -> bool:
        """Whether no process of this service is left, its children and earlier lives included."""
        if self.process is not None:
            self.process.poll()
        return not any(group_lives(group) for group in self._groups())

    def reap(self, seconds: float) -> None:
        """After SIGKILL: take the exit code, so that no zombie stays."""
        if self.process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(max(0.0, seconds))

    def _groups(self) -> set[int]:
        return self.old_groups | ({self.process.pid} if self.process is not None else set())


def group_lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
