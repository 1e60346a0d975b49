"""One engine's process: in a group of its own, time-limited, its input a file, its output bounded.

The group is ended, with whatever the engine has left behind in it, when the leader ended, when the time is over, when
nothing was written for SILENCE, and when this process is told to end.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import timedelta, tzinfo
from pathlib import Path
from typing import IO, Any, Final
from zoneinfo import ZoneInfo

from argus_memory.models.engines.records import Ended
from argus_memory.settings import OPTIONS

SILENCE: Final = timedelta(minutes=20)  # a tool of an engine may run for ten minutes without a word
GRACE_SECONDS: Final = 5.0  # between SIGTERM and SIGKILL
DRAIN_SECONDS: Final = 2.0  # for output that is still in the pipe after the end
LINE_MAX: Final = 8 * 1024 * 1024  # bytes; a longer line is dropped, it is a tool's output
EVENTS_MAX: Final = 5_000  # the first FIRST and the newest are kept
FIRST: Final = 50
TAIL_CHARS: Final = 20_000  # of stderr and of lines that are no JSON
POLL_SECONDS: Final = 0.05

# Another session's marks would make an engine believe that it runs inside that one.
_FOREIGN: Final = frozenset({"CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT"})
_SECRET: Final = frozenset(option.name for option in OPTIONS if option.secret)


def engine_environment(base: Mapping[str, str], extra: Mapping[str, str], session: str) -> dict[str, str]:
    """What an engine may see: `base` without Argus's own secrets and database, `extra`, and the mark of our sessions.

    The MCP token is in it only when `extra` brings it.
    """
    kept = {
        name: value
        for name, value in base.items()
        if name not in _SECRET and name not in _FOREIGN and not name.startswith("PG")
    }
    return {**kept, **extra, "ARGUS_SESSION": session}


def find_executable(command: str, env: Mapping[str, str]) -> str | None:
    return shutil.which(str(Path(command).expanduser()) if "/" in command else command, path=env.get("PATH"))


def local_zone(env: Mapping[str, str] = os.environ) -> tzinfo:
    """The zone in which programs of this machine write times: TZ, then the system's, then UTC."""
    name = env.get("TZ", "").lstrip(":")
    if not name:
        parts = Path("/etc/localtime").resolve().parts
        name = "/".join(parts[parts.index("zoneinfo") + 1 :]) if "zoneinfo" in parts else "UTC"
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return ZoneInfo("UTC")


def run_process(
    argv: Sequence[str],
    *,
    prompt: Path,
    folder: Path,
    env: Mapping[str, str],
    time_limit: timedelta,
    silence: timedelta = SILENCE,
) -> Ended:
    """Run to the end, however it comes; raises OSError when it cannot be started."""
    started = time.monotonic()
    with prompt.open("rb") as given:
        process = subprocess.Popen(  # noqa: S603 — our own command line, no shell
            list(argv), stdin=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder, env=dict(env),
            process_group=0,
        )  # fmt: skip
    assert process.stdout is not None
    assert process.stderr is not None
    output, errors = _Output(), _Tail()
    readers = [
        threading.Thread(target=_read, args=(process.stdout, output), daemon=True),
        threading.Thread(target=_read, args=(process.stderr, errors), daemon=True),
    ]
    for reader in readers:
        reader.start()
    timed_out = silent = False
    try:
        while process.poll() is None:
            spent = time.monotonic() - started
            silent = time.monotonic() - max(output.at, errors.at) > silence.total_seconds()
            if silent or spent > time_limit.total_seconds():
                timed_out = True
                break
            with suppress(subprocess.TimeoutExpired):
                process.wait(POLL_SECONDS)
    finally:
        _end_group(process)
    for reader in readers:
        reader.join(DRAIN_SECONDS)
    code = process.returncode
    return Ended(
        events=output.events(),
        noise=output.noise.text(),
        stderr=errors.text(),
        exit_code=None if code is not None and code < 0 else code,
        signal=-code if code is not None and code < 0 and not timed_out else None,
        timed_out=timed_out,
        silent=silent and timed_out,
        seconds=time.monotonic() - started,
    )


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """SIGTERM while the leader lives, then SIGKILL for all that is left."""
    if process.poll() is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(GRACE_SECONDS)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


class _Tail:
    """The last TAIL_CHARS of a text; `at` is when something came (monotonic seconds)."""

    def __init__(self) -> None:
        self._parts: deque[str] = deque()
        self._chars = 0
        self.at = time.monotonic()

    def take(self, line: bytes) -> None:
        self.at = time.monotonic()
        self.keep(line.decode("utf-8", "replace"))

    def keep(self, text: str) -> None:
        self._parts.append(text[-TAIL_CHARS:])
        self._chars += len(self._parts[-1])
        while self._chars > TAIL_CHARS and len(self._parts) > 1:
            self._chars -= len(self._parts.popleft())

    def text(self) -> str:
        return "".join(self._parts).strip()


class _Output:
    """stdout line by line: JSON objects, and the rest as text. Tool output is let go at once."""

    def __init__(self) -> None:
        self.at = time.monotonic()
        self.noise = _Tail()
        self._first: list[Mapping[str, Any]] = []
        self._last: deque[Mapping[str, Any]] = deque(maxlen=EVENTS_MAX - FIRST)

    def take(self, line: bytes) -> None:
        self.at = time.monotonic()
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            event = None
        if not isinstance(event, dict):
            if line.strip():
                self.noise.keep(line.decode("utf-8", "replace"))
        elif event.get("type") != "user":  # a tool's result, of any size
            (self._first if len(self._first) < FIRST else self._last).append(event)

    def events(self) -> tuple[Mapping[str, Any], ...]:
        return (*self._first, *self._last)


def _read(stream: IO[bytes], into: _Output | _Tail) -> None:
    """Line by line until the end; of a line above LINE_MAX nothing is kept."""
    too_long = False
    while line := stream.readline(LINE_MAX):
        ends = line.endswith(b"\n")
        if not too_long and (ends or len(line) < LINE_MAX):
            into.take(line)
        else:
            into.at = time.monotonic()
        too_long = not ends
