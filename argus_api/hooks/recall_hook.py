#!/usr/bin/env python3
"""Argus' recall hook: gives a session what Argus has on record.

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


# ==== parts/recall.py: The recall hook: at SessionStart the project's context, at a prompt what is on record about it.

import json
import os
import sys
import time


CONTEXT_MAX = 8000  # characters as the host counts them (UTF-16); above 10,000 Claude Code cuts without a word
PROMPT_MAX = 32 * 1024  # characters of a prompt that are looked up
RECALL_CONNECT_S = 0.3
RECALL_S = 5.0


def main() -> None:
    """Entry point of the process."""
    try:
        run_recall(tuple(sys.argv[1:]), dict(os.environ))
    except Exception as error:  # a failing recall must not show in the session
        try:
            log_event(load_config(os.environ), "recall failed: %s: %s" % (type(error).__name__, error))
        finally:
            os._exit(0)
    os._exit(0)


def run_recall(argv: Tuple[str, ...], environment: Dict[str, str]) -> None:
    started = time.monotonic()
    home = option_of(argv, "--home")
    if home and not environment.get("ARGUS_HOME"):
        environment["ARGUS_HOME"] = home
    config = load_config(environment)
    event, problem, raw = read_event()  # also for a session that is passed over: its pipe must not break
    if own_session(environment, OWN_SESSION):
        return
    if problem:
        return log_event(config, "recall: %s" % problem)
    target = option_of(argv, "--target") or ("codex" if "turn_id" in event else "claude-code")
    session = text_of(event, "session_id") or environment.get("CLAUDE_CODE_SESSION_ID", "")
    with OnceAtATime(config, raw) as first:
        if first:  # else wired twice (plugin and settings): the same event is being answered right now
            output = recall_event(config, event, target, session, text_of(event, "cwd") or working_folder(), started)
            if output:
                say(output)


def recall_event(
    config: Config, event: Dict[str, Any], target: str, session: str, cwd: str, started: float
) -> Dict[str, Any]:
    """What the host is to be told at this event, {} for nothing; the same for a hook that is called over HTTP."""
    name = text_of(event, "hook_event_name")
    if name not in ("SessionStart", "UserPromptSubmit"):
        return {}
    line = missed_line(config, time.time()) if name == "SessionStart" else ""
    answer = None
    if not (cwd and excluded(cwd, config.exclude)):
        answer = ask_context(config, event, session, cwd) if name == "SessionStart" else ask_notes(
            config, event, session, cwd
        )
    text = answer.object().get("text") if answer is not None and answer.ok else ""
    context = fitted(text if isinstance(text, str) else "", line)
    words = "excluded" if answer is None else "%d characters" % len(context) if answer.ok else answer.reason()
    leave_heartbeat(config, "recall", target, name, session, words)
    took = int((time.monotonic() - started) * 1000)
    log_event(config, "recall %s %s: %s; %d ms" % (name, session or "-", words, took))
    return told(name, context, line) if context else {}


def ask_context(config: Config, event: Dict[str, Any], session: str, cwd: str) -> Answer:
    fields = [("cwd", cwd), ("session", session), ("source", text_of(event, "source"))]
    repo = resolve_repo(cwd) if cwd else None
    if repo:
        fields.append(("repo", json.dumps(repo)))
    query = "&".join("%s=%s" % (key, quoted(value)) for key, value in fields if value)
    return ask(config, "GET", "/recall/context?" + query, b"", RECALL_CONNECT_S, RECALL_S)


def ask_notes(config: Config, event: Dict[str, Any], session: str, cwd: str) -> Answer:
    body: Dict[str, Any] = {"prompt": text_of(event, "prompt")[:PROMPT_MAX], "session": session, "cwd": cwd}
    repo = resolve_repo(cwd) if cwd else None
    if repo:
        body["repo"] = repo
    try:
        if config.floor:
            body["floor"] = float(config.floor)
    except ValueError:
        log_event(config, "ARGUS_RECALL_FLOOR is not a number and was passed over")
    data = json.dumps({key: value for key, value in body.items() if value != ""})
    return ask(config, "POST", "/recall/notes", data.encode("ascii"), RECALL_CONNECT_S, RECALL_S)


def length16(text: str) -> int:
    """Characters as JavaScript counts them."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def fitted(text: str, line: str) -> str:
    """The recalled text with the line about what was missed, within CONTEXT_MAX. Whole lines are left out from the
    end, but never the last one: it closes the fence by which capture knows the text as Argus' own."""
    room = CONTEXT_MAX - (length16(line) + 1 if line else 0)
    text = text.strip("\n")
    if length16(text) > room:
        lines = text.split("\n")
        last = lines.pop() if len(lines) > 1 else ""
        room -= length16(last) + 1
        kept = []
        for each in lines:
            room -= length16(each) + 1
            if room < 0:
                break
            kept.append(each)
        text = "\n".join([*kept, last]) if kept and last else ""
    return "\n".join(part for part in (line, text) if part)


def told(name: str, context: str, line: str) -> Dict[str, Any]:
    output: Dict[str, Any] = {"hookSpecificOutput": {"hookEventName": name, "additionalContext": context}}
    if line:
        output["systemMessage"] = line  # the context is read by the model only, this by the person
    return output


def say(output: Dict[str, Any]) -> None:
    """The one object on stdout, written through before the process ends; ASCII, so that no locale can break it."""
    view = memoryview(json.dumps(output).encode("ascii") + b"\n")
    try:
        while view:
            view = view[os.write(1, view):]
    except OSError:
        return
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
