"""A small process that outlives the supervisor by a moment: when its pipe closes, it ends every group it knows.

SIGKILL on the supervisor leaves no time to stop anything, and a grandchild (Dagster's own code process, a run) would
outlive it. The guard reads lines from its pipe: `+<pgid> <signal>` watches a process group, `-<pgid>` forgets it.
At the end of the pipe each group gets its signal, and what is left after GRACE_SECONDS gets SIGKILL (Postgres:
SIGQUIT, its immediate stop). Run as a file by `python -I -S`, so it must import the standard library's smallest.
"""

from __future__ import annotations

import os
import signal
import sys
import time

GRACE_SECONDS = 6.0


def alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def send(group: int, number: int) -> None:
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return


def read_groups(lines: object) -> dict[int, int]:
    """The groups still watched when the pipe ended, each with its signal."""
    groups: dict[int, int] = {}
    for line in lines:  # type: ignore[attr-defined]
        words = line.split()
        if len(words) == 2 and words[0].startswith("+"):
            groups[int(words[0][1:])] = int(words[1])
        elif len(words) == 1 and words[0].startswith("-"):
            groups.pop(int(words[0][1:]), None)
    return groups


def end_groups(groups: dict[int, int], grace: float) -> None:
    for group, number in groups.items():
        send(group, number)
    end = time.monotonic() + grace
    while time.monotonic() < end and any(alive(group) for group in groups):
        time.sleep(0.05)
    for group, number in groups.items():
        if alive(group):
            send(group, signal.SIGQUIT if number == signal.SIGINT else signal.SIGKILL)


if __name__ == "__main__":
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    end_groups(read_groups(sys.stdin), GRACE_SECONDS)
