#!/usr/bin/env python3
"""Argus' capture hook: sends what was newly said in a session to Argus.

Generated: edit the modules named below, then run `make hooks`. One file, standard library only, Python 3.8 or later.

The program stands in BODY. A script is compiled anew at every start, which would cost twice what all else does:
so this short text reads BODY's compiled form from __pycache__, and Python keeps that as it keeps a module's.
Where the folder is closed to writing, BODY is compiled each time.
"""

BODY = r'''
from __future__ import annotations


# ==== transcripts/common.py: What the two transcript parsers share: the turn, the line reader, the reasons, and text cleaning.

import json
from binascii import crc32


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


# ==== transcripts/claude_text.py: What a person typed, in the texts of a Claude Code user record. Pure; Python 3.8; carried by the hook.

COMPACT_START = "This session is being continued from a previous conversation that ran out of context"
INTERRUPT_TEXTS = ("[Request interrupted by user]", "[Request interrupted by user for tool use]")
META_STARTS = (  # not always flagged as such
    "Caveat: The messages below were generated by the user while running local commands",
    "Base directory for this skill:",
    "Stop hook feedback:",
)
COMMAND_TAGS = (
    "command-name",
    "command-message",
    "command-args",
    "command-contents",
    "local-command-stdout",
    "local-command-stderr",
    "local-command-caveat",
    "bash-input",
    "bash-stdout",
    "bash-stderr",
    "user-memory-input",
)
NOTICE_TAGS = (
    "task-notification",
    "teammate-message",
    "cross-session-message",
    "agent-message",
    "user-prompt-submit-hook",
)
MACHINE_TAGS = ("system-reminder", "ide_opened_file", "ide_selection", "ide_diagnostics")
# Commands whose arguments are words to the model; of any other command they may be options or paths.
PROSE_COMMANDS = ("plan", "ultraplan", "goal", "batch", "btw")


def starts_with_tag(text: str, tags: tuple[str, ...]) -> bool:
    """Whether the text opens with one of these tags, with or without attributes."""
    if not text.startswith("<"):
        return False
    return any(text.startswith(tag, 1) and text[len(tag) + 1 :][:1] in (">", " ", "\n", "/") for tag in tags)


def between(text: str, opening: str, closing: str) -> str:
    start = text.find(opening)
    end = text.find(closing, start)
    return text[start + len(opening) : end].strip() if 0 <= start < end else ""


def drop_machine_blocks(text: str) -> str:
    """Without the blocks of editor and program before and after the typed words.

    A block left open is dropped to its end. One in the middle stays: that is the person, quoting.
    """
    while starts_with_tag(text, MACHINE_TAGS):
        closing = "</" + text[1:].split(">", 1)[0].split()[0] + ">"
        text = text.partition(closing)[2].lstrip()
    trimmed = True
    while trimmed:
        trimmed = False
        for tag in MACHINE_TAGS:
            start = text.rfind("<" + tag) if text.endswith("</" + tag + ">") else -1
            if start >= 0:
                text = text[:start].rstrip()
                trimmed = True
    return text


def typed_text(blocks: list[str]) -> tuple[str, str, str]:
    """(words, reason, command): what the person typed in a record's texts, or why there is nothing.

    One trace or notice among the texts makes the whole record the machine's: what stands beside it is in
    doubt.
    """
    kept, reason = [], EMPTY
    for block in blocks:
        whole = clean_text(block)
        text = drop_machine_blocks(whole)
        if text in INTERRUPT_TEXTS:
            reason = INTERRUPTED
        elif text.startswith(COMPACT_START):
            return "", COMPACTION, ""
        elif text.startswith(META_STARTS):
            return "", META, ""
        elif starts_with_tag(text, COMMAND_TAGS):
            command = between(text, "<command-name>", "</command-name>").lstrip("/")
            words = between(text, "<command-args>", "</command-args>") if command in PROSE_COMMANDS else ""
            return words, "" if words else COMMAND, command
        elif starts_with_tag(text, NOTICE_TAGS):
            return "", NOTICE, ""
        elif text:
            text = drop_placeholders(text)
            if text:
                kept.append(text)
            else:
                reason = IMAGE
        elif whole:
            reason = META
    return "\n\n".join(kept), "" if kept else reason, ""


def split_content(content: Any) -> tuple[list[str], str]:
    """The texts of a message's content (text or blocks), and what the message counts as when it has none."""
    if isinstance(content, str):
        return [content], EMPTY
    if not isinstance(content, list):
        return [], MALFORMED
    texts, other = [], EMPTY
    for block in content:
        kind = block.get("type") if isinstance(block, dict) else None
        if kind == "text" and isinstance(block.get("text"), str):
            texts.append(block["text"])
        elif kind in ("tool_result", "tool_use"):
            other = TOOL
        elif kind in ("image", "document"):
            other = IMAGE
        elif kind in ("thinking", "redacted_thinking"):
            other = THINKING
        elif other == EMPTY:
            other = MALFORMED
    return texts, other


# ==== transcripts/claude_code.py: Claude Code transcripts, versions 1.0 to 2.1: lines to visible turns. Pure; Python 3.8; carried by the

CLAUDE_TYPES = {  # record types without words, and what they count as
    "progress": PROGRESS,
    "system": SYSTEM,
    "attachment": ATTACHMENT,
    "summary": TITLE,  # at the top of a file they belong to other sessions
    "custom-title": TITLE,
    "ai-title": TITLE,
    "agent-name": TITLE,
    "queue-operation": BOOKKEEPING,
    "file-history-snapshot": BOOKKEEPING,
    "file-history-delta": BOOKKEEPING,
    "permission-mode": BOOKKEEPING,
    "mode": BOOKKEEPING,
    "last-prompt": BOOKKEEPING,
    "pr-link": BOOKKEEPING,
    "cost-state": BOOKKEEPING,
    "started": BOOKKEEPING,
    "result": BOOKKEEPING,
}
NO_CONTENT = "(no content)"  # what old versions wrote for an answer without text
RETRACTED_MAX = 256  # uuids remembered
QUEUED_MAX = 32  # queued prompts waiting for their second record


class ClaudeCodeParser(LineReader):
    """See LineReader. `retracted` holds the uuids a refusal fallback took back: turns of the same feed are
    dropped here; those of earlier feeds are with the caller already, who may look."""

    def state(self) -> dict[str, Any]:
        return {
            "session": self._session,
            "cwd": self._cwd,
            "title": self.title,
            "queued": [list(pair) for pair in self._queued],
            "retracted": list(self.retracted),
        }

    def _restore(self, state: dict[str, Any]) -> None:
        self._session: str | None = state.get("session")
        self._cwd: str | None = state.get("cwd")
        self.title = state.get("title")
        self._queued: list[list[str]] = list(state.get("queued") or [])
        self.retracted: list[str] = list(state.get("retracted") or [])

    def _skim(self, line: bytes) -> str | None:
        # Only the writer's own spelling (no blank after a colon); anything else is decoded. Inside a string
        # these patterns cannot match: there the quotes are escaped.
        if line.startswith(b'{"type":"file-history-snapshot"'):
            return BOOKKEEPING
        first = line.find(b'"type":"')
        if first < 0:
            return None
        if line.startswith(b'progress","data":{', first + 8):
            return PROGRESS
        if line.find(b'"isSidechain":true', 0, 500) >= 0:  # stands near the start; farther on it is decoded
            return SIDECHAIN
        if b'"text"' in line:
            return None
        if b'"type":"tool_result"' in line or b'"type":"tool_use"' in line:
            return TOOL
        return THINKING if b'"type":"thinking"' in line else None

    def _read(self, record: dict[str, Any], position: int, out: list[Turn]) -> str | None:
        kind = record.get("type")
        if kind == "user":
            return self._read_user(record, position, out)
        if kind == "assistant":
            return self._read_assistant(record, position, out)
        if kind == "attachment":
            return self._read_attachment(record, position, out)
        if kind == "queue-operation" and record.get("operation") == "remove":
            return self._read_queued(record, record.get("content"), position, out)
        if kind == "system":
            self._note_retractions(record)
        elif kind in ("custom-title", "ai-title"):
            title = text_or_none(record.get("customTitle" if kind == "custom-title" else "aiTitle"))
            self.title = title[:200] if title else self.title
        return CLAUDE_TYPES.get(kind, UNKNOWN_TYPE) if isinstance(kind, str) else UNKNOWN_TYPE

    def _read_user(self, record: dict[str, Any], position: int, out: list[Turn]) -> str | None:
        reason = self._not_visible(record)
        if reason:
            return reason
        origin = record.get("origin")
        if origin and (not isinstance(origin, dict) or origin.get("kind") not in (None, "human")):
            return NOTICE
        message = record.get("message")
        if not isinstance(message, dict):
            return MALFORMED
        blocks, other = split_content(message.get("content"))
        if not blocks:
            return other
        text, reason, command = typed_text(blocks)
        if not text:
            return other if reason == EMPTY and other != EMPTY else reason
        turn = self._turn("user", text, record, position)
        if command:
            turn.meta["command"] = command
        out.append(turn)
        return None

    def _read_assistant(self, record: dict[str, Any], position: int, out: list[Turn]) -> str | None:
        reason = self._not_visible(record)
        if reason:
            return reason
        message = record.get("message")
        if not isinstance(message, dict):
            return MALFORMED
        if message.get("model") == "<synthetic>":
            return API_ERROR
        if message.get("stop_reason") == "refusal":
            return REFUSAL
        blocks, other = split_content(message.get("content"))
        texts = [text for text in (clean_text(block) for block in blocks) if text and text != NO_CONTENT]
        if not texts:
            return other
        turn = self._turn("assistant", "\n\n".join(texts), record, position)
        turn.message_id = text_or_none(message.get("id"))
        out.append(turn)
        return None

    def _not_visible(self, record: dict[str, Any]) -> str | None:
        """The flags of a user or assistant record, in the order of the specification."""
        if record.get("isSidechain"):
            return SIDECHAIN
        if record.get("isCompactSummary") or record.get("isVisibleInTranscriptOnly"):
            return COMPACTION
        if record.get("isMeta") or record.get("sourceToolUseID"):
            return META
        if record.get("isApiErrorMessage") or record.get("error") or record.get("apiErrorStatus"):
            return API_ERROR
        return RETRACTED if self.retracted and record.get("uuid") in self.retracted else None

    def _read_attachment(self, record: dict[str, Any], position: int, out: list[Turn]) -> str | None:
        queued = record.get("attachment")
        if not isinstance(queued, dict) or queued.get("type") != "queued_command":
            return ATTACHMENT
        if queued.get("commandMode") != "prompt":
            return NOTICE
        reason = self._not_visible(record)
        origin = queued.get("origin")
        if queued.get("isMeta") or (isinstance(origin, dict) and origin.get("kind") not in (None, "human")):
            reason = reason or NOTICE
        return reason or self._read_queued(record, queued.get("prompt"), position, out)

    def _read_queued(self, record: dict[str, Any], content: Any, position: int, out: list[Turn]) -> str | None:
        """A prompt typed while the model worked. Some versions write it twice, as two types of record: the
        second is known by its text, and each first one answers for one second one."""
        blocks, other = split_content(content)
        text, reason, _ = typed_text(blocks)
        if not text:
            return BOOKKEEPING if content is None else reason if blocks else other
        kind = str(record.get("type"))
        key = text_key(text)
        for pending in self._queued:
            if pending[0] != kind and pending[1] == key:
                self._queued.remove(pending)
                return REPEATED
        self._queued = [*self._queued, [kind, key]][-QUEUED_MAX:]
        turn = self._turn("user", text, record, position)
        turn.meta["queued"] = True
        out.append(turn)
        return None

    def _turn(self, role: str, text: str, record: dict[str, Any], position: int) -> Turn:
        self._session = text_or_none(record.get("sessionId")) or self._session
        self._cwd = text_or_none(record.get("cwd"), PATH_MAX) or self._cwd
        meta = {}
        for name, key in (("version", "version"), ("branch", "gitBranch"), ("entrypoint", "entrypoint")):
            value = text_or_none(record.get(key))
            if value:
                meta[name] = value
        self.kept += 1
        return Turn(
            role,
            text,
            position,
            uuid=text_or_none(record.get("uuid")),
            timestamp=text_or_none(record.get("timestamp"), STAMP_MAX),
            session=self._session,
            cwd=self._cwd,
            meta=meta,
        )

    def _note_retractions(self, record: dict[str, Any]) -> None:
        """A refusal fallback lists the records it took back under a key `retracted…`, in either case."""
        if record.get("subtype") != "model_refusal_fallback":
            return
        for key, value in record.items():
            if key.lower().startswith("retracted") and isinstance(value, list):
                known = self.retracted + [uuid for uuid in value if isinstance(uuid, str)]
                self.retracted = known[-RETRACTED_MAX:]

    def _settle(self, out: list[Turn]) -> list[Turn]:
        if not self.retracted:
            return out
        standing = [turn for turn in out if turn.uuid not in self.retracted]
        for _ in range(len(out) - len(standing)):
            self.kept -= 1
            self.skip(RETRACTED)
        return standing


# ==== transcripts/codex_text.py: What a Codex line is, what a person typed in it, and when. Pure; Python 3.8; carried by the hook.

def reasons_by_name(groups: dict[str, str]) -> dict[str, str]:
    return {name: reason for reason, names in groups.items() for name in names.split()}


CODEX_ITEMS = reasons_by_name({  # response items without visible words
    THINKING: "reasoning",
    TOOL: "function_call function_call_output custom_tool_call custom_tool_call_output local_shell_call "
    "local_shell_call_output web_search_call image_generation_call tool_search_call tool_search_output "
    "mcp_tool_call",
    COMPACTION: "compaction compaction_summary",
    BOOKKEEPING: "ghost_snapshot",
})  # fmt: skip
CODEX_EVENTS = reasons_by_name({  # events without visible words; task_complete has a third copy of an answer
    THINKING: "agent_reasoning agent_reasoning_raw_content agent_reasoning_section_break",
    TOOL: "exec_command_begin exec_command_end patch_apply_begin patch_apply_end mcp_tool_call_begin "
    "mcp_tool_call_end web_search_begin web_search_end image_generation_end view_image_tool_call",
    COMPACTION: "context_compacted",
    TITLE: "thread_name_updated",
    BOOKKEEPING: "token_count task_started task_complete turn_started turn_complete turn_aborted "
    "thread_rolled_back entered_review_mode exited_review_mode",
})  # fmt: skip
CODEX_TYPES = reasons_by_name({
    COMPACTION: "compacted",
    BOOKKEEPING: "turn_context world_state inter_agent_communication token_usage_record record_type",
})  # fmt: skip
WORD_EVENTS = ("user_message", "agent_message", "item_completed")
TURN_ITEMS = {"UserMessage": "user_message", "AgentMessage": "agent_message"}
TEXT_BLOCKS = ("input_text", "output_text", "text", "Text")
REVIEW_MODEL = "codex-auto-review"
INJECTED_STARTS = (
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions",
    "<permissions instructions>",
    "<turn_aborted>",
    "<skill>",
    "<subagent_notification>",
    "<user_action>",
    "<user_shell_command>",
)
# Headings that editor and app put before the typed words, which follow under REQUEST_HEADING.
PREAMBLE_STARTS = (
    "# Context from my IDE setup:",
    "# In app browser:",
    "# Diff comments:",
    "# Files mentioned by the user:",
)
REQUEST_HEADING = "## My request for Codex:"
CAPTION_START = "The next image "  # the app's captions of its own screenshots
IMAGE_MARKS = ("<image>", "<image ", "</image>")


def typed_in_codex(raw: str) -> tuple[str, str]:
    """(words, reason): what the person typed in a user text, or why there is nothing."""
    text = clean_text(raw)
    if text.startswith(PREAMBLE_STARTS):
        preamble, found, request = text.partition("\n" + REQUEST_HEADING)
        if not found:
            return "", INJECTED
        request = request.strip()
        text = review_comments(preamble) if not request or request.startswith(CAPTION_START) else request
    if text.startswith(INJECTED_STARTS):
        return "", INJECTED
    if text.startswith("Automation: ") and text.partition("\n")[2].startswith("Automation ID:"):
        return "", INJECTED
    text = drop_placeholders(text)
    return text, "" if text else EMPTY


def review_comments(preamble: str) -> str:
    """The words typed beside a page or a diff: what stands under each `Comment:` up to the next heading."""
    comments = []
    for part in preamble.split("\nComment:\n")[1:]:
        lines = []
        for line in part.split("\n"):
            if line.startswith(("# ", "## ")):
                break
            lines.append(line)
        comments.append("\n".join(lines).strip())
    return "\n\n".join(comment for comment in comments if comment)


def texts_of_item(content: Any) -> tuple[list[str], str]:
    """The texts of an item's content (text or blocks), and what the item counts as when it has none."""
    if isinstance(content, str):
        return [content], EMPTY
    if not isinstance(content, list):
        return [], MALFORMED
    texts, other = [], EMPTY
    for block in content:
        kind = block.get("type") if isinstance(block, dict) else None
        text = (block.get("text") or block.get("output_text")) if kind in TEXT_BLOCKS else None
        if isinstance(text, str):
            if len(text) > 300 or not text.startswith(IMAGE_MARKS):
                texts.append(text)
        elif kind in ("input_image", "image", "local_image"):
            other = IMAGE
        elif kind not in TEXT_BLOCKS and other == EMPTY:
            other = MALFORMED
    return texts, other


def words_of_event(event: dict[str, Any]) -> tuple[str, str, str]:
    """(role, words, reason) of an event: what was said by whom, or why there is nothing."""
    kind, message = event.get("type"), event.get("message")
    item = event.get("item")
    if kind == "item_completed" and isinstance(item, dict):  # paginated history
        kind = TURN_ITEMS.get(str(item.get("type")))
        if kind is None:
            return "", "", BOOKKEEPING
        message = "\n\n".join(texts_of_item(item.get("content"))[0])
    if kind not in WORD_EVENTS:
        return "", "", CODEX_EVENTS.get(kind, UNKNOWN_TYPE) if isinstance(kind, str) else UNKNOWN_TYPE
    if not isinstance(message, str):
        return "", "", MALFORMED
    if kind == "agent_message":
        text = clean_text(message)
        return "assistant", text, "" if text else EMPTY
    if event.get("kind") not in (None, "plain"):
        return "user", "", INJECTED
    text, reason = typed_in_codex(message)
    pictures = event.get("images") or event.get("local_images")
    return "user", text, IMAGE if reason == EMPTY and pictures else reason


def kind_of_bare(record: dict[str, Any]) -> Any:
    """What a line without a payload would be in the envelope of later eras."""
    kind = record.get("type")
    if "record_type" in record:
        return "record_type"
    if kind is None and "role" not in record and "id" in record:
        return "session_meta"
    if not isinstance(kind, str):
        return None
    if kind == "message" or kind in CODEX_ITEMS:
        return "response_item"
    return "event_msg" if kind in WORD_EVENTS or kind in CODEX_EVENTS else kind


def codex_whole_file(header: dict[str, Any]) -> str | None:
    """Why a rollout holds no person's conversation at all, by its session header."""
    source = header.get("source")
    kind = source if isinstance(source, str) else ""
    if isinstance(source, dict):
        kind = "subagent" if "subagent" in source else "internal" if "internal" in source else ""
    if kind.startswith("subagent") or header.get("thread_source") == "subagent":
        return SUBAGENT
    return INTERNAL if kind == "internal" or header.get("model") == REVIEW_MODEL else None


def codex_header(header: dict[str, Any]) -> dict[str, Any]:
    """What a session header says of all its turns: session, folder, start, and `meta` for each turn."""
    git = header.get("git")
    git = git if isinstance(git, dict) else {}
    remote = text_or_none(git.get("repository_url"), PATH_MAX)
    meta = {
        "version": text_or_none(header.get("cli_version")),
        "branch": text_or_none(git.get("branch")),
        "remote": strip_credentials(remote) if remote else None,
    }
    return {
        "session": text_or_none(header.get("id")),
        "cwd": text_or_none(header.get("cwd"), PATH_MAX),
        "time": text_or_none(header.get("timestamp"), STAMP_MAX),
        "meta": {key: value for key, value in meta.items() if value},
    }


def folder_of_context(text: str) -> str | None:
    """The working folder an environment context names: a tag, in the oldest files a sentence."""
    start = text.find("<cwd>")
    if start >= 0:
        return text_or_none(text[start + 5 :].split("</cwd>", 1)[0], PATH_MAX)
    after = text.partition("Current working directory: ")[2]
    return text_or_none(after.split("\n", 1)[0], PATH_MAX)


def stamp_ms(stamp: str | None) -> tuple[str, int] | None:
    """(day, millisecond of that day) of an ISO time; None for anything else. datetime is slow to load."""
    text = stamp or ""
    try:
        hours, minutes, seconds = int(text[11:13]), int(text[14:16]), int(text[17:19])
    except ValueError:
        return None
    digits = text[20:23] if text[19:20] == "." else ""
    fraction = int(digits.ljust(3, "0")) if digits.isdigit() else 0
    return text[:10], ((hours * 60 + minutes) * 60 + seconds) * 1000 + fraction


def later_stamp(stamp: str, milliseconds: int) -> str:
    """The time moved on within its day: era 2 has no times, its turns follow the session's start in order."""
    parsed = stamp_ms(stamp)
    if parsed is None:
        return stamp
    seconds, fraction = divmod(min(parsed[1] + milliseconds, 86399999), 1000)
    clock = "%02d:%02d:%02d.%03d" % (seconds // 3600, seconds // 60 % 60, seconds % 60, fraction)
    return parsed[0] + "T" + clock + stamp[19:].lstrip(".0123456789")


# ==== transcripts/codex.py: Codex rollouts, all eras: lines to visible turns. Pure; Python 3.8; carried by the hook.

# How the writer's lines open behind a timestamp of 24 characters; any other spelling is decoded.
TIMED = b'{"timestamp":"'
SKIM_AT = len(TIMED) + 24 + len(b'",')
SKIMMED = tuple(
    (opening, SKIM_AT + len(opening), {name.encode(): reason for name, reason in reasons.items()})
    for opening, reasons in (
        (b'"type":"response_item","payload":{"type":"', CODEX_ITEMS),
        (b'"type":"event_msg","payload":{"type":"', CODEX_EVENTS),
    )
)
ANSWERED_BY = ("agent_reasoning", "task_complete", "turn_aborted")  # events that follow a prompt
HELD_MAX = 8  # user items held until their source is known
HELD_CHARS_MAX = 256 * 1024
PAIR_MAX = 16  # texts waiting for their copy
FORK_BURST_MS = 1000  # the lines a fork copies are written within a moment; the first pause ends them


class CodexParser(LineReader):
    """See LineReader; `feed_document` reads the whole-file `.json` of the first era."""

    _after: list[Any] | None = None  # what the record before kept, while one is read

    def feed_document(self, data: bytes) -> list[Turn]:
        """Era 1, `{session, items}`, at once; positions are the items' places. Raises ValueError if it is
        none."""
        document = decode_record(data.strip(), self._loads)
        items = document.get("items") if isinstance(document, dict) else None
        if not isinstance(items, list):
            raise ValueError("not a Codex session: it has no list of items")
        out: list[Turn] = []
        header = document.get("session")
        self._read_header(header if isinstance(header, dict) else {}, None)
        for place, item in enumerate(items):
            reason = self._read(item, place, out) if isinstance(item, dict) else NOT_A_RECORD
            if reason:
                self.skip(reason)
        self.offset += len(data)
        self._release(out)
        return out

    def state(self) -> dict[str, Any]:
        known = dict(self._known, meta=dict(self._known["meta"]))
        known["held"] = [dict(fields) for fields in known["held"]]
        known["pairs"] = [list(mark) for mark in known["pairs"]]
        return known

    def _restore(self, state: dict[str, Any]) -> None:
        # One dict of plain values, so that state() is the whole truth. header: a session header was read;
        # whole: reason to skip the file; users: None, "event" or "item"; held: user turns waiting for that;
        # pairs: [role, source, key] of texts waiting for their copy; last: [role, source, second] of the
        # record before, if it was kept; fork: time of the copied line before; turns: how many had no time
        # of their own.
        self._known: dict[str, Any] = {
            "header": False, "whole": None, "session": None, "cwd": None, "time": None, "turns": 0,
            "meta": {}, "model": None, "fork": None, "users": None, "held": [], "pairs": [], "last": None,
        }  # fmt: skip
        self._known.update(state)

    def _skim(self, line: bytes) -> str | None:
        known = self._known
        if known["whole"]:
            return str(known["whole"])
        if known["held"] or known["fork"] or not line.startswith(TIMED):
            return None
        for opening, start, reasons in SKIMMED:
            if line.startswith(opening, SKIM_AT):
                reason = reasons.get(line[start : line.find(b'"', start)])
                if reason:
                    known["last"] = None
                return reason
        return None

    def _read(self, record: dict[str, Any], position: int, out: list[Turn]) -> str | None:
        known = self._known
        self._after, known["last"] = known["last"], None
        kind, payload = record.get("type"), record.get("payload")
        stamp = text_or_none(record.get("timestamp"), STAMP_MAX)
        if not isinstance(payload, dict):  # bare lines of era 2, and writers that flatten the payload
            kind, payload = kind_of_bare(record), record
        if not isinstance(kind, str):
            return UNKNOWN_TYPE
        if kind == "session_meta":
            return self._read_header(payload, stamp)
        if known["fork"]:
            if self._in_fork(stamp):
                return self._read_copied(kind, payload, stamp, position)
            self._release(out, "event")
        if kind == "response_item":
            return self._read_item(payload, stamp, position, out)
        if kind == "event_msg":
            return self._read_event(payload, stamp, position, out)
        if kind == "turn_context":
            known["cwd"] = text_or_none(payload.get("cwd"), PATH_MAX) or known["cwd"]
            known["model"] = text_or_none(payload.get("model"))
        return CODEX_TYPES.get(kind, UNKNOWN_TYPE)

    def _read_header(self, header: dict[str, Any], stamp: str | None) -> str:
        """The first header names the session; a later one belongs to a copied history."""
        known = self._known
        if known["header"]:
            return BOOKKEEPING
        known.update(codex_header(header), header=True, whole=codex_whole_file(header))
        if text_or_none(header.get("forked_from_id")):
            known["fork"] = stamp or known["time"] or "-"
        return known["whole"] or BOOKKEEPING

    def _in_fork(self, stamp: str | None) -> bool:
        """Whether the line is still of the copied history at the head of a fork: stamped before the fork, or
        written in one burst with the line before."""
        here, then = stamp_ms(stamp), stamp_ms(self._known["fork"])
        if here and then and here > then and (here[0] != then[0] or here[1] - then[1] > FORK_BURST_MS):
            self._known["fork"] = None
            return False
        if here and (not then or here > then):
            self._known["fork"] = stamp
        return True

    def _read_copied(self, kind: str, payload: dict[str, Any], stamp: str | None, position: int) -> str | None:
        """A line of the copied history. The fork itself may be written only with its first prompt, in the
        same burst: so a prompt that nothing in the burst answers is held, and kept once the burst is over."""
        role, text, _ = words_of_event(payload) if kind == "event_msg" else ("", "", "")
        answered = role == "assistant" or payload.get("type") in ANSWERED_BY
        if kind == "response_item" and payload.get("role") not in ("user", "developer", "system"):
            answered = True
        prompt = self._turn("user", text, payload, stamp, position) if role == "user" and text else None
        if answered or prompt:
            self._drop_held(FORK)
        if prompt:
            self._known["held"] = [prompt.as_dict()]
        return None if prompt else FORK

    def _read_item(self, item: dict[str, Any], stamp: str | None, position: int, out: list[Turn]) -> str | None:
        kind, role = item.get("type"), item.get("role")
        if kind != "message":
            reason = CODEX_ITEMS.get(kind, UNKNOWN_TYPE) if isinstance(kind, str) else UNKNOWN_TYPE
            if reason in (THINKING, TOOL):
                self._answering(out)
            return reason
        if role in ("developer", "system"):
            return DEVELOPER
        if role not in ("user", "assistant"):
            return MALFORMED
        texts, other = texts_of_item(item.get("content"))
        if not texts:
            return other
        if self._known["model"] == REVIEW_MODEL:
            return INTERNAL
        if role == "assistant":
            return self._assistant_item(item, texts, stamp, position, out)
        return self._user_item(item, texts, stamp, position, out)

    def _user_item(
        self, item: dict[str, Any], texts: list[str], stamp: str | None, position: int, out: list[Turn]
    ) -> str | None:
        known, words = self._known, []
        for text in texts:
            typed, reason = typed_in_codex(text)
            if reason == INJECTED:
                known["cwd"] = known["cwd"] or folder_of_context(text)
                return INJECTED
            if typed:
                words.append(typed)
        if not words:
            return EMPTY
        if known["users"] == "event":
            return COPY
        turn = self._turn("user", "\n\n".join(words), item, stamp, position)
        if known["users"] == "item" or stamp is None:  # era 2 has no times and no events
            self._keep(turn, "item", out, [text_key(turn.text)])
            return None
        known["held"].append(turn.as_dict())
        while len(known["held"]) > HELD_MAX or sum(len(h["text"]) for h in known["held"]) > HELD_CHARS_MAX:
            known["held"].pop(0)
            self.skip(UNDECIDED)
        return None

    def _assistant_item(
        self, item: dict[str, Any], texts: list[str], stamp: str | None, position: int, out: list[Turn]
    ) -> str | None:
        words = [text for text in (clean_text(text) for text in texts) if text]
        if not words:
            return EMPTY
        self._answering(out)
        keys = [text_key(text) for text in words]
        fresh = [place for place, key in enumerate(keys) if not self._paired("assistant", "event", key)]
        if not fresh or (len(fresh) == len(words) and self._follows("assistant", "event", stamp)):
            return COPY
        turn = self._turn("assistant", "\n\n".join(words[place] for place in fresh), item, stamp, position)
        self._keep(turn, "item", out, [keys[place] for place in fresh])
        return None

    def _read_event(self, event: dict[str, Any], stamp: str | None, position: int, out: list[Turn]) -> str | None:
        role, text, reason = words_of_event(event)
        if role == "assistant" or event.get("type") == "task_complete":
            self._answering(out)
        if reason:
            return reason
        known = self._known
        if known["model"] == REVIEW_MODEL:
            return INTERNAL
        keys = [text_key(text)] if role == "assistant" or known["users"] == "item" else []
        if keys and (self._paired(role, "item", keys[0]) or self._follows(role, "item", stamp)):
            return COPY
        if role == "user":
            self._drop_held(COPY)
        self._keep(self._turn(role, text, event, stamp, position), "event", out, keys)
        return None

    def _answering(self, out: list[Turn]) -> None:
        """The model has started: user items still held have no event, so items are this file's prompts."""
        if self._known["users"] is None and self._known["held"]:
            self._release(out)

    def _release(self, out: list[Turn], source: str = "item") -> None:
        held, self._known["held"] = self._known["held"], []
        for fields in held:
            if self._known["fork"]:
                self.skip(FORK)  # the file ends within the copied history
            else:
                self._keep(Turn(**fields), source, out, [text_key(fields["text"])])

    def _drop_held(self, reason: str) -> None:
        for _ in self._known["held"]:
            self.skip(reason)
        self._known["held"] = []

    def _keep(self, turn: Turn, source: str, out: list[Turn], keys: list[str]) -> None:
        """Keep the turn, and remember its texts' keys until their copies come from the other source."""
        known = self._known
        if turn.role == "user":
            known["users"] = source
            known["pairs"] = []  # no copy comes from before the prompt
        if keys:
            known["pairs"] = (known["pairs"] + [[turn.role, source, key] for key in keys])[-PAIR_MAX:]
        known["last"] = [turn.role, source, (turn.timestamp or "")[:19]]
        self.kept += 1
        out.append(turn)

    def _paired(self, role: str, source: str, key: str) -> bool:
        mark = [role, source, key]
        if mark in self._known["pairs"]:
            self._known["pairs"].remove(mark)
            return True
        return False

    def _follows(self, role: str, source: str, stamp: str | None) -> bool:
        """Whether the record before was kept from the other source, in the same second."""
        return stamp is not None and self._after == [role, source, stamp[:19]]

    def _turn(self, role: str, text: str, item: dict[str, Any], stamp: str | None, position: int) -> Turn:
        known = self._known
        meta = dict(known["meta"])
        phase = text_or_none(item.get("phase"))
        if phase:
            meta["phase"] = phase
        if stamp is None and known["time"]:
            known["turns"] += 1
            stamp = later_stamp(known["time"], known["turns"])
            meta["approximate_time"] = True
        return Turn(
            role,
            text,
            position,
            message_id=text_or_none(item.get("id")),
            timestamp=stamp,
            session=known["session"],
            cwd=known["cwd"],
            meta=meta,
        )


# ==== transcripts/repo.py: The repository a folder belongs to, read from git's own files. Python 3.8; no subprocess; carried by the hook.

import os


GIT_FILE_BYTES = 256 * 1024


def resolve_repo(cwd: str) -> dict[str, Any] | None:
    """{"remote": address or None, "common_dir": absolute path} of the repository around `cwd`, and "commit", the one
    that is checked out, where there is one.

    Worktrees of one repository share their common folder. None where the folder is not on this machine (a parent
    that is could be another repository) or in none.
    """
    if not cwd or not os.path.isabs(cwd) or not os.path.isdir(cwd):
        return None
    git_dir = find_git_dir(os.path.realpath(cwd))
    if git_dir is None:
        return None
    common = read_git_file(os.path.join(git_dir, "commondir")).strip()  # in a worktree's folder only
    common_dir = os.path.realpath(os.path.join(git_dir, common)) if common else os.path.realpath(git_dir)
    remote = remote_in(read_git_file(os.path.join(common_dir, "config")))
    commit = find_commit(git_dir, common_dir)
    return {"remote": remote, "common_dir": common_dir, **({"commit": commit} if commit else {})}


def find_commit(git_dir: str, common_dir: str) -> str | None:
    """The commit that is checked out, as 40 or 64 hex digits; None in a repository without one."""
    head = read_git_file(os.path.join(git_dir, "HEAD")).strip()
    ref = head[len("ref:") :].strip() if head.startswith("ref:") else ""
    if ref:
        head = read_git_file(os.path.join(common_dir, *ref.split("/"))).strip()
    if ref and not head:
        lines = read_git_file(os.path.join(common_dir, "packed-refs")).splitlines()
        head = next((line.split(" ", 1)[0] for line in lines if line.endswith(" " + ref)), "")
    return head if len(head) in (40, 64) and all(digit in "0123456789abcdef" for digit in head) else None


def find_git_dir(folder: str) -> str | None:
    """The `.git` folder of the nearest parent, or the one a `.git` file there names (worktrees, submodules)."""
    while True:
        path = os.path.join(folder, ".git")
        if os.path.isfile(os.path.join(path, "HEAD")):
            return path
        if os.path.isfile(path):
            text = read_git_file(path).strip()
            named = os.path.join(folder, text[len("gitdir:") :].strip()) if text.startswith("gitdir:") else ""
            return named if named and os.path.isdir(named) else None
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


def read_git_file(path: str) -> str:
    """A small file's text, "" where there is none to be read."""
    try:
        with open(path, "rb") as file:
            return file.read(GIT_FILE_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""


def remote_in(config: str) -> str | None:
    """The address of `origin`, else of the first remote, in the text of a git config; credentials taken out."""
    found: dict[str, str] = {}
    section = ""
    for line in config.splitlines():
        line = line.strip()
        if line.startswith("["):
            section = line.partition("]")[0][1:]
        elif section.startswith("remote ") and "=" in line:
            key, _, value = line.partition("=")
            if key.strip().lower() == "url":
                name = section[len("remote ") :].strip().strip('"')
                found.setdefault(name, value.strip().strip('"'))
    address = found.get("origin") or next(iter(found.values()), None)
    return strip_credentials(address) if address else None


# ==== transcripts/exclude.py: Folders a person keeps out of memory: ARGUS_EXCLUDE and `.argus-ignore`. Python 3.8; carried by the hook.

import os
from fnmatch import fnmatchcase


IGNORE_FILE = ".argus-ignore"


def excluded(cwd: str | None, globs: Iterable[str]) -> bool:
    """Whether the folder, or one it lies in, is matched by a glob or holds an `.argus-ignore` file.

    A glob with a slash is matched with whole paths (`~` is the home; `*` also crosses slashes, so it keeps out
    rather too much); one without is matched with the name of each folder on the way.
    """
    if not cwd:
        return False
    paths = {cwd, os.path.realpath(cwd)} if os.path.isdir(cwd) else {cwd}
    folders = [folder for path in paths for folder in folders_above(path)]
    patterns = [plain_glob(glob) for glob in globs if glob.strip()]
    for folder in folders:
        name = folder.rsplit("/", 1)[-1]
        for pattern in patterns:
            if fnmatchcase(folder if "/" in pattern else name, pattern):
                return True
    return any(os.path.exists(folder + "/" + IGNORE_FILE) for folder in folders)


def folders_above(path: str) -> list[str]:
    """The folder and all it lies in, with forward slashes, without the root."""
    parts = path.replace("\\", "/").rstrip("/").split("/")
    return ["/".join(parts[: count + 1]) for count in range(len(parts)) if parts[count]]


def plain_glob(glob: str) -> str:
    """The glob with its home filled in and without a last `/`, `/*` or `/**`: a folder stands for what is in it."""
    pattern = os.path.expanduser(glob.strip()).replace("\\", "/")
    for ending in ("/**", "/*", "/"):
        if pattern.endswith(ending) and len(pattern) > len(ending):
            pattern = pattern[: -len(ending)]
    return pattern


# ==== parts/base.py: What both hooks need: the settings, files written whole, and a log that stays small.

import json
import os
import time


HOOK_VERSION = "0.1.0"
DEFAULT_URL = "http://127.0.0.1:8484"
LOG_MAX = 512 * 1024  # bytes; about 4,000 events
OWN_SESSION = "ARGUS_SESSION"  # set by Argus for every session it starts itself: those are never captured


class Config:
    """The hook's settings. `url` has no trailing slash; `token` may be empty; `exclude` are globs of folders."""

    __slots__ = ("authority", "exclude", "floor", "home", "token", "url")

    def __init__(self, home: str, values: Mapping[str, str]) -> None:
        self.home = home
        host = values.get("ARGUS_API_HOST") or "127.0.0.1"
        if host in ("0.0.0.0", "::"):  # noqa: S104 - where a server listens is not where it is reached
            host = "127.0.0.1"
        near = "http://%s:%s" % (host, values.get("ARGUS_API_PORT") or "8484")
        self.url = (values.get("ARGUS_API_URL") or near).strip().rstrip("/")
        self.token = (values.get("ARGUS_CAPTURE_TOKEN") or "").strip()
        self.exclude = tuple(part.strip() for part in (values.get("ARGUS_EXCLUDE") or "").split(",") if part.strip())
        self.floor = (values.get("ARGUS_RECALL_FLOOR") or "").strip()
        self.authority = values.get("SSL_CERT_FILE") or ""  # certificates to trust, for a hub of one's own


def load_config(environment: Mapping[str, str]) -> Config:
    """The environment over `$ARGUS_HOME/env`; an unreadable file counts as absent, an empty value as unset."""
    home = os.path.abspath(os.path.expanduser(environment.get("ARGUS_HOME") or "~/.argus"))
    values: Dict[str, str] = {}
    try:
        with open(os.path.join(home, "env"), "rb") as file:
            text = file.read(1 << 20).decode("utf-8", "replace")
    except OSError:
        text = ""
    for line in text.splitlines():
        key, separator, value = line.strip().partition("=")
        if not separator or key.startswith("#"):
            continue
        value = value.strip()
        if len(value) >= 2 and value[0] == value[-1] and value[0] in "'\"":
            value = value[1:-1]
        if key.startswith("export "):
            key = key[7:]
        values[key.strip()] = value
    for key, value in environment.items():
        if value and (key.startswith("ARGUS_") or key == "SSL_CERT_FILE"):
            values[key] = value
    return Config(home, values)


def working_folder() -> str:
    """Where the process stands, or nothing: the folder may have been deleted under it."""
    try:
        return os.getcwd()
    except OSError:
        return ""


def utc_stamp(now: float) -> str:
    """Seconds since the epoch as `2026-11-30T10:02:03.123Z`."""
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now)) + ".%03dZ" % (int(now * 1000) % 1000)


def host_name() -> str:
    """This machine's name, as items and heartbeats carry it."""
    try:
        return os.uname().nodename
    except AttributeError:  # Windows
        return os.environ.get("COMPUTERNAME", "")


def safe_name(text: str) -> str:
    """A session id as a file name: letters, digits, `-`, `_` and `.`, at most 100, never a dot in front."""
    return "".join(c if (c.isalnum() and c.isascii()) or c in "-_." else "_" for c in text[:100]).lstrip(".")


def text_of(event: Mapping[str, Any], key: str) -> str:
    """The event's field where it is a string, else nothing: fields come and go between versions."""
    value = event.get(key)
    return value if isinstance(value, str) else ""


def write_whole(path: str, data: bytes) -> bool:
    """Replace the file in one step, so that no reader sees half of it; False where the disk refuses."""
    part = "%s.%d.part" % (path, os.getpid())
    for attempt in (0, 1):
        try:
            fd = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            break
        except FileNotFoundError:
            if attempt:
                return False
            try:
                os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
            except OSError:
                return False
        except OSError:
            return False
    try:
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(fd, view):]
        finally:
            os.close(fd)
        os.replace(part, path)
        return True
    except OSError:
        remove_file(part)
        return False


def remove_file(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        return


def read_object(path: str) -> Dict[str, Any]:
    """The JSON object in the file; an absent or damaged one is empty."""
    try:
        with open(path, "rb") as file:
            value = json.loads(file.read())
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def log_event(config: Config, text: str) -> None:
    """One line into the hook's log, which is turned over at LOG_MAX; a log that cannot be written is done without."""
    if config.token:
        text = text.replace(config.token, "***")
    path = os.path.join(config.home, "hook.log")
    line = "%s %d %s\n" % (utc_stamp(time.time()), os.getpid(), " ".join(text.split()))
    try:
        try:
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        except FileNotFoundError:
            os.makedirs(config.home, 0o700, exist_ok=True)
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(fd, line.encode("utf-8", "replace"))
            full = os.fstat(fd).st_size > LOG_MAX
        finally:
            os.close(fd)
        if full:
            os.replace(path, path + ".1")
    except OSError:
        return


def leave_heartbeat(config: Config, hook: str, target: str, event: str, session: str, outcome: str) -> None:
    """What this hook did last, for `argus hooks status` on this machine."""
    beat = {
        "hook": hook, "target": target, "event": event, "session": session, "outcome": outcome,
        "version": HOOK_VERSION, "host": host_name(), "at": utc_stamp(time.time()),
    }
    path = os.path.join(config.home, "hook-heartbeat", "%s-%s.json" % (safe_name(target), hook))
    write_whole(path, json.dumps(beat).encode("ascii"))


def option_of(argv: Tuple[str, ...], name: str) -> Optional[str]:
    """The word after `name` on the command line."""
    return argv[argv.index(name) + 1] if name in argv[:-1] else None


# ==== parts/event.py: Reading the event: bounded in bytes and time, whatever the other end does with the pipe.

import errno
import json
import os
import select
import time


EVENT_MAX = 16 * 1024 * 1024  # bytes; a prompt of 50 MB is refused
EVENT_WAIT_S = 2.0  # an open pipe that says nothing more is not waited for any longer


def read_event(fd: int = 0) -> Tuple[Dict[str, Any], str, bytes]:
    """The event on stdin, what was wrong with it (empty: nothing), and its bytes.

    Does not wait for the end of the stream: a caller that leaves the pipe open would hang the session. It ends as
    soon as what has come is a whole JSON object. Empty input is an empty event, not an error.
    """
    data, problem = _read_bounded(fd)
    if problem:
        return {}, problem, b""
    if not data.strip():
        return {}, "", b""
    try:
        event = json.loads(data.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        return {}, "the event is not JSON (%d bytes)" % len(data), data
    if not isinstance(event, dict):
        return {}, "the event is not a JSON object", data
    return event, "", data


def _read_bounded(fd: int) -> Tuple[bytes, str]:
    deadline = time.monotonic() + EVENT_WAIT_S
    chunks = bytearray()
    while True:
        left = deadline - time.monotonic()
        try:
            ready = left > 0 and bool(select.select([fd], [], [], left)[0])
        except (OSError, ValueError):  # no pipe to select on: closed, or Windows
            ready = True
        if not ready:
            return bytes(chunks), "" if _whole(chunks) else "stdin stayed open without a whole event"
        try:
            piece = os.read(fd, 1 << 16)
        except OSError as error:
            if error.errno in (errno.EAGAIN, errno.EINTR):
                continue
            return bytes(chunks), ""  # no stdin at all
        if not piece:
            return bytes(chunks), ""
        chunks += piece
        if len(chunks) > EVENT_MAX:
            return b"", "the event is larger than %d MB and was refused" % (EVENT_MAX >> 20)
        if len(piece) < 1 << 16 and _whole(chunks):
            return bytes(chunks), ""


def _whole(data: bytearray) -> bool:
    """Whether the bytes are a whole JSON object (or nothing at all)."""
    text = bytes(data).strip()
    if not text:
        return True
    if not text.endswith(b"}"):
        return False
    try:
        json.loads(text.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        return False
    return True


def own_session(environment: Mapping[str, str], marker: str) -> bool:
    """Whether Argus itself started this session: its own words must not become memories."""
    return environment.get(marker, "") not in ("", "0")


# ==== parts/wire.py: One HTTP request, bounded in time. http:// over a bare socket, because http.client alone would double the start-up

import json
import time

try:
    import _socket as socket_module  # the C part of `socket`, a quarter of its import time
except ImportError:  # another Python than CPython
    import socket as socket_module  # type: ignore[no-redef]


ANSWER_MAX = 16 * 1024 * 1024  # bytes


class Answer:
    """What came back. `status` 0: nothing did, and `problem` says why in words for people."""

    __slots__ = ("body", "late", "problem", "status")

    def __init__(self, status: int, body: bytes = b"", problem: str = "", late: bool = False) -> None:
        self.status = status
        self.body = body
        self.problem = problem
        self.late = late  # the server was there, but did not answer in time

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300

    def object(self) -> Any:
        """The body as a JSON object; anything else is an empty one."""
        try:
            value = json.loads(self.body.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            return {}
        return value if isinstance(value, dict) else {}

    def reason(self) -> str:
        """In a few words why it is not a yes."""
        if self.status == 0:
            return self.problem
        if self.status in (401, 403):
            return "the server refused the capture token (%d)" % self.status
        if self.status in (408, 429) or self.status >= 500:
            return "server busy or failing (%d)" % self.status
        error = self.object().get("error")
        message = error.get("message") if isinstance(error, dict) else None
        detail = ": %s" % message[:200] if isinstance(message, str) else ""
        return "the server answered %d%s" % (self.status, detail)


class Address:
    __slots__ = ("host", "port", "prefix", "tls")

    def __init__(self, tls: bool, host: str, port: int, prefix: str) -> None:
        self.tls = tls
        self.host = host
        self.port = port
        self.prefix = prefix


def parse_address(url: str) -> Optional[Address]:
    """`http(s)://host[:port][/prefix]`, IPv6 in brackets; None where it is not one."""
    scheme, separator, rest = url.partition("://")
    if not separator or scheme not in ("http", "https"):
        return None
    authority, slash, path = rest.partition("/")
    host, port = authority.rpartition("@")[2], "443" if scheme == "https" else "80"
    if host.startswith("["):
        host, _, after = host[1:].partition("]")
        port = after[1:] or port
    elif ":" in host:
        host, _, port = host.partition(":")
    if not host or not port.isdigit() or not 0 < int(port) < 65536:
        return None
    return Address(scheme == "https", host, int(port), (slash + path).rstrip("/"))


def ask(config: Config, method: str, path: str, body: bytes, connect_s: float, whole_s: float) -> Answer:
    """Send one request; never raises for what the network or the other end does. Redirects are not followed."""
    address = parse_address(config.url)
    if address is None:
        return Answer(0, problem="ARGUS_API_URL is not an http(s) address")
    deadline = time.monotonic() + whole_s
    try:
        if address.tls:
            return _ask_tls(address, config, method, path, body, deadline)
        return _ask_plain(address, config.token, method, path, body, min(connect_s, whole_s), deadline)
    except OSError as error:
        return Answer(0, problem=_words(error), late=address.tls and _timed_out(error))


def _headers(address: Address, token: str, body: bytes) -> List[Tuple[str, str]]:
    host = "[%s]" % address.host if ":" in address.host else address.host
    headers = [("Host", "%s:%d" % (host, address.port)), ("Connection", "close"), ("Accept", "application/json")]
    if token:
        headers.append(("Authorization", "Bearer " + "".join(c for c in token if " " < c < "\x7f")))
    if body:
        headers += [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
    return headers


def _words(error: BaseException) -> str:
    name = type(error).__name__
    if name == "SSLCertVerificationError":
        return "the server's certificate was not accepted"
    if _timed_out(error):
        return "server unreachable (no answer in time)"
    return "server unreachable"


def _timed_out(error: BaseException) -> bool:
    return type(error).__name__ in ("timeout", "TimeoutError")  # socket.timeout until Python 3.9


def _connect(address: Address, connect_s: float, deadline: float) -> Any:
    """A connected socket; raises OSError. Each address of the host is tried, within the time."""
    literal = address.host.replace(".", "").isdigit()
    found: List[Any] = [(socket_module.AF_INET, socket_module.SOCK_STREAM, 0, "", (address.host, address.port))]
    if not literal:
        found = _resolve(address.host, address.port, connect_s)
    until = min(deadline, time.monotonic() + connect_s)
    problem: Optional[OSError] = None
    for family, kind, protocol, _, place in found:
        left = until - time.monotonic()
        if left <= 0:
            break
        link = socket_module.socket(family, kind, protocol)
        try:
            link.settimeout(left)
            link.connect(place)
            return link
        except OSError as error:
            link.close()
            problem = error
    raise problem or OSError("no address")


def _resolve(host: str, port: int, wait_s: float) -> List[Any]:
    """The host's addresses. The resolver knows no time-out, so a stranger's name is looked up in a thread."""
    def look() -> List[Any]:
        return socket_module.getaddrinfo(host, port, 0, socket_module.SOCK_STREAM)

    if host == "localhost":
        return look()
    import _thread

    found: List[Any] = []
    done = _thread.allocate_lock()
    done.acquire()

    def work() -> None:
        try:
            found.extend(look())
        except OSError:
            found.clear()
        finally:
            done.release()

    _thread.start_new_thread(work, ())
    if not done.acquire(timeout=wait_s) or not found:
        raise OSError("the name was not found")
    return found


def _ask_plain(
    address: Address, token: str, method: str, path: str, body: bytes, connect_s: float, deadline: float
) -> Answer:
    link = _connect(address, connect_s, deadline)
    try:
        head = "%s %s%s HTTP/1.1\r\n" % (method, address.prefix, path)
        head += "".join("%s: %s\r\n" % pair for pair in _headers(address, token, body)) + "\r\n"
        try:
            link.settimeout(max(0.01, deadline - time.monotonic()))
            link.sendall(head.encode("latin-1", "replace") + body)
        except OSError as error:  # it may have answered early (413) and closed: read what it said
            if _timed_out(error):
                return Answer(0, problem="server did not answer in time", late=True)
        return _read_answer(link, deadline)
    finally:
        link.close()


def _read_answer(link: Any, deadline: float) -> Answer:
    data = bytearray()
    ends = -1  # where the body is complete, once known
    start = -1
    chunked = False
    while True:
        if start < 0:
            cut = data.find(b"\r\n\r\n")
            if cut >= 0:
                start = cut + 4
                length, chunked = _framing(bytes(data[:cut]))
                ends = start + length if length >= 0 else -1
        if start >= 0 and (0 <= ends <= len(data) or (chunked and data.endswith(b"0\r\n\r\n"))):
            break
        left = deadline - time.monotonic()
        if left <= 0:
            return Answer(0, problem="server did not answer in time", late=True)
        link.settimeout(left)
        try:
            piece = link.recv(1 << 16)
        except OSError as error:
            if _timed_out(error):
                return Answer(0, problem="server did not answer in time", late=True)
            return Answer(0, problem="server broke the connection")
        if not piece:
            break
        data += piece
        if len(data) > ANSWER_MAX:
            return Answer(0, problem="the server's answer is too large")
    words = bytes(data[:64]).split(None, 2)
    if start < 0 or len(words) < 2 or not words[0].startswith(b"HTTP/") or not words[1].isdigit():
        return Answer(0, problem="no HTTP answer at ARGUS_API_URL")
    if ends > len(data):
        return Answer(0, problem="server broke the connection")
    found = bytes(data[start:ends] if ends >= 0 else data[start:])
    return Answer(int(words[1]), _unchunk(found) if chunked else found)


def _framing(head: bytes) -> Tuple[int, bool]:
    """Body length (-1: to the end of the stream) and whether it comes in chunks."""
    for line in head.lower().split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name == b"content-length" and value.strip().isdigit():
            return int(value), False
        if name == b"transfer-encoding" and b"chunked" in value:
            return -1, True
    return -1, False


def _unchunk(data: bytes) -> bytes:
    out, at = bytearray(), 0
    while True:
        cut = data.find(b"\r\n", at)
        if cut < 0:
            return bytes(out)
        try:
            size = int(data[at:cut].split(b";")[0], 16)
        except ValueError:
            return bytes(out)
        if size == 0:
            return bytes(out)
        out += data[cut + 2:cut + 2 + size]
        at = cut + 4 + size


def _ask_tls(address: Address, config: Config, method: str, path: str, body: bytes, deadline: float) -> Answer:
    import http.client
    import ssl

    try:
        trust = ssl.create_default_context(cafile=config.authority or None)
    except OSError:
        return Answer(0, problem="SSL_CERT_FILE cannot be read")
    left = max(0.1, deadline - time.monotonic())
    link = http.client.HTTPSConnection(address.host, address.port, timeout=left, context=trust)
    try:
        link.request(method, address.prefix + path, body or None, dict(_headers(address, config.token, body)))
        reply = link.getresponse()
        return Answer(reply.status, reply.read(ANSWER_MAX))
    except http.client.HTTPException:
        return Answer(0, problem="server broke the connection")
    finally:
        link.close()


def quoted(text: str) -> str:
    """Percent-encoding for a query value."""
    return "".join(
        chr(b) if (chr(b).isalnum() and b < 128) or b in b"-_.~" else "%%%02X" % b
        for b in text.encode("utf-8", "replace")
    )


# ==== parts/offsets.py: How far each session's transcript has been read, and the lock that keeps parallel hooks apart.

import binascii
import os
import time


try:
    import fcntl
except ImportError:  # Windows: an exclusive file with an age stands in
    fcntl = None  # type: ignore[assignment]


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


# ==== parts/missed.py: What could not be captured, kept until a person has been told.

import json
import os
import time


def missed_path(config: Config, session: str) -> str:
    return os.path.join(config.home, "hook-missed", (safe_name(session) or "unknown") + ".json")


def note_missed(config: Config, session: str, turns: int, since: float, reason: str) -> None:
    """`turns` of the session, the first said at `since` (seconds since the epoch), could not be sent."""
    note = read_object(missed_path(config, session))
    note.update(turns=turns, since=since, reason=reason, late=False)
    _keep(config, session, note)


def note_caught_up(config: Config, session: str) -> None:
    """What waited has been sent after all."""
    path = missed_path(config, session)
    if not os.path.exists(path):
        return
    note = read_object(path)
    if note.get("turns") and not note.get("late"):
        note["late"] = True
        _keep(config, session, note)


def note_rejected(config: Config, session: str, count: int, why: str) -> None:
    """The server refused these for good."""
    note = read_object(missed_path(config, session))
    note.update(rejected=_count(note, "rejected") + count, why=why)
    _keep(config, session, note)


def note_dropped(config: Config, count: int) -> None:
    """The spool was full and its oldest entries went."""
    note = read_object(missed_path(config, "spool"))
    note["dropped"] = _count(note, "dropped") + count
    _keep(config, "spool", note)


def missed_summary(config: Config, session: str) -> Dict[str, Any]:
    """What a heartbeat tells the server about this session."""
    note = read_object(missed_path(config, session))
    return {key: note[key] for key in ("turns", "since", "reason", "late", "rejected", "dropped") if note.get(key)}


def missed_line(config: Config, now: float) -> str:
    """One line for a person about everything missed, or nothing. What is over is forgotten by being said."""
    folder = os.path.join(config.home, "hook-missed")
    try:
        names = [name for name in os.listdir(folder) if name.endswith(".json")]
    except OSError:
        return ""
    waiting: List[Dict[str, Any]] = []
    late: List[Dict[str, Any]] = []
    rejected = dropped = 0
    why = ""
    for name in names:
        path = os.path.join(folder, name)
        note = read_object(path)
        if _count(note, "turns"):
            (late if note.get("late") else waiting).append(note)
        rejected += _count(note, "rejected")
        dropped += _count(note, "dropped")
        why = str(note.get("why") or why)
        if _count(note, "turns") and not note.get("late"):
            keep = {key: note[key] for key in ("turns", "since", "reason", "late") if key in note}
            write_whole(path, json.dumps(keep).encode("ascii"))
        else:
            remove_file(path)
    parts = []
    if waiting:
        parts.append("%s not captured: %s" % _told(waiting, now))
    if late:
        parts.append("%s not captured at the time (%s), sent since" % _told(late, now))
    if rejected:
        parts.append("%s refused by the server for good (%s)" % (_turns(rejected), why))
    if dropped:
        parts.append("%d waiting prompts dropped, the spool was full" % dropped)
    return "Argus: " + "; ".join(parts) if parts else ""


def _told(notes: List[Dict[str, Any]], now: float) -> Any:
    since = min((note["since"] for note in notes if isinstance(note.get("since"), (int, float))), default=now)
    reason = str(notes[-1].get("reason") or "unknown")
    return "%s since %s" % (_turns(sum(_count(note, "turns") for note in notes)), _clock(since, now)), reason


def _turns(count: int) -> str:
    return "1 turn" if count == 1 else "%d turns" % count


def _clock(at: float, now: float) -> str:
    """Local time of day, with the date where it is not today's."""
    when, today = time.localtime(at), time.localtime(now)
    return time.strftime("%H:%M" if when[:3] == today[:3] else "%Y-%m-%d %H:%M", when)


def _count(note: Dict[str, Any], key: str) -> int:
    value = note.get(key)
    return value if isinstance(value, int) else 0


def _keep(config: Config, session: str, note: Dict[str, Any]) -> None:
    write_whole(missed_path(config, session), json.dumps(note).encode("ascii"))


# ==== parts/deliver.py: Sending turns: in batches the server takes, and around the one it will never take.

import json


BATCH_ITEMS = 1000
BATCH_BYTES = 4 * 1024 * 1024
PASSING = (401, 408, 429)


class Delivery:
    """What became of the items. `held` is the answer that stopped it, None when every item is settled."""

    __slots__ = ("duplicates", "held", "hook_sent", "new", "rejected", "skipped", "why")

    def __init__(self) -> None:
        self.new = self.duplicates = self.skipped = 0
        self.rejected: List[Tuple[str, int]] = []  # (uuid or position, status)
        self.why = ""
        self.held: Optional[Answer] = None
        self.hook_sent = False


def encode_item(item: Dict[str, Any]) -> bytes:
    """The item as UTF-8 JSON. A lone surrogate, which no server can store, becomes U+FFFD."""
    text = json.dumps(item, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode("utf-8")


def batches(encoded: List[bytes]) -> Iterator[Tuple[int, int]]:
    """(start, end) of each run of items that fits one request; an item above the limit stands alone."""
    start = size = 0
    for index, item in enumerate(encoded):
        if index > start and (index - start >= BATCH_ITEMS or size + len(item) > BATCH_BYTES):
            yield start, index
            start, size = index, 0
        size += len(item) + 1
    if start < len(encoded):
        yield start, len(encoded)


def is_final(answer: Answer) -> bool:
    """Whether trying the same thing again is pointless."""
    if not 400 <= answer.status < 500 or answer.status in PASSING:
        return False
    return answer.status not in (404, 405) or isinstance(answer.object().get("error"), dict)


def request_body(encoded: List[bytes], hook: Optional[bytes]) -> bytes:
    return b'{"items":[' + b",".join(encoded) + b"]" + (b',"hook":' + hook if hook else b"") + b"}"


def deliver(
    encoded: List[bytes], names: List[str], hook: Optional[bytes], post: Callable[[bytes], Answer], into: Delivery
) -> None:
    """Send the items in order; `hook` rides on the last batch. Stops at the first answer that holds."""
    runs = list(batches(encoded))
    for start, end in runs:
        _settle(encoded, names, start, end, hook if end == len(encoded) else None, post, into)
        if into.held is not None:
            return


def _settle(
    encoded: List[bytes],
    names: List[str],
    start: int,
    end: int,
    hook: Optional[bytes],
    post: Callable[[bytes], Answer],
    into: Delivery,
) -> None:
    answer = post(request_body(encoded[start:end], hook))
    if answer.ok:
        _count_receipts(answer, end - start, into)
        into.hook_sent = into.hook_sent or hook is not None
        return
    if not is_final(answer):
        into.held = answer
        return
    if end - start > 1:
        middle = (start + end) // 2
        _settle(encoded, names, start, middle, None, post, into)
        if into.held is None:
            _settle(encoded, names, middle, end, hook, post, into)
    elif hook is not None:  # was it the item, or what rode with it?
        _settle(encoded, names, start, end, None, post, into)
    else:
        into.rejected.append((names[start], answer.status))
        into.why = answer.reason()


def _count_receipts(answer: Answer, sent: int, into: Delivery) -> None:
    receipts = answer.object().get("receipts")
    if not isinstance(receipts, list):
        into.new += sent
        return
    for receipt in receipts:
        if not isinstance(receipt, dict):
            continue
        if receipt.get("skipped"):
            into.skipped += 1
        elif receipt.get("duplicate"):
            into.duplicates += 1
        else:
            into.new += 1


# ==== parts/find.py: Where transcripts are: the one an event means, and those a sweep should look at.

import os
import time


SWEEP_DAYS = 30.0  # Claude Code deletes transcripts after 30 days; what is older is the importer's business
UUID_LENGTH = 36


def claude_projects(environment: Mapping[str, str]) -> str:
    folder = environment.get("CLAUDE_CONFIG_DIR") or os.path.expanduser("~/.claude")
    return os.path.join(folder, "projects")


def codex_folders(environment: Mapping[str, str]) -> List[str]:
    folder = environment.get("CODEX_HOME") or os.path.expanduser("~/.codex")
    return [os.path.join(folder, "sessions"), os.path.join(folder, "archived_sessions")]


def looks_like_uuid(text: str) -> bool:
    return (
        len(text) == UUID_LENGTH
        and all(text[at] == "-" for at in (8, 13, 18, 23))
        and all(c in "0123456789abcdefABCDEF-" for c in text)
    )


def named_session(path: str) -> str:
    """The session a transcript is named after (`<id>.jsonl`, `rollout-<time>-<uuid>.jsonl`)."""
    stem = os.path.basename(path).partition(".")[0]
    last = stem[-UUID_LENGTH:]
    return last if stem.startswith("rollout-") and looks_like_uuid(last) else stem


def session_key(path: str, session: str) -> str:
    """Whose offset a transcript moves. The file's own name decides where it is a session's, because the event's id
    is sometimes another one's (after a resume); else the event's id; else the name as it is."""
    named = named_session(path)
    return named if looks_like_uuid(named) or not session else session


def is_file(path: str) -> bool:
    """A regular file: a pipe or a device in its place would hold the hook for ever."""
    return bool(path) and os.path.isfile(path)


def find_claude(environment: Mapping[str, str], session: str, near: str) -> Optional[str]:
    """The session's transcript, wherever a worktree or a moved folder has put it; the newest where there are two."""
    if not session or os.sep in session:
        return None
    name = session + ".jsonl"
    roots = [claude_projects(environment)]
    if near:  # .../projects/<folder>/<session>.jsonl of another configuration folder
        roots.append(os.path.dirname(os.path.dirname(near)))
    found: List[Tuple[float, str]] = []
    for root in roots:
        for folder in _folders(root):
            path = os.path.join(folder, name)
            try:
                found.append((os.stat(path).st_mtime, path))
            except OSError:
                continue
        if found:
            return max(found)[1]
    return None


def find_codex(environment: Mapping[str, str], session: str) -> Optional[str]:
    """The rollout whose name ends in the session id."""
    if not session or os.sep in session:
        return None
    ending = session + ".jsonl"
    for root in codex_folders(environment):
        for path, _ in _rollouts(root, 0.0, time.monotonic() + 1.0):
            if path.endswith(ending):
                return path
    return None


def recent_transcripts(environment: Mapping[str, str], now: float, until: float) -> List[Tuple[str, str]]:
    """(target, path) of every main transcript touched in the last SWEEP_DAYS, newest first; stops looking at `until`
    (monotonic)."""
    since = now - SWEEP_DAYS * 86400
    found: List[Tuple[float, str, str]] = []
    for folder in _folders(claude_projects(environment)):
        if time.monotonic() > until:
            break
        for entry in _entries(folder):
            name = entry.name
            if not name.endswith(".jsonl") or name.startswith("agent-"):
                continue
            try:
                if entry.is_file() and entry.stat().st_mtime >= since:
                    found.append((entry.stat().st_mtime, "claude-code", entry.path))
            except OSError:
                continue
    for root in codex_folders(environment):
        found.extend((at, "codex", path) for path, at in _rollouts(root, since, until))
    found.sort(reverse=True)
    return [(target, path) for _, target, path in found]


def _rollouts(root: str, since: float, until: float) -> Iterator[Tuple[str, float]]:
    """(path, changed at) of rollouts, newest day first."""
    waiting = [root]
    while waiting and time.monotonic() < until:
        folders = []
        for entry in sorted(_entries(waiting.pop()), key=lambda entry: entry.name, reverse=True):
            try:
                if entry.is_dir():
                    folders.append(entry.path)
                elif entry.name.startswith("rollout-") and entry.name.endswith(".jsonl"):
                    changed = entry.stat().st_mtime
                    if changed >= since:
                        yield entry.path, changed
            except OSError:
                continue
        waiting.extend(reversed(folders))


def _folders(root: str) -> List[str]:
    out = []
    for entry in _entries(root):
        try:
            if entry.is_dir():
                out.append(entry.path)
        except OSError:
            continue
    return out


def _entries(folder: str) -> List[Any]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


# ==== parts/spool.py: Words that stand in no transcript, kept until they can be sent: bounded, the oldest dropped first and counted.

import json
import os


SPOOL_MAX = 1024 * 1024  # bytes
SPOOL_PATIENCE_S = 900.0  # a transcript that has not appeared by then will not


def spool_path(config: Config) -> str:
    return os.path.join(config.home, "hook-spool.jsonl")


def spool_add(config: Config, session: str, items: List[Dict[str, Any]], due: float) -> None:
    """Keep the items; the same turn is kept once."""
    with HookLock(config, "spool", 0.5) as held:
        if not held:
            return
        entries = _entries_of(config)
        known = {entry["item"]["metadata"].get("uuid") for entry in entries}
        entries += [
            {"session": session, "due": due, "item": item}
            for item in items
            if item["metadata"].get("uuid") not in known
        ]
        _write(config, entries)


def spool_settle(
    config: Config, session: str, ended: bool, now: float, has_transcript: Callable[[str], bool],
    send: Callable[[List[Dict[str, Any]]], Delivery],
) -> None:
    """Send what is due; `ended`: nothing more will come for `session`, so its words are due at once."""
    if not os.path.exists(spool_path(config)):
        return
    with HookLock(config, "spool", 0.0) as held:
        if not held:
            return
        due: List[Dict[str, Any]] = []
        waiting: List[Dict[str, Any]] = []
        for entry in _entries_of(config):
            if entry["due"] and has_transcript(entry["session"]):
                continue
            ready = entry["due"] <= now or (ended and entry["session"] == session)
            (due if ready else waiting).append(entry)
        if due and send([entry["item"] for entry in due]).held is not None:
            return
        _write(config, waiting)


def _entries_of(config: Config) -> List[Dict[str, Any]]:
    entries: List[Dict[str, Any]] = []
    try:
        with open(spool_path(config), "rb") as file:
            lines = file.read(SPOOL_MAX * 2).split(b"\n")
    except OSError:
        return entries
    for line in lines:
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict) and isinstance(entry.get("item"), dict) and "metadata" in entry["item"]:
            due = entry.get("due")
            due = float(due) if isinstance(due, (int, float)) else 0.0
            entries.append({"session": str(entry.get("session")), "due": due, "item": entry["item"]})
    return entries


def _write(config: Config, entries: List[Dict[str, Any]]) -> None:
    lines = [json.dumps(entry).encode("ascii") + b"\n" for entry in entries]
    size = sum(map(len, lines))
    dropped = 0
    while size > SPOOL_MAX:
        size -= len(lines[dropped])
        dropped += 1
    if dropped:
        note_dropped(config, dropped)
    if lines[dropped:]:
        write_whole(spool_path(config), b"".join(lines[dropped:]))
    else:
        remove_file(spool_path(config))


# ==== parts/catchup.py: The catch-up read: from a session's offset to the end of its transcript, sent, and only then remembered.

import json
import os
import stat
import time


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


# ==== parts/capture.py: The capture hook: whatever the event, read on where the session's transcript was left, and send it.

import json
import os
import sys
import time


EVENT_S = 1.3  # an event may take this long in the foreground; what is longer is detached
EVENT_SECONDS = {"SessionEnd": 0.6}
SWEEP_S = 1.0
DETACHED_S = 60.0
LAG_DETACHED_S = 5.0
ENDS = ("SessionEnd",)
SWEEPS = ("SessionStart", "")  # no event name: nothing came on stdin, so nothing else is known


def main() -> None:
    """Entry point of the process."""
    try:
        run_capture(tuple(sys.argv[1:]), dict(os.environ))
    except Exception as error:  # a hook that fails shows an error in the session: it must not, whatever happens
        try:
            log_event(load_config(os.environ), "capture failed: %s: %s" % (type(error).__name__, error))
        finally:
            os._exit(0)
    os._exit(0)  # nothing is left to tear down; saves what the interpreter would spend on it


def run_capture(argv: Tuple[str, ...], environment: Dict[str, str]) -> None:
    started = time.monotonic()
    home = option_of(argv, "--home")
    if home and not environment.get("ARGUS_HOME"):
        environment["ARGUS_HOME"] = home
    config = load_config(environment)
    notify = notify_event(argv)
    event, problem = (notify, "") if notify is not None else read_event()[:2]
    session = text_of(event, "session_id") or environment.get("CLAUDE_CODE_SESSION_ID", "")
    if own_session(environment, OWN_SESSION):
        return mark_own(config, session)
    if problem:
        log_event(config, "capture: %s" % problem)
    target = option_of(argv, "--target") or guess_target(event)
    cwd = text_of(event, "cwd") or working_folder()
    rest = capture_event(config, environment, event, notify, target, session, cwd, started)
    if rest is not None:
        detach(rest)
    return None


def capture_event(
    config: Config,
    environment: Dict[str, str],
    event: Dict[str, Any],
    notify: Optional[Dict[str, Any]],
    target: str,
    session: str,
    cwd: str,
    started: float,
) -> Optional[Callable[[], None]]:
    """Send what is new; what did not fit the event's time is returned, to be called apart from it. The same for a
    hook that is called over HTTP."""
    name = text_of(event, "hook_event_name")
    capture = Capture(config, environment, event, target, started + EVENT_SECONDS.get(name, EVENT_S))
    if not capture.is_excluded(cwd):
        capture.hook = capture.heartbeat(name, session, cwd)
    files = transcripts_of(capture, session)
    read_transcripts(capture, files, name, session, cwd)
    if not files and not capture.is_excluded(cwd):
        keep_words(capture, notify, name, session, cwd)
    if capture.hook is not None and capture.held is None:
        capture.send([], True)
    if capture.held is None:
        settle_spool(capture, name, session)
        if name in SWEEPS:
            sweep(capture, {key for key, _ in files}, started)
    report(capture, name, session, started)
    if capture.unfinished or capture.lagging:
        return lambda: go_on(capture, files, name, session, cwd)
    return None


def notify_event(argv: Tuple[str, ...]) -> Optional[Dict[str, Any]]:
    """Codex's `notify` gives its event as the last argument; None where there is none. Its fields get the names the
    hooks use."""
    if not argv or not argv[-1].startswith("{"):
        return None
    try:
        given = json.loads(argv[-1])
    except (ValueError, RecursionError):
        return {"hook_event_name": "Notify"}
    event: Dict[str, Any] = dict(given)
    event.update(hook_event_name="Notify", session_id=given.get("thread-id"), turn_id=given.get("turn-id"))
    return event


def guess_target(event: Mapping[str, Any]) -> str:
    """Which program sent the event, where the command line does not say."""
    path = text_of(event, "transcript_path")
    codex = "turn_id" in event or os.path.basename(path).startswith("rollout-") or "/.codex/" in path
    return "codex" if codex else "claude-code"


def transcripts_of(capture: Capture, session: str) -> List[Tuple[str, str]]:
    """(offset key, path) of what to read. The path given may not exist, may have moved, or may be another
    session's: then the session's own file is looked for, and both are read."""
    given = os.path.expanduser(text_of(capture.event, "transcript_path"))
    known = load_offset(capture.config, session).get("path") if session else None
    files: List[Tuple[str, str]] = []
    if is_file(given):
        files.append((session_key(given, session), given))
    elif isinstance(known, str) and is_file(known):
        files.append((session_key(known, session), known))
    if not any(key == session for key, _ in files):
        found = (
            find_codex(capture.environment, session)
            if capture.target == "codex"
            else find_claude(capture.environment, session, given)
        )
        if found and all(path != found for _, path in files):
            files.append((session_key(found, session), found))
    return files


def read_transcripts(capture: Capture, files: List[Tuple[str, str]], name: str, session: str, cwd: str) -> None:
    words = "" if name != "Stop" or capture.is_excluded(cwd) else text_of(capture.event, "last_assistant_message")
    for index, (key, path) in enumerate(files):
        last = index == len(files) - 1
        capture_file(
            capture, key, path, capture.target, cwd, words if last else "", name in ENDS, last,
            wait_s=max(0.0, min(1.0, capture.left() - 0.2)),
        )
        if capture.held is not None:
            return


def keep_words(capture: Capture, notify: Optional[Dict[str, Any]], name: str, session: str, cwd: str) -> None:
    """Words of an event whose transcript is nowhere: it may be late (the first prompt of a session), or there is
    none. Only what can be told apart later is ever sent: see spool.py."""
    if capture.environment.get("CLAUDE_CODE_SKIP_PROMPT_HISTORY"):
        return  # the person wants no record
    said: List[Tuple[str, str]] = []
    if notify is not None:
        prompts = notify.get("input-messages")
        said = [("user", text) for text in prompts if isinstance(text, str)] if isinstance(prompts, list) else []
        said.append(("assistant", text_of(notify, "last-assistant-message")))
    elif name == "UserPromptSubmit":
        said = [("user", text_of(capture.event, "prompt"))]
    elif name == "Stop":
        said = [("assistant", text_of(capture.event, "last_assistant_message"))]
    items = [item for role, text in said if text for item in words_to_items(capture, role, text, session, cwd)]
    if items:
        spool_add(capture.config, session, items, 0.0 if notify is not None else time.time() + SPOOL_PATIENCE_S)


def words_to_items(capture: Capture, role: str, text: str, session: str, cwd: str) -> List[Dict[str, Any]]:
    """The words as the transcript would have had them: one made-up record, read by the same parser."""
    mark = text_of(capture.event, "turn_id") or text_of(capture.event, "prompt_id") or "%x" % int(time.time())
    record = {
        "type": role, "sessionId": session, "cwd": cwd, "timestamp": utc_stamp(time.time()),
        "uuid": "hook:%s:%s:%s:%08x" % (session, mark, role, checksum(text.encode("utf-8", "replace"))),
        "message": {"role": role, "content": [{"type": "text", "text": text}]},
    }
    turns = new_parser("claude-code", None, 0).feed(json.dumps(record).encode("ascii") + b"\n")
    for turn in turns:
        turn.meta["from"] = "hook-event"
    return [capture.item(turn, capture.target, session) for turn in turns]


def settle_spool(capture: Capture, name: str, session: str) -> None:
    def has_transcript(of: str) -> bool:
        return bool(find_claude(capture.environment, of, "") or find_codex(capture.environment, of))

    spool_settle(
        capture.config, session, name in ENDS, time.time(), has_transcript, lambda items: capture.send(items, False)
    )


def sweep(capture: Capture, done: Any, started: float) -> None:
    """Other sessions' unread tails, newest first, for at most SWEEP_S."""
    until = min(time.monotonic() + SWEEP_S, started + EVENT_S + 0.3)
    unfinished, capture.deadline = capture.unfinished, until
    for target, path in recent_transcripts(capture.environment, time.time(), until):
        if time.monotonic() >= until or capture.held is not None:
            break
        key = session_key(path, "")
        if key not in done and not is_own(capture.config, key) and has_unread(capture, key, path):
            capture_file(capture, key, path, target, at_rest=is_at_rest(path, time.time()))
    else:
        forget_old_offsets(capture.config, time.time())
    capture.unfinished = unfinished  # what the sweep left is taken up by the next one


def has_unread(capture: Capture, key: str, path: str) -> bool:
    """Whether the file goes on behind its offset, without opening it."""
    saved = load_offset(capture.config, key)
    try:
        return os.stat(path).st_size not in (saved.get("offset"), saved.get("rest"))
    except OSError:
        return False


def report(capture: Capture, name: str, session: str, started: float) -> None:
    total = capture.total
    words = "%d new, %d known, %d not kept, %d rejected" % (
        total.new, total.duplicates, total.skipped, len(total.rejected),
    )
    if capture.excluded_turns:
        words += ", %d excluded" % capture.excluded_turns
    if capture.held is not None:
        words += "; " + capture.held.reason()
    leave_heartbeat(capture.config, "capture", capture.target, name, session, words)
    took = int((time.monotonic() - started) * 1000)
    log_event(capture.config, "capture %s %s: %s; %d ms" % (name or "(no event)", session or "-", words, took))


def detach(work: Any) -> bool:
    """Run `work` in a process of its own session that outlives this one and holds none of its pipes."""
    if not hasattr(os, "fork"):
        return False
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return True
    try:
        os.setsid()
        if os.fork():
            os._exit(0)
        null = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null, fd)
        work()
    finally:
        os._exit(0)


def go_on(capture: Capture, files: List[Tuple[str, str]], name: str, session: str, cwd: str) -> None:
    """The detached part: wait for a transcript that lags, or send what did not fit the event's time."""
    started = time.monotonic()
    capture.deadline = started + DETACHED_S
    if capture.lagging and not capture.unfinished and files:
        key, path = files[-1]
        while time.monotonic() < started + LAG_DETACHED_S:
            if os.stat(path).st_size != load_offset(capture.config, key).get("offset"):
                break
            time.sleep(0.05)
        else:
            return
    capture.held, capture.detached = None, True
    capture.unfinished = capture.lagging = False
    read_transcripts(capture, files, name, session, cwd)
    if capture.hook is not None and capture.held is None:
        capture.send([], True)
    report(capture, name + " (detached)", session, started)
'''


def load_body():
    from _frozen_importlib_external import SourceFileLoader

    class BodyLoader(SourceFileLoader):
        def path_stats(self, path):  # BODY is as old as this file
            return {"mtime": super().path_stats(__file__)["mtime"], "size": len(BODY.encode("utf-8"))}

        def get_data(self, path):
            return BODY.encode("utf-8") if path == self.path else super().get_data(path)

    return BodyLoader("argus_hook", __file__[:-3] + ".body.py").get_code("argus_hook")


exec(load_body(), globals())

if __name__ == "__main__":
    main()
