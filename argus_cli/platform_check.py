"""Which machines Argus runs on: those the embedded database and models have binaries for."""

from __future__ import annotations

import platform
import sys

from argus_memory.errors import Unreachable

SUPPORTED = {("Linux", "x86_64"), ("Linux", "aarch64"), ("Linux", "arm64"), ("Darwin", "arm64")}
PYTHONS = ((3, 11), (3, 14))  # from, below


def check_platform(system: str | None = None, machine: str | None = None) -> None:
    """Raises Unreachable with one sentence on a machine or Python that is not supported."""
    system, machine = system or platform.system(), machine or platform.machine()
    if (system, machine) not in SUPPORTED:
        raise Unreachable(
            f"Argus runs on Linux (x86-64, arm64) and macOS (arm64), and this is {system} on {machine}:"
            " use one of those, or the containers of compose.yaml"
        )
    check_python((sys.version_info[0], sys.version_info[1]))


def check_python(version: tuple[int, int]) -> None:
    low, high = PYTHONS
    if not low <= version < high:
        raise Unreachable(
            f"Argus runs on Python 3.11 to 3.13, and this is {version[0]}.{version[1]}: set PYTHON=python3.12,"
            " for instance, and run `make up` again"
        )
