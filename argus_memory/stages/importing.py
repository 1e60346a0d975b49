"""Import: transcripts that lie around in files and folders become raw items, as if a hook had sent them.

1. Find the files, newest first; leave alone what is no main transcript, and say why.
2. Read each through the parser of its program, to its end.
3. Send its turns to `accept` in requests of up to CAPTURE_MAX_ITEMS items; what capture knows already comes back as
   a duplicate, so an import can be repeated at any time.

An unreadable file or an item refused for good is counted and the rest goes on; a database that is away ends it.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import orjson
import zstandard

from argus_memory.errors import InvalidItem, UsageError
from argus_memory.records import Receipt
from argus_memory.settings import CAPTURE_MAX_ITEMS
from argus_memory.transcripts import ClaudeCodeParser, CodexParser, LineReader, Turn, detect, skip_file, to_item
from argus_memory.transcripts.common import CLAUDE_CODE, CODEX
from argus_memory.transcripts.exclude import excluded
from argus_memory.transcripts.repo import resolve_repo

AUTO = "auto"
SOURCES = (AUTO, CLAUDE_CODE, CODEX)
SUFFIXES = (".jsonl", ".jsonl.zst", ".json")
READ_BYTES = 4 * 1024 * 1024  # a read; progress is told after each
DETECT_BYTES = 1024 * 1024  # a first line can hold an image
BATCH_CHARS = 16 * 1024 * 1024  # of text a request, so that a file of huge turns stays small in memory
UUID_CHARS = 36

# Reasons of the importer's own, beside those of the transcripts.
NOT_A_FILE = "not-a-file"
NOT_A_TRANSCRIPT = "not-a-transcript"
EMPTY_FILE = "empty-file"
EXCLUDED = "excluded"

Accept = Callable[[list[dict[str, Any]]], Sequence[Receipt]]


@dataclass(frozen=True, slots=True)
class TranscriptFile:
    """A file to read: its size in bytes on disk and when it last changed (seconds since the epoch)."""

    path: Path
    size: int
    changed_at: float


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import did. Turns are `new`, `duplicate`, `not_stored` (by capture's reason) or `rejected`; in a dry
    run none of these, only `turns`. `skipped` counts lines of transcripts by reason, `files_skipped` files."""

    files: int = 0
    turns: int = 0
    new: int = 0
    duplicate: int = 0
    rejected: int = 0
    not_stored: Mapping[str, int] = field(default_factory=dict)
    skipped: Mapping[str, int] = field(default_factory=dict)
    files_skipped: Mapping[str, int] = field(default_factory=dict)
    by_source: Mapping[str, int] = field(default_factory=dict)
    unreadable: tuple[tuple[str, str], ...] = ()
    refusals: tuple[str, ...] = ()
    bytes: int = 0
    seconds: float = 0.0
    dry_run: bool = False


def find_transcripts(paths: Iterable[Path], globs: Sequence[str] = ()) -> tuple[list[TranscriptFile], Counter[str]]:
    """(files, newest first; how many were left alone by reason). A file named itself is taken whatever its suffix.

    Raises UsageError for a path that does not exist.
    """
    found: dict[str, TranscriptFile] = {}
    left: Counter[str] = Counter()
    shut: dict[str, bool] = {}
    for named in paths:
        if not named.exists():
            raise UsageError(f"{named}: no such file or folder; name a transcript or a folder that holds some")
        for path in _walk(named) if named.is_dir() else [named]:
            key = os.path.realpath(path)
            if key in found:
                continue
            folder = str(path.absolute().parent)
            if folder not in shut:
                shut[folder] = excluded(folder, globs)
            reason = EXCLUDED if shut[folder] else skip_file(str(path))
            if reason is None and not path.is_file():
                reason = NOT_A_FILE  # a pipe would hold the import for ever, a broken link leads nowhere
            if reason:
                left[reason] += 1
            else:
                status = path.stat()
                found[key] = TranscriptFile(path, status.st_size, status.st_mtime)
    return sorted(found.values(), key=lambda file: (-file.changed_at, str(file.path))), left


def import_files(
    files: Iterable[TranscriptFile],
    accept: Accept | None,
    *,
    source: str = AUTO,
    globs: Sequence[str] = (),
    host: str | None = None,
    progress: Callable[[int], None] = lambda count: None,
) -> ImportReport:
    """Read the files and send their turns to `accept`; without it (a dry run) they are only counted.

    `progress` is told the bytes on disk that were dealt with since it was last told. Raises what `accept` raises,
    save InvalidItem.
    """
    started = time.monotonic()
    run = _Import(accept, source, globs, host)
    for file in files:
        run.read(file, progress)
    run.flush()
    return run.report(time.monotonic() - started)


def read_transcript(
    path: Path, source: str, progress: Callable[[int], None] = lambda count: None
) -> tuple[LineReader, list[Turn]]:
    """The parser at the end of the file, and its turns. Raises OSError, ValueError or zstandard.ZstdError."""
    if source == CODEX and path.suffix == ".json":
        codex = CodexParser(orjson.loads)
        data = path.read_bytes()
        turns = codex.feed_document(data)
        progress(len(data))
        return codex, turns
    parser = (CodexParser if source == CODEX else ClaudeCodeParser)(orjson.loads)
    turns = []
    with path.open("rb") as raw, _plain(raw, path) as stream:
        told = 0
        while data := stream.read(READ_BYTES):
            turns += parser.feed(data)
            progress(raw.tell() - told)
            told = raw.tell()
    turns += parser.finish()
    taken_back = getattr(parser, "retracted", None)
    return parser, [turn for turn in turns if turn.uuid not in taken_back] if taken_back else turns


