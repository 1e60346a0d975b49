"""What the guard asks of the system: streams, processes, the spool. Standard library only."""

import base64
import fcntl
import json
import os
import sys
from pathlib import Path
from typing import Any

CHUNK = 256 * 1024  # bytes a read; a pipe of the same size lets a task that prints a lot run at its own speed
WINDOW = 64 * 1024  # bytes kept of each stream: secrets are masked in it before it is cut to the tail that is kept
F_SETPIPE_SZ = 1031
LINUX = sys.platform.startswith("linux")


class Stream:
    """The last WINDOW bytes of one output of the task, and how many there were."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.tail = b""
        self.bytes = 0
        self.open = True
        os.set_blocking(fd, False)
        if LINUX:
            try:
                fcntl.fcntl(fd, F_SETPIPE_SZ, CHUNK)
            except OSError:  # above this user's share of pipe memory: the ordinary size does
                self.open = True

    def read(self) -> bool:
        """Take what is there; False when there was nothing, or the end."""
        try:
            data = os.read(self.fd, CHUNK)
        except BlockingIOError:
            return False
        except OSError:
            data = b""
        if not data:
            self.open = False
            return False
        self.bytes += len(data)
        self.tail = data[-WINDOW:] if len(data) >= WINDOW else (self.tail + data)[-WINDOW:]
        return True

    def report(self) -> dict[str, Any]:
        return {"bytes": self.bytes, "tail": base64.b64encode(self.tail).decode()}


def describe_start(error: Exception, folder: str) -> str:
    """Why the first process could not be made, for a person."""
    if isinstance(error, FileNotFoundError | NotADirectoryError) and not Path(folder).is_dir():
        return f"its folder {folder} is not there"
    if isinstance(error, PermissionError) and not os.access(folder, os.X_OK):
        return f"its folder {folder} may not be entered by this user"
    return f"it could not be started: {error}"


def descendants(root: int) -> list[int]:
    """Processes below `root`, dead ones that wait for their parent left out."""
    children: dict[int, list[int]] = {}
    dead = set()
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit():
            continue
        try:
            stat = Path(entry.path, "stat").read_bytes()
        except OSError:  # it ended meanwhile
            continue
        state, parent = stat[stat.rindex(b")") + 2 :].split(None, 2)[:2]
        children.setdefault(int(parent), []).append(int(entry.name))
        if state in b"ZX":
            dead.add(int(entry.name))
    found: list[int] = []
    queue = [root]
    while queue:
        below = children.get(queue.pop(), [])
        found += [pid for pid in below if pid not in dead]
        queue += below
    return found


def send(kill: Any, pid: int, number: int) -> bool:
    """Whether there was somebody to hear it."""
    try:
        kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def read_oom_kills() -> int:
    """How often the kernel's out-of-memory killer struck since the machine started; 0 where that cannot be read."""
    try:
        lines = Path("/proc/vmstat").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("oom_kill ")), 0)


def write_spool(path: Path, report: dict[str, Any]) -> None:
    """Whole or not at all, for this user only."""
    part = path.with_suffix(".part")
    fd = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(fd, "w") as file:
        json.dump(report, file)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
