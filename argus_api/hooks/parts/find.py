"""Where transcripts are: the one an event means, and those a sweep should look at."""

from __future__ import annotations

import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Iterator, List, Mapping, Optional, Tuple

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
