"""What the two transcript parsers share: the turn, the line reader, the reasons, and text cleaning.

Standard library only and Python 3.8 on purpose: the text of this file and of the modules listed in the
package's EMBEDDED is carried as it stands by the one-file capture hook, so that the hook yields exactly the
importer's turns. Keep the imports few (a hook's start-up is counted in milliseconds) and module-level names
unique.
"""

from __future__ import annotations

import json
from binascii import crc32

TYPE_CHECKING = False  # the typing module would cost the hook two milliseconds
if TYPE_CHECKING:
    from typing import Any, Callable

# --- reasons: each line of a file is kept as one turn, or counted under exactly one of these
# ------------------
BLANK = "blank"  # an empty line
BAD_JSON = "bad-json"  # a damaged object
CUT_OFF = "cut-off"  # an unterminated last line that is no whole record
NOT_A_RECORD = "not-a-record"  # anything that is no object: scalars, lists, lines of a log
MALFORMED = "malformed"  # a known type whose message is missing or has another shape
UNKNOWN_TYPE = "unknown-type"  # a record type no rule knows
BOOKKEEPING = "bookkeeping"  # snapshots, modes, token counts, contexts, session headers
PROGRESS = "progress"
SYSTEM = "system"
ATTACHMENT = "attachment"
TITLE = "title"  # titles and summaries: metadata, never evidence
SIDECHAIN = "sidechain"  # a subagent's words inside the main file
COMPACTION = "compaction"  # digests of a compaction, and copies of old turns it holds
META = "meta"  # injected by the program: caveats, skill bodies, hook feedback
API_ERROR = "api-error"
COMMAND = "command"  # traces of slash and shell commands
NOTICE = "notice"  # machine notices posing as the user
INTERRUPTED = "interrupted"  # the marker that an answer was cut off: a state, not words
TOOL = "tool"  # tool calls and results alone
THINKING = "thinking"
IMAGE = "image"  # images and documents alone
REFUSAL = "refusal"
RETRACTED = "retracted"  # taken back by a refusal fallback
EMPTY = "empty"  # no text left
REPEATED = "repeated"  # a queued prompt that stands in the file twice
INJECTED = "injected"  # Codex context posing as the user
DEVELOPER = "developer"  # developer and system messages
COPY = "copy"  # the same text from the other of Codex's two sources
SUBAGENT = "subagent"  # a Codex subagent's whole file
INTERNAL = "internal"  # Codex's own jobs: memory, automatic review
UNDECIDED = "undecided"  # held until its source was known, and too much came before that
FORK = "fork"  # the parent's history at the head of a fork

# --- files: of which program, and the reasons to leave one alone whole
# ----------------------------------------
CLAUDE_CODE = "claude-code"
CODEX = "codex"
AGENT_FILE = "agent-file"
JOURNAL = "journal"
TOOL_RESULTS = "tool-results"
SUPERSEDED = "superseded"
HISTORY = "history"
FILE_MARKS = (  # unescaped quotes: a transcript that quotes the other program's has backslashes here
    (CODEX, (b'"session_meta"', b'"response_item"', b'"event_msg"', b'"turn_context"', b'"record_type"')),
    (CLAUDE_CODE, (b'"sessionId"', b'"parentUuid"', b'"isSidechain"', b'"leafUuid"')),
)

PATH_MAX = 4096  # characters of a folder's path
STAMP_MAX = 100  # characters of a time

_REPLACEMENT = "\ufffd"
_EDGES = b" \t\r\0\xef\xbb\xbf"  # blanks, carriage returns, NULs of a crash, byte order marks


class Turn:
    """One visible turn: what a person typed, or one text of an answer.

    `position` is the byte offset of its line; `timestamp` is the record's own ISO text; `meta` holds only
    what the file said (version, branch, phase, …), never None.
    """

    __slots__ = ("cwd", "message_id", "meta", "position", "role", "session", "text", "timestamp", "uuid")

    def __init__(
        self,
        role: str,
        text: str,
        position: int = 0,
        uuid: str | None = None,
        message_id: str | None = None,
        timestamp: str | None = None,
        session: str | None = None,
        cwd: str | None = None,
        meta: dict[str, Any] | None = None,
    ) -> None:
        self.role = role
        self.text = text
        self.position = position
        self.uuid = uuid
        self.message_id = message_id
        self.timestamp = timestamp
        self.session = session
        self.cwd = cwd
        self.meta = meta or {}

    def as_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in Turn.__slots__}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Turn) and self.as_dict() == other.as_dict()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return "Turn(" + ", ".join("%s=%r" % pair for pair in self.as_dict().items()) + ")"


