"""How far each session's transcript has been read, and the lock that keeps parallel hooks apart.

`hook-offsets/<session>.offset`: {"path", "offset", "tail": [bytes, crc32], "parser", "said", "at"}. `tail` is the
checksum of the last bytes before the offset: a transcript that was replaced is noticed even when it has grown, and
one that only moved (a worktree) is read on from where it was.
"""

from __future__ import annotations

import binascii
import os
import time

from argus_api.hooks.parts.base import read_object, safe_name, write_whole

try:
    import fcntl
except ImportError:  # Windows: an exclusive file with an age stands in
    fcntl = None  # type: ignore[assignment]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Optional

    from argus_api.hooks.parts.base import Config

TAIL = 64  # bytes
LOCK_FILES = 64  # never deleted: taking away a file that another process is about to lock would undo the lock
LOCK_STALE_S = 120.0
FORGET_S = 90 * 86400.0


def checksum(data: bytes) -> int:
    return binascii.crc32(data) & 0xFFFFFFFF


def offsets_folder(config: Config) -> str:
    return os.path.join(config.home, "hook-offsets")


def offset_path(config: Config, session: str) -> str:
    return os.path.join(offsets_folder(config), safe_name(session) + ".offset")


def load_offset(config: Config, session: str) -> Dict[str, Any]:
    """The saved state; {} for a session that was never read or whose file is damaged (the server knows repeats)."""
    saved = read_object(offset_path(config, session))
    offset = saved.get("offset")
    return saved if isinstance(offset, int) and not isinstance(offset, bool) and offset >= 0 else {}


def save_offset(config: Config, session: str, saved: Dict[str, Any]) -> bool:
    import json

    saved["at"] = int(time.time())
    return write_whole(offset_path(config, session), json.dumps(saved).encode("ascii"))


def tail_of(fd: int, offset: int) -> List[int]:
    """[bytes, crc32] of what stands just before the offset."""
    length = min(TAIL, offset)
    os.lseek(fd, offset - length, os.SEEK_SET)
    return [length, checksum(os.read(fd, length) if length else b"")]


def still_same(fd: int, size: int, saved: Dict[str, Any]) -> bool:
    """Whether the file goes on from the saved offset: neither shorter nor another text before it."""
    offset = saved.get("offset", 0)
    return bool(offset <= size and saved.get("tail") == tail_of(fd, offset))


def mark_own(config: Config, session: str) -> None:
    """Remember that Argus started this session, so that a later sweep passes its transcript over."""
    if session:
        write_whole(os.path.join(offsets_folder(config), safe_name(session) + ".own"), b"")


def is_own(config: Config, session: str) -> bool:
    return os.path.exists(os.path.join(offsets_folder(config), safe_name(session) + ".own"))


def forget_old_offsets(config: Config, now: float) -> None:
    """Take away what belongs to sessions long gone; one that comes back is read anew, and the server knows it."""
    try:
        with os.scandir(offsets_folder(config)) as entries:
            for entry in entries:
                if entry.name.endswith((".offset", ".own")) and now - entry.stat().st_mtime > FORGET_S:
                    os.unlink(entry.path)
    except OSError:
        return


class OnceAtATime:
    """Tells apart two processes that answer the very same event at the same moment (hooks wired twice).

        with OnceAtATime(config, event_bytes) as first: ...

    The same event again later is another event: only what overlaps counts.
    """

    def __init__(self, config: Config, event: bytes) -> None:
        self._mark = b"%08x" % checksum(event)
        self._path = os.path.join(offsets_folder(config), ".once-%02d" % (checksum(event) % LOCK_FILES))
        self._fd: Optional[int] = None

    def __enter__(self) -> bool:
        if fcntl is None:
            return True
        try:
            os.makedirs(os.path.dirname(self._path), 0o700, exist_ok=True)
            self._fd = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError:
            return True
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return os.pread(self._fd, 8, 0) != self._mark
        os.pwrite(self._fd, self._mark, 0)
        return True

    def __exit__(self, *_: object) -> None:
        if self._fd is not None:
            os.close(self._fd)


class HookLock:
    """A lock by name, for this process; given back when the process ends, whatever ends it.

        with HookLock(config, session, wait_s=1.0) as held:
            if held: ...
    """

    def __init__(self, config: Config, name: str, wait_s: float) -> None:
        self._path = os.path.join(offsets_folder(config), ".lock-%02d" % (checksum(name.encode()) % LOCK_FILES))
        self._wait_s = wait_s
        self._fd: Optional[int] = None
        self._made = False

    def __enter__(self) -> bool:
        until = time.monotonic() + self._wait_s
        while not self._try():
            if time.monotonic() >= until:
                return False
            time.sleep(0.01)
        return True

    def __exit__(self, *_: object) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None
        if self._made:
            os.unlink(self._path)
            self._made = False

    def _try(self) -> bool:
        try:
            os.makedirs(os.path.dirname(self._path), 0o700, exist_ok=True)
            if fcntl is None:
                return self._try_exclusive()
            self._fd = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError:
            return True  # a disk that takes no lock takes no offset either: what is sent twice is known to the server
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except OSError:
            os.close(self._fd)
            self._fd = None
            return False

    def _try_exclusive(self) -> bool:
        path = self._path + ".held"
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o600))
        except FileExistsError:
            if time.time() - os.stat(path).st_mtime < LOCK_STALE_S:
                return False
            os.utime(path)
        self._path, self._made = path, True
        return True