def detect_source(path: Path) -> str | None:
    """The program that wrote the file, by its first bytes. Raises OSError or zstandard.ZstdError."""
    with path.open("rb") as raw, _plain(raw, path) as stream:
        first = stream.read(DETECT_BYTES)
    if path.suffix == ".json":  # whole documents: only Codex wrote its sessions so
        return CODEX if b"".join(first[:4096].split()).startswith(b'{"session":{') else None
    return detect(first, str(path.absolute()))


def session_of(path: Path) -> str:
    """The session a file is named after, for records that name none."""
    stem = path.name.partition(".")[0]
    last = stem[-UUID_CHARS:]
    return last if last.count("-") == 4 and stem.startswith("rollout-") else stem


class _Import:
    """One import's sums, and the items that wait for the next request."""

    def __init__(self, accept: Accept | None, source: str, globs: Sequence[str], host: str | None) -> None:
        self.accept = accept
        self.source = source
        self.globs = globs
        self.host = host
        self.waiting: list[dict[str, Any]] = []
        self.chars = 0
        self.counts: Counter[str] = Counter()
        self.not_stored: Counter[str] = Counter()
        self.skipped: Counter[str] = Counter()
        self.files_skipped: Counter[str] = Counter()
        self.by_source: Counter[str] = Counter()
        self.unreadable: list[tuple[str, str]] = []
        self.refusals: list[str] = []
        self.places: dict[str, tuple[bool, bool, dict[str, Any] | None]] = {}

    def read(self, file: TranscriptFile, progress: Callable[[int], None]) -> None:
        told = 0

        def tell(count: int) -> None:
            nonlocal told
            told += count
            progress(count)

        try:
            source = detect_source(file.path)
            if self.source != AUTO and file.path.suffix != ".json":
                source = self.source
            if source is None:
                self.files_skipped[NOT_A_TRANSCRIPT if file.size > 1 else EMPTY_FILE] += 1
            else:
                parser, turns = read_transcript(file.path, source, tell)
                self.take(file, source, parser, turns)
        except (OSError, ValueError, zstandard.ZstdError) as error:
            self.unreadable.append((str(file.path), str(error) or type(error).__name__))
        progress(file.size - told)

    def take(self, file: TranscriptFile, source: str, parser: LineReader, turns: list[Turn]) -> None:
        self.counts["files"] += 1
        self.counts["bytes"] += file.size
        self.counts["turns"] += len(turns)
        self.by_source[source] += len(turns)
        self.skipped.update(parser.skipped)
        session = session_of(file.path)
        for turn in turns:
            shut, here, repo = self.place(turn.cwd)
            if shut:
                self.not_stored[EXCLUDED] += 1
                continue
            self.waiting.append(to_item(turn, source, self.host if here else None, repo, session))
            self.chars += len(turn.text)
            if len(self.waiting) >= CAPTURE_MAX_ITEMS or self.chars >= BATCH_CHARS:
                self.flush()

    def place(self, cwd: str | None) -> tuple[bool, bool, dict[str, Any] | None]:
        """(kept out, on this machine, repository) of a folder; files from another machine name folders that are
        not here."""
        if cwd is None:
            return False, False, None
        if cwd not in self.places:
            self.places[cwd] = (excluded(cwd, self.globs), Path(cwd).is_dir(), resolve_repo(cwd))
        return self.places[cwd]

    def flush(self) -> None:
        items, self.waiting, self.chars = self.waiting, [], 0
        if self.accept is not None:
            self.send(items, self.accept)

    def send(self, items: list[dict[str, Any]], accept: Accept) -> None:
        """One request; it is all or nothing, so without an item that is refused the others are sent again."""
        while items:
            try:
                receipts = accept(items)
            except InvalidItem as error:
                if error.index is None and len(items) > 1:
                    self.send(items[: len(items) // 2], accept)
                    items = items[len(items) // 2 :]
                    continue
                place = error.index or 0
                self.counts["rejected"] += 1
                self.refusals.append(f"session {items[place].get('session')}: {error}")
                items = items[:place] + items[place + 1 :]
                continue
            for receipt in receipts:
                if receipt.skipped:
                    self.not_stored[receipt.skipped] += 1
                else:
                    self.counts["duplicate" if receipt.duplicate else "new"] += 1
            return

    def report(self, seconds: float) -> ImportReport:
        return ImportReport(
            files=self.counts["files"],
            turns=self.counts["turns"],
            new=self.counts["new"],
            duplicate=self.counts["duplicate"],
            rejected=self.counts["rejected"],
            not_stored=dict(self.not_stored),
            skipped=dict(self.skipped.most_common()),
            files_skipped=dict(self.files_skipped),
            by_source=dict(self.by_source),
            unreadable=tuple(self.unreadable),
            refusals=tuple(self.refusals),
            bytes=self.counts["bytes"],
            seconds=seconds,
            dry_run=self.accept is None,
        )


def _walk(folder: Path) -> Iterator[Path]:
    for parent, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            if name.endswith(SUFFIXES):
                yield Path(parent) / name


def _plain(raw: BinaryIO, path: Path) -> BinaryIO:
    """The file's plain bytes; rollouts that have rested for long are compressed."""
    if path.suffix != ".zst":
        return raw
    stream: BinaryIO = zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True, closefd=False)
    return stream
