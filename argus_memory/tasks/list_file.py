"""Write stanzas into tasks/config.ini: at its end, in one replacement of the file, with their folders."""

from __future__ import annotations

import codecs
import fcntl
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from argus_memory.errors import Conflict, Unreachable, UsageError
from argus_memory.tasks.config_lines import read_lines
from argus_memory.tasks.names import LIST_FILE

MODE_NEW = 0o644


def render_stanza(name: str, values: Mapping[str, str], comments: Sequence[str] = ()) -> str:
    """A stanza as config_lines reads it back; a value of more lines is set in below its key."""
    lines = [f"; {line}" for comment in comments for line in comment.splitlines()]
    lines.append(f"[{name}]")
    for key, value in values.items():
        if "\n" in value:
            lines.append(f"{key} =")
            lines += [f"    {line}".rstrip() for line in value.replace("\r", "").split("\n")]
        else:
            lines.append(f"{key} = {value}")
    return "\n".join(lines) + "\n"


def names_in(folder: Path) -> set[str]:
    """Names of all stanzas, broken ones too."""
    return {section.name for section in read_lines(_read(folder / LIST_FILE)).sections}


def append_stanzas(folder: Path, stanzas: Mapping[str, str], folders: Iterable[str] = ()) -> None:
    """Put these stanzas (name → text) at the end; makes `folders` below `folder` first.

    Raises Conflict when one of the names is there already, Unreachable when the place cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _locked(folder):
            file = (folder / LIST_FILE).resolve()
            data = _read(file)
            if doubled := sorted(names_in(folder) & set(stanzas)):
                raise Conflict(f"{LIST_FILE} has a stanza [{doubled[0]}] already; choose another name")
            for name in folders:
                (folder / name).mkdir(exist_ok=True)
            _replace(file, _joined(data, stanzas.values()))
    except OSError as error:
        raise Unreachable(f"{folder} cannot be written ({error.strerror}); look at its owner and modes") from error


def _joined(data: bytes, texts: Iterable[str]) -> bytes:
    """With the line ends the file has, and one blank line between stanzas."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise UsageError(f"{LIST_FILE} is UTF-16; save it as UTF-8 first")
    end = b"\r\n" if b"\r\n" in data else b"\n"
    body = data.rstrip()
    for text in texts:
        body += (end * 2 if body else b"") + text.encode().rstrip().replace(b"\n", end)
    return body + end


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise Unreachable(f"{file} cannot be read ({error.strerror}); look at its owner and modes") from error


def _replace(file: Path, data: bytes) -> None:
    """The old file or the new one, never half of it; modes and owner are kept where they may be."""
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}-")
    try:
        with os.fdopen(handle, "wb") as target:
            target.write(data)
            target.flush()
            os.fsync(target.fileno())
        temporary = Path(name)
        temporary.chmod(file.stat().st_mode & 0o7777 if file.exists() else MODE_NEW)
        temporary.replace(file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """One writer at a time: two at once would each put back the file without the other's stanza."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
