"""The services' log files: appended to by the services themselves, cut by the supervisor when they grow."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import IO

MAX_BYTES = 10 * 1024 * 1024  # a service and generation
GENERATIONS = 2  # .1 and .2 beside the live file


def open_log(path: Path) -> IO[bytes]:
    """For appending (O_APPEND): after a cut the writer goes on at the new end."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    return path.open("ab")


def rotate(path: Path, *, max_bytes: int = MAX_BYTES, generations: int = GENERATIONS) -> bool:
    """Copy and cut in place when over the limit; returns whether it was done.

    The writer keeps its handle, so renaming would let it write on into the old file. Lines written between copy
    and cut are lost; that is the price for not standing between a service and its log.
    """
    try:
        if path.stat().st_size <= max_bytes:
            return False
    except FileNotFoundError:
        return False
    for number in range(generations, 1, -1):
        older = path.with_name(f"{path.name}.{number - 1}")
        if older.exists():
            older.replace(path.with_name(f"{path.name}.{number}"))
    shutil.copyfile(path, path.with_name(f"{path.name}.1"))
    with path.open("r+b") as file:
        file.truncate(0)
    return True


def last_line(path: Path) -> str:
    """The last line with text in it, for a sentence about a service that died; empty when there is none."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - 4096))
            lines = file.read().decode("utf-8", "replace").strip().splitlines()
    except FileNotFoundError:
        return ""
    return lines[-1].strip() if lines else ""
