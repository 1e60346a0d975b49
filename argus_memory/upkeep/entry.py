"""One-time links into the pages: `argus up` prints one, and who follows it within ten minutes is signed in.

A code is a file below the home, named by the code's hash: who can list the files cannot follow the link, and only one
call can take a file away, so that a code works once.
"""

from __future__ import annotations

import hashlib
import secrets
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

FOLDER: Final = "sign-in"
LIVES_FOR: Final = timedelta(minutes=10)
CODE_BYTES: Final = 24


def make_code(home: Path, *, now: datetime) -> str:
    """A new code; those that are over are cleared away. Raises OSError where the home cannot be written."""
    folder = home / FOLDER
    folder.mkdir(mode=0o700, exist_ok=True)
    for old in folder.iterdir():
        if not _holds(old, now):
            old.unlink(missing_ok=True)
    code = secrets.token_urlsafe(CODE_BYTES)
    file = folder / _name(code)
    file.touch(mode=0o600)
    file.write_text((now + LIVES_FOR).isoformat(), encoding="ascii")
    return code


def use_code(home: Path, code: str, *, now: datetime) -> bool:
    """Whether the code was good; it is used up with that."""
    file = home / FOLDER / _name(code)
    holds = _holds(file, now)
    try:
        file.unlink()  # of two calls at once only one succeeds
    except OSError:
        return False
    return holds


def _holds(file: Path, now: datetime) -> bool:
    try:
        until = datetime.fromisoformat(file.read_text(encoding="ascii")).astimezone(UTC)
    except (OSError, ValueError):
        return False
    return now < until <= now + LIVES_FOR


def _name(code: str) -> str:
    return hashlib.sha256(code.encode("utf-8", "replace")).hexdigest()
