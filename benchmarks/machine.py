"""The line every figure is printed under: a number means nothing without its machine."""

from __future__ import annotations

import os
import platform
from pathlib import Path


def describe_machine() -> str:
    """System, processor, number of cores, Python, and how busy it was at the start."""
    model = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass  # not Linux: the processor's general name stands
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    system, python = f"{platform.system()} {platform.machine()}", platform.python_version()
    return f"{system}, {model}, {os.cpu_count()} cores, Python {python}{load}"
