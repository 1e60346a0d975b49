"""Writing into a person's settings file so that it can be given back as it was.

`$ARGUS_HOME/hooks-installed.json` (0600) holds, for each file changed: its bytes before, and the checksum of what was
written. While nobody else has changed it since, taking the hooks out restores those bytes; else only our entries go.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from argus_memory.errors import Unreachable, UsageError


@dataclass(frozen=True, slots=True)
class Document:
    """A file as read: `raw` is None where there is none; `text` is without its byte-order mark."""

    path: Path
    raw: bytes | None
    text: str
    mark: str = ""

    def encode(self, text: str) -> bytes:
        return (self.mark + text).encode()


def read_document(path: Path) -> Document:
    """Raises UsageError for a file that is not UTF-8, Unreachable for one that cannot be read."""
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        return Document(path, None, "")
    except OSError as error:
        raise Unreachable(f"{path} cannot be read ({error.strerror}); correct its permissions") from None
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not UTF-8 text; correct it, then run this again") from None
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    return Document(path, raw, text.removeprefix(mark), mark)


def write_document(path: Path, data: bytes | None, mode: int = 0o600) -> None:
    """Replace the file in one step, through a symbolic link where it is one, keeping its mode; None removes it."""
    real = path.resolve()
    if data is None:
        real.unlink(missing_ok=True)
        return
    part: str | None = None
    try:
        real.parent.mkdir(parents=True, exist_ok=True)
        if real.exists():
            mode = real.stat().st_mode & 0o777
        fd, part = tempfile.mkstemp(dir=real.parent, prefix=f".{real.name}.")
        with os.fdopen(fd, "wb") as file:
            file.write(data)
        Path(part).chmod(mode)
        Path(part).replace(real)
    except OSError as error:
        if part:
            Path(part).unlink(missing_ok=True)
        raise Unreachable(f"{path} cannot be written ({error.strerror}); correct its permissions") from None


def checksum(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class Records:
    """What was changed where, by absolute path."""

    def __init__(self, home: Path) -> None:
        self._path = home / "hooks-installed.json"
        try:
            found = json.loads(self._path.read_bytes())
        except (OSError, ValueError):
            found = {}
        self._entries: dict[str, dict[str, str | None]] = found if isinstance(found, dict) else {}

    def original(self, document: Document) -> tuple[bool, bytes | None]:
        """Whether the file is still as we left it, and if so its bytes before us (None: there was no file)."""
        entry = self._entries.get(str(document.path.absolute()))
        if entry is None or document.raw is None or entry.get("written") != checksum(document.raw):
            return False, None
        before = entry.get("before")
        return True, None if before is None else base64.b64decode(before)

    def keep(self, document: Document, before: bytes | None, written: bytes) -> None:
        """Remember a change; `before` is what taking it back restores."""
        self._entries[str(document.path.absolute())] = {
            "before": None if before is None else base64.b64encode(before).decode(),
            "written": checksum(written),
        }
        self._save()

    def forget(self, document: Document) -> None:
        if self._entries.pop(str(document.path.absolute()), None) is not None:
            self._save()

    def _save(self) -> None:
        if self._entries:
            write_document(self._path, json.dumps(self._entries, indent=1).encode())
        else:
            self._path.unlink(missing_ok=True)
