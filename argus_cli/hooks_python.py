"""Which Python the hooks run under: a real file, not a shim that starts a version manager at every event."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from argus_memory.errors import UsageError

_CELLAR = re.compile(r"^(?P<prefix>/.+)/Cellar/(?P<formula>[^/]+)/[^/]+/bin/(?P<name>[^/]+)$")


def stable_path(path: Path, exists: bool) -> Path:
    """Homebrew's real files carry a patch version that goes with the next upgrade; its `opt` link stays."""
    match = _CELLAR.match(str(path))
    if match and exists:
        return Path(match["prefix"], "opt", match["formula"], "bin", match["name"])
    return path


def find_python() -> Path:
    """The interpreter behind the one that runs now: past a virtual environment, symbolic links and shims."""
    base = getattr(sys, "_base_executable", None) or sys.executable
    real = Path(base).resolve()
    link = stable_path(real, exists=True)
    return link if link.exists() else real


def check_python(python: Path) -> None:
    """Raises UsageError unless this is a Python 3.8 or later that starts the way the hooks are started."""
    probe = "import sys,json,socket;sys.exit(0 if sys.version_info>=(3,8) else 9)"
    try:
        ended = subprocess.run([str(python), "-I", "-S", "-c", probe], capture_output=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        raise UsageError(f"{python} cannot be run; name a Python 3.8 or later with --python") from None
    if ended.returncode != 0:
        raise UsageError(f"{python} is not a Python 3.8 or later; name one with --python")
