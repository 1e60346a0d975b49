"""The folders and files below `$ARGUS_HOME` that the hub keeps, and the one lock that says who runs it.

    env                    settings and tokens, mode 0600
    argus.lock             locked by the running hub (or by a command that started the database for itself)
    run/state.json         what runs: pids, ports, restarts; written by the supervisor, read by `argus status`
    logs/<service>.log     output of each service, rotated by size
    postgres/  dagster/    the embedded cluster; DAGSTER_HOME
"""

from __future__ import annotations

import fcntl
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from argus_cli.private_file import write_private
from argus_memory.errors import AlreadyRunning, Unreachable

PROJECT_ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True)
class Home:
    """Where things lie below one `$ARGUS_HOME`."""

    root: Path

    @property
    def lock(self) -> Path:
        return self.root / "argus.lock"

    @property
    def state(self) -> Path:
        return self.root / "run" / "state.json"

    @property
    def logs(self) -> Path:
        return self.root / "logs"

    @property
    def postgres(self) -> Path:
        return self.root / "postgres"

    @property
    def dagster(self) -> Path:
        return self.root / "dagster"

    def make(self) -> None:
        """Create the folders, closed to other users; a folder that exists keeps its modes."""
        try:
            for folder in (self.root, self.state.parent, self.logs, self.dagster):
                folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            reason = error.strerror or error
            raise Unreachable(
                f"{error.filename} cannot be made ({reason}): set ARGUS_HOME to a folder that can"
            ) from None

    def write_state(self, state: dict[str, Any]) -> None:
        write_private(self.state, json.dumps(state, indent=1) + "\n")

    def read_state(self) -> dict[str, Any]:
        """What the running supervisor last wrote; empty where none runs (a killed one leaves its file behind)."""
        holder = self.holder()
        if holder is None:
            return {}
        try:
            state: dict[str, Any] = json.loads(self.state.read_text("utf-8"))
        except (FileNotFoundError, PermissionError, ValueError):
            return {}
        return state if state.get("pid") == holder else {}

    def holder(self) -> int | None:
        """The pid of the process that holds the lock, None when nobody does; 0 when it did not say."""
        try:
            with self.lock.open("r") as file:
                try:
                    fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                except BlockingIOError:
                    text = file.read().strip()
                    return int(text) if text.isdigit() else 0
        except FileNotFoundError:
            return None
        except PermissionError:
            raise Unreachable(f"{self.lock} cannot be read by this user: call argus as its owner") from None
        return None


class HomeLock:
    """The lock of one home, held until release() or the end of the process; raises AlreadyRunning."""

    def __init__(self, home: Home) -> None:
        self._file = home.lock.open("a+")
        home.lock.chmod(0o600)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.seek(0)
            pid = self._file.read().strip() or "unknown"
            self._file.close()
            raise AlreadyRunning(
                f"another Argus (process {pid}) runs on {home.root}: `argus status` shows it, `argus down` stops it"
            ) from None
        self._file.truncate(0)
        self._file.write(f"{os.getpid()}\n")
        self._file.flush()

    def release(self) -> None:
        self._file.truncate(0)
        self._file.close()