def to_item(
    turn: Turn, source: str, host: str | None, repo: dict[str, Any] | None, session: str | None = None
) -> dict[str, Any]:
    """The item `POST /capture` takes, None values left out. `session` and `repo` are the caller's knowledge:
    the session where the file names none; for `repo` None the repository's address where the file has one."""
    meta = dict(turn.meta)
    remote = meta.pop("remote", None)
    metadata: dict[str, Any] = {
        "role": turn.role,
        "host": host,
        "repo": repo or ({"remote": remote} if remote else None),
        "original_timestamp": turn.timestamp,
        "uuid": turn.uuid,
        "message_id": turn.message_id,
        "position": turn.position,
    }
    metadata.update(meta)
    item = {
        "source": source,
        "kind": "turn",
        "body": turn.text,
        "session": turn.session or session,
        "cwd": turn.cwd,
        "metadata": {key: value for key, value in metadata.items() if value is not None},
    }
    return {key: value for key, value in item.items() if value is not None}


def clean_text(text: str) -> str:
    """Surrounding blanks off; NULs and lone surrogates, which neither Postgres nor UTF-8 takes, replaced."""
    if not text.isascii():
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if "\0" in text:
        text = text.replace("\0", _REPLACEMENT)
    return text.strip()


def text_or_none(value: object, limit: int = 400) -> str | None:
    """A field that should be text: cleaned; None for any other type, for nothing, and for what is longer than such a
    field can be (capture would refuse the turn for it)."""
    if not isinstance(value, str) or len(value) > limit:
        return None
    return clean_text(value) or None


def drop_placeholders(text: str) -> str:
    """Without `[Image #3]` anywhere and `[Image: source: …]` at the start: marks the program put in."""
    while text.startswith("[Image: ") and "]" in text:
        text = text[text.index("]") + 1 :].lstrip()
    start = text.find("[Image #")
    while start >= 0:
        end = text.find("]", start)
        if end > start + 8 and text[start + 8 : end].isdigit():
            before, after = text[:start], text[end + 1 :]
            text = before + (after[1:] if before[-1:] in ("", " ", "\n") and after[:1] == " " else after)
            start = text.find("[Image #", len(before))
        else:
            start = text.find("[Image #", start + 8)
    return text.strip()


def skip_file(path: str) -> str | None:
    """Why a file is left alone whole, by its path; None: look inside."""
    folders = path.replace("\\", "/").split("/")
    name = folders.pop()
    if name == "journal.jsonl":
        return JOURNAL
    if name.startswith("agent-") or "subagents" in folders:
        return AGENT_FILE
    if "tool-results" in folders:
        return TOOL_RESULTS
    if ".superseded-" in name or ".orphaned-" in name:
        return SUPERSEDED
    return HISTORY if name == "history.jsonl" else None


def detect(first_bytes: bytes, path: str = "") -> str | None:
    """The program that wrote the file ("claude-code" or "codex"), by marks in its first bytes, the earliest
    first; by its path where they have none; None: not a transcript."""
    found, best = None, len(first_bytes)
    for program, marks in FILE_MARKS:
        for mark in marks:
            at = first_bytes.find(mark, 0, best)
            if at >= 0:
                found, best = program, at
    if found or not first_bytes.strip(_EDGES + b"\n"):
        return found
    head = b"".join(first_bytes.lstrip(_EDGES + b"\n")[:4096].split(b"\n", 1)[0].split())
    if head.startswith((b'{"session":{', b'{"id":"', b'{"timestamp":"')) and b'"instructions":' in head:
        return CODEX
    plain = path.replace("\\", "/")
    if plain.rsplit("/", 1)[-1].startswith("rollout-") or "/.codex/" in plain:
        return CODEX
    return CLAUDE_CODE if "/.claude/" in plain else None


