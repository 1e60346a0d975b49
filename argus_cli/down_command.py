"""`argus down`: ask the supervisor of this home to stop, and wait until it is gone."""

from __future__ import annotations

import argparse
import os
import signal
import time

from argus_cli.home import Home
from argus_memory.errors import Unreachable
from argus_memory.settings import load_settings

WAIT_SECONDS = 40.0  # the supervisor itself takes at most 15 s


def add_arguments(parser: argparse.ArgumentParser) -> None:
    return None


def run(arguments: argparse.Namespace) -> int:
    home = Home(load_settings().home)
    pid = home.holder()
    if pid is None:
        print(f"argus      was not running on {home.root}")
        return 0
    if pid == 0:
        raise Unreachable(f"{home.lock} is held by a process that did not say its number: stop it by hand")
    stop(home, pid)
    print(f"argus      stopped (process {pid})")
    return 0


def stop(home: Home, pid: int) -> None:
    """SIGTERM, then wait for the lock; raises Unreachable when it stays or belongs to somebody else."""
    try:
        os.kill(pid, signal.SIGTERM)
    except ProcessLookupError:
        return
    except PermissionError:
        raise Unreachable(f"process {pid} belongs to another user: call `argus down` as that user") from None
    end = time.monotonic() + WAIT_SECONDS
    while home.holder() == pid:
        if time.monotonic() > end:
            raise Unreachable(f"process {pid} did not stop within {WAIT_SECONDS:.0f} s: see {home.logs}")
        time.sleep(0.1)
