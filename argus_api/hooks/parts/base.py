"""What both hooks need: the settings, files written whole, and a log that stays small.

Files under `$ARGUS_HOME` (folders 0700, files 0600):

    env                        KEY=VALUE lines; the environment wins
    hook.log, hook.log.1       one line an event, at most 2 x LOG_MAX bytes; never a token, never what was said
    hook-offsets/              how far each session has been read
    hook-missed/               what could not be captured, until it has been said
    hook-spool.jsonl           prompts that stand in no transcript
    hook-heartbeat/            the last event of each hook and target
"""

from __future__ import annotations

import json
import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Mapping, Optional, Tuple

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