def strip_credentials(remote: str) -> str:
    """A repository's address without user, password, query and fragment; `git@host:path` stays as it is."""
    scheme, found, rest = remote.partition("://")
    if not found:
        return remote
    rest = rest.split("?", 1)[0].split("#", 1)[0]
    host, slash, path = rest.partition("/")
    return scheme + "://" + host.rpartition("@")[2] + slash + path


def text_key(text: str) -> str:
    """A short mark by which two copies of a text are known, whatever their white space."""
    data = " ".join(text.split()).encode("utf-8", "replace")
    return "%x-%08x" % (len(data), crc32(data))


def decode_record(line: bytes, loads: Callable[[Any], Any]) -> Any:
    """One line's value; raises ValueError when it is no JSON.

    orjson refuses lone surrogates, NaN, huge numbers and bytes that are no UTF-8, where json takes them: what the
    given decoder refuses is read once more by json, bad bytes replaced, so that both give the same value. json
    is never given bytes: it would guess the encoding and pass surrogates.
    """
    try:
        return json.loads(line.decode("utf-8")) if loads is json.loads else loads(line)
    except (ValueError, RecursionError):
        pass
    try:
        return json.loads(line.decode("utf-8", "replace"))
    except RecursionError:
        raise ValueError("nested too deep") from None


class LineReader:
    """Whole lines in, turns out; any split of the bytes over feeds and processes gives the same turns.

    `offset` is the end of the last whole line taken: with `state()` it is all another process needs to go on
    (`state=…, base=offset`, then feed what stands behind the offset). `skipped` counts lines by reason and
    `kept` turns, both of this object alone.
    """

    def __init__(
        self,
        loads: Callable[[Any], Any] = json.loads,
        state: dict[str, Any] | None = None,
        base: int = 0,
    ) -> None:
        self.offset = base
        self.kept = 0
        self.skipped: dict[str, int] = {}
        self.title: str | None = None
        self._loads = loads
        self._rest: list[bytes] = []
        self._restore(state if isinstance(state, dict) else {})

    def feed(self, data: bytes) -> list[Turn]:
        """The turns of the lines that `data` completes; what follows the last newline waits."""
        if b"\n" not in data:
            if data:
                self._rest.append(data)
            return []
        lines = (b"".join(self._rest) + data if self._rest else data).split(b"\n")
        rest = lines.pop()
        self._rest = [rest] if rest else []
        return self._take_lines(lines, BAD_JSON)

    def finish(self) -> list[Turn]:
        """For a file at rest: the last line without newline, if it is a whole record, and what was held back.

        While a file may still grow this is not called: half a line could parse, and a held turn be a copy.
        """
        rest = b"".join(self._rest)
        self._rest = []
        out = self._take_lines([rest], CUT_OFF) if rest.strip(_EDGES) else []
        self.offset -= 1 if rest.strip(_EDGES) else 0  # it had no newline
        self._release(out)
        return out

    def state(self) -> dict[str, Any]:
        """What another process must know besides `offset`; JSON-able and small."""
        raise NotImplementedError

    def skip(self, reason: str) -> None:
        self.skipped[reason] = self.skipped.get(reason, 0) + 1

    def _restore(self, state: dict[str, Any]) -> None:
        raise NotImplementedError

    def _skim(self, line: bytes) -> str | None:
        """A reason to skip the line that its bytes alone prove; None: it must be decoded."""
        raise NotImplementedError

    def _read(self, record: dict[str, Any], position: int, out: list[Turn]) -> str | None:
        """Append the record's turns to `out`, or return the reason why it has none."""
        raise NotImplementedError

    def _release(self, out: list[Turn]) -> None:
        """At the end of a file at rest: what was held back for the sake of later lines."""

    def _settle(self, out: list[Turn]) -> list[Turn]:
        return out

    def _take_lines(self, lines: list[bytes], bad: str) -> list[Turn]:
        out: list[Turn] = []
        skim, read, loads, skipped = self._skim, self._read, self._loads, self.skipped
        for raw in lines:
            line = raw.strip(_EDGES)
            if line.startswith(b"{"):
                reason = skim(line)
                if reason is None:
                    try:
                        record = decode_record(line, loads)
                    except ValueError:
                        reason = bad
                    else:
                        reason = read(record, self.offset, out)
            else:
                reason = NOT_A_RECORD if line else BLANK
            if reason:
                skipped[reason] = skipped.get(reason, 0) + 1
            self.offset += len(raw) + 1
        return self._settle(out)
