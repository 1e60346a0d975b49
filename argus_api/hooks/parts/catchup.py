"""The catch-up read: from a session's offset to the end of its transcript, sent, and only then remembered.

No event is trusted to fire and none to come in time, so every event does the same: read what is new, whole lines
only. At rest (SessionEnd, or a file untouched for an hour) a last line without its newline is read too, if it is a
whole record; the offset stays before it, so that nothing is lost if it was not.
"""

from __future__ import annotations

import json
import os
import stat
import time

from argus_api.hooks.parts.base import HOOK_VERSION, host_name, log_event, utc_stamp
from argus_api.hooks.parts.deliver import BATCH_BYTES, BATCH_ITEMS, Delivery, deliver, encode_item
from argus_api.hooks.parts.missed import missed_summary, note_caught_up, note_missed, note_rejected
from argus_api.hooks.parts.offsets import HookLock, load_offset, save_offset, still_same, tail_of
from argus_api.hooks.parts.wire import ask
from argus_memory.transcripts.claude_code import ClaudeCodeParser
from argus_memory.transcripts.codex import CodexParser
from argus_memory.transcripts.common import detect, skip_file, text_key, to_item
from argus_memory.transcripts.exclude import excluded
from argus_memory.transcripts.repo import resolve_repo

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Mapping, Optional

    from argus_api.hooks.parts.base import Config
    from argus_api.hooks.parts.wire import Answer
    from argus_memory.transcripts.common import LineReader, Turn

DETECT_BYTES = 256 * 1024  # a first line can hold an image
READ_BYTES = 2 * 1024 * 1024
CONNECT_S = 0.5
LAG_S = 0.25  # a Stop waits this long for its answer to reach the transcript
LAG_STEP_S = 0.01
REST_S = 3600.0


class Capture:
    """One event's capture: what it knows, how long it may take, and what became of it."""

    def __init__(
        self, config: Config, environment: Mapping[str, str], event: Dict[str, Any], target: str, deadline: float
    ) -> None:
        self.config = config
        self.environment = environment
        self.event = event
        self.target = target
        self.deadline = deadline  # monotonic
        self.host = host_name()
        self.total = Delivery()
        self.hook: Optional[bytes] = None  # the heartbeat, until the server has it
        self.held: Optional[Answer] = None  # why nothing more is sent
        self.unfinished = False  # more to do than the time allowed
        self.lagging = False  # the answer this Stop is about is not in the transcript yet
        self.detached = not hasattr(os, "fork")  # this is the last try: what fails now is missed
        self.excluded_turns = 0
        self._repos: Dict[str, Any] = {}
        self._excluded: Dict[str, bool] = {}

    def left(self) -> float:
        return self.deadline - time.monotonic()

    def post(self, body: bytes) -> Answer:
        return ask(self.config, "POST", "/capture", body, CONNECT_S, max(0.1, self.left()))

    def is_excluded(self, cwd: Optional[str]) -> bool:
        if not cwd:
            return False
        if cwd not in self._excluded:
            self._excluded[cwd] = excluded(cwd, self.config.exclude)
        return self._excluded[cwd]

    def item(self, turn: Turn, target: str, session: str) -> Dict[str, Any]:
        cwd = turn.cwd or ""
        if cwd not in self._repos:
            self._repos[cwd] = resolve_repo(cwd) if cwd else None
        return to_item(turn, target, self.host, self._repos[cwd], session)

    def heartbeat(self, name: str, session: str, cwd: str) -> bytes:
        """The hook object: machine, version and event; the server makes session marks of it."""
        beat: Dict[str, Any] = {
            "host": self.host, "version": HOOK_VERSION, "event": name, "session": session, "target": self.target,
            "cwd": cwd, "at": utc_stamp(time.time()),
        }
        for key in ("reason", "source", "trigger", "error"):
            value = self.event.get(key)
            if isinstance(value, str):
                beat[key] = value[:100]
        missed = missed_summary(self.config, session)
        if missed:
            beat["missed"] = missed
        return encode_item({key: value for key, value in beat.items() if value})

    def send(self, items: List[Dict[str, Any]], with_hook: bool) -> Delivery:
        """Deliver; what is refused for good is logged without its text."""
        result = Delivery()
        names = [str(item["metadata"].get("uuid") or item["metadata"].get("position", "?")) for item in items]
        hook = self.hook if with_hook else None
        if items:
            deliver([encode_item(item) for item in items], names, hook, self.post, result)
        elif hook is not None:
            answer = self.post(b'{"items":[],"hook":' + hook + b"}")
            result.held = None if answer.ok else answer
            result.hook_sent = answer.ok
        if result.hook_sent:
            self.hook = None
        for name, status in result.rejected:
            log_event(self.config, "rejected for good (%d): %s %s" % (status, name, result.why))
        self.total.new += result.new
        self.total.duplicates += result.duplicates
        self.total.skipped += result.skipped
        self.total.rejected += result.rejected
        if result.held is not None:
            self.held = result.held
            self.unfinished = self.unfinished or result.held.late
        return result


def new_parser(target: str, state: Optional[Dict[str, Any]], base: int) -> LineReader:
    return (CodexParser if target == "codex" else ClaudeCodeParser)(json.loads, state, base)


def capture_file(
    capture: Capture, session: str, path: str, target: str, cwd: str = "", words: str = "",
    at_rest: bool = False, with_hook: bool = False, wait_s: float = 0.0,
) -> bool:
    """Read and send what is new in one transcript. False when another hook has it, or it is no transcript.

    `cwd` is where turns that name no folder are taken to belong, for exclusion. `words`: the answer that must be
    in it by now.
    """
    if skip_file(path):
        return False
    with HookLock(capture.config, session, wait_s) as held:
        if not held:
            return False
        try:
            fd = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
        except OSError:
            return False
        try:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                return False
            _Reading(capture, session, path, target, cwd, fd).run(words, at_rest, with_hook)
            return True
        finally:
            os.close(fd)


