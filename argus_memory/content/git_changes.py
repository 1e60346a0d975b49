"""What git says of files since a commit. The only door to the `git` program."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Final, Literal

SECONDS: Final = 5.0  # for one question
_COMMIT: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
# A repository's own settings must not run programs, and a question must not write.
_SAFE: Final = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "log.showSignature=false")

Said = Literal["unchanged", "changed", "gone", "unknown"]


@dataclass(frozen=True, slots=True)
class FileChange:
    """`changed_on`: the day of the last commit that touched it since."""

    said: Said
    changed_on: date | None = None


def find_change(common_dir: str, commit: str, path: str) -> FileChange:
    """What became of a file since `commit`; a path that names no folder may stand in any. Never raises: what git
    cannot tell (no such repository, commit or program, another owner, too slow) is unknown."""
    if not _COMMIT.fullmatch(commit) or not Path(common_dir).is_dir():
        return FileChange("unknown")
    spec = f":(top,literal){path}" if "/" in path else f":(top,glob)**/{_escape(path)}"
    told = _git(common_dir, "log", "-1", "--format=%cs", f"{commit}..HEAD", "--", spec)
    if told is None:
        return FileChange("unknown")
    if not told:
        return FileChange("unchanged")
    there = _git(common_dir, "ls-tree", "-r", "--name-only", "HEAD") if "/" not in path else None
    if "/" in path:
        listed = _git(common_dir, "ls-tree", "--name-only", "HEAD", "--", path)
        gone = listed is not None and not listed
    else:
        gone = there is not None and not any(name.rpartition("/")[2] == path for name in there.splitlines())
    return FileChange("gone" if gone else "changed", date.fromisoformat(told))


def _escape(path: str) -> str:
    return re.sub(r"([*?\[\]\\])", r"\\\1", path)


def _git(common_dir: str, *words: str) -> str | None:
    """What it prints; None where it fails."""
    program = shutil.which("git")
    if program is None:
        return None
    place = Path(common_dir)
    folder = place.parent if place.name == ".git" else place
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    try:
        done = subprocess.run(  # noqa: S603  # no shell; every word of a note stands behind `--`
            [program, *_SAFE, "-C", str(folder), *words], capture_output=True, timeout=SECONDS, env=environment,
            check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired, ValueError):
        return None
    return done.stdout.decode("utf-8", "replace").strip() if done.returncode == 0 else None
