"""What a child needs so that it never outlives the supervisor."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable

_PR_SET_PDEATHSIG = 1  # linux/prctl.h


def die_with_parent(number: int) -> Callable[[], None] | None:
    """A preexec function: Linux sends the child signal `number` when its parent is gone, also by SIGKILL.

    None where the kernel has no such thing (macOS): there the guard process does the same a moment later. The
    library is loaded here, before the fork: between fork and exec nothing may allocate or import.
    """
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    parent = os.getpid()

    def set_death_signal() -> None:
        prctl(_PR_SET_PDEATHSIG, number, 0, 0, 0)
        if os.getppid() != parent:  # it died between fork and this line
            os._exit(1)

    return set_death_signal