class _Reading:
    """One transcript being read, its lock held."""

    def __init__(self, capture: Capture, session: str, path: str, target: str, cwd: str, fd: int) -> None:
        self.capture = capture
        self.session = session
        self.path = path
        self.cwd = cwd
        self.fd = fd
        self.saved = load_offset(capture.config, session)
        if self.saved and not still_same(fd, os.fstat(fd).st_size, self.saved):
            log_event(capture.config, "transcript of %s is not the one read before: read from its start" % session)
            self.saved = {}
        self.start = self.saved.get("offset", 0)
        if not self.saved:
            target = detect(os.read(fd, DETECT_BYTES), path) or target
        self.target = self.saved.get("target") or target
        self.parser = new_parser(self.target, self.saved.get("parser"), self.start)
        self.said = self.saved.get("said")
        self.waiting: List[Turn] = []
        os.lseek(fd, self.start, os.SEEK_SET)

    def run(self, words: str, at_rest: bool, with_hook: bool) -> None:
        read = 0
        while True:
            data = os.read(self.fd, READ_BYTES)
            self._take(self.parser.feed(data))
            read += len(data)
            if not data and not (words and not self._has(words) and self._await_growth()):
                break
            if len(self.waiting) >= BATCH_ITEMS or read >= BATCH_BYTES:
                if not self._flush(False):
                    return self._count_rest()
                read = 0
                if self.capture.left() <= 0:
                    self.capture.unfinished = True
                    return None
        self.capture.lagging = bool(words) and not self._has(words)
        if not self._flush(with_hook):
            return None
        if at_rest:
            self._send_rest()
        return note_caught_up(self.capture.config, self.session)

    def _take(self, turns: List[Turn]) -> None:
        for turn in turns:
            if turn.role == "assistant":
                self.said = text_key(turn.text)
            if self.capture.is_excluded(turn.cwd or self.cwd):
                self.capture.excluded_turns += 1
            else:
                self.waiting.append(turn)
        retracted = getattr(self.parser, "retracted", None)
        if retracted:
            self.waiting = [turn for turn in self.waiting if turn.uuid not in retracted]

    def _has(self, words: str) -> bool:
        """Whether the answer is in the transcript: the last one known, or among those just read."""
        if self.said == text_key(words):
            return True
        end = " ".join(words.split())[-200:]
        return any(turn.role == "assistant" and end in " ".join(turn.text.split()) for turn in self.waiting)

    def _await_growth(self) -> bool:
        until = time.monotonic() + min(LAG_S, self.capture.left())
        size = os.lseek(self.fd, 0, os.SEEK_CUR)
        while time.monotonic() < until:
            if os.fstat(self.fd).st_size > size:
                return True
            time.sleep(LAG_STEP_S)
        return False

    def _flush(self, with_hook: bool) -> bool:
        """Send what waits and move the offset past it; False when the server takes nothing now."""
        capture = self.capture
        if self.waiting or (with_hook and capture.hook is not None):
            result = capture.send([capture.item(turn, self.target, self.session) for turn in self.waiting], with_hook)
            if result.rejected:
                note_rejected(capture.config, self.session, len(result.rejected), result.why)
            if result.held is not None:
                self._note_missed()
                return False
        self.waiting = []
        if self.parser.offset != self.start or not self.saved:
            self._save(self.parser.offset)
        return True

    def _save(self, offset: int) -> None:
        place = os.lseek(self.fd, 0, os.SEEK_CUR)
        self.saved = {
            "path": self.path, "target": self.target, "offset": offset, "tail": tail_of(self.fd, offset),
            "parser": self.parser.state(), "said": self.said,
        }
        self.start = offset
        os.lseek(self.fd, place, os.SEEK_SET)
        save_offset(self.capture.config, self.session, self.saved)

    def _send_rest(self) -> None:
        """What a file at rest still holds: a last line that lacks only its newline, turns held for later lines."""
        size = os.fstat(self.fd).st_size
        if self.saved.get("rest") == size:
            return
        self._take(self.parser.finish())
        if self.waiting:
            result = self.capture.send(
                [self.capture.item(turn, self.target, self.session) for turn in self.waiting], False
            )
            if result.held is not None:
                return self._note_missed()
        self.saved["rest"] = size
        save_offset(self.capture.config, self.session, self.saved)
        return None

    def _count_rest(self) -> None:
        """How many turns wait behind the ones that could not be sent, as far as there is time to look."""
        while self.capture.left() > 0:
            data = os.read(self.fd, READ_BYTES)
            if not data:
                break
            self._take(self.parser.feed(data))
        self._note_missed()

    def _note_missed(self) -> None:
        held = self.capture.held
        if self.waiting and held is not None and (self.capture.detached or not held.late):
            note_missed(
                self.capture.config, self.session, len(self.waiting), _epoch(self.waiting[0].timestamp),
                held.reason(),
            )


def _epoch(stamp: Optional[str]) -> float:
    """Seconds since the epoch of an ISO time; now for none or a damaged one. Off the fast path: datetime is slow."""
    import datetime

    try:
        when = datetime.datetime.fromisoformat((stamp or "").strip().replace("Z", "+00:00"))
    except ValueError:
        return time.time()
    return (when if when.tzinfo else when.replace(tzinfo=datetime.timezone.utc)).timestamp()


def is_at_rest(path: str, now: float) -> bool:
    try:
        return now - os.stat(path).st_mtime > REST_S
    except OSError:
        return False
