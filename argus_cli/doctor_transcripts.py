"""`argus doctor`: how soon Claude Code deletes transcripts, and how many of those are not in memory yet."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from argus_cli.findings import Finding
from argus_cli.hub import stored_dsn
from argus_memory.errors import ArgusError
from argus_memory.settings import Settings
from argus_memory.transcripts.common import skip_file
from argus_memory.transcripts.exclude import excluded

SWEEP_DEFAULT_DAYS = 30  # Claude Code deletes transcripts after cleanupPeriodDays
SWEEP_GOOD_DAYS = 365
SOON_DAYS = 7  # what goes within a week is told
HEAD_BYTES = 256 * 1024  # the first records say where the session was, and that somebody spoke
DAY = 86400.0

_CWD = re.compile(rb'"cwd"\s*:\s*("(?:[^"\\]|\\.)*")')
_SPOKEN = re.compile(rb'"type"\s*:\s*"user"')


@dataclass(frozen=True, slots=True)
class Transcript:
    """A session's file; `age_days` since it was last written."""

    session: str
    path: Path
    age_days: float


def check_transcripts(settings: Settings, environment: Mapping[str, str]) -> Iterator[Finding]:
    folder = Path(environment.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude")
    if not folder.is_dir():
        yield Finding("transcripts", "unknown", f"no Claude Code at {folder}")
        return
    chosen: Any = {}
    try:
        chosen = json.loads((folder / "settings.json").read_text("utf-8"))
    except FileNotFoundError:
        chosen = {}
    except ValueError:
        yield Finding("transcripts", "warn", f"{folder / 'settings.json'} is not JSON", "mend it")
        return
    days = chosen.get("cleanupPeriodDays") if isinstance(chosen, dict) else None
    yield judge_sweep(days, folder)
    kept = days if isinstance(days, int) and not isinstance(days, bool) else SWEEP_DEFAULT_DAYS
    soon = [one for one in find_transcripts(folder / "projects", time.time()) if one.age_days >= kept - SOON_DAYS]
    soon = [one for one in soon if holds_turns(one.path, settings.exclude)]
    try:
        captured = find_captured(stored_dsn(settings), [one.session for one in soon]) if soon else set()
    except ArgusError as error:
        yield Finding("swept soon", "unknown", f"{len(soon)} within {SOON_DAYS} days; whether captured: {error}")
        return
    yield judge_soon(soon, captured, folder)


def judge_sweep(days: object, folder: Path) -> Finding:
    """`cleanupPeriodDays` as found in Claude Code's settings (None: not set) → a finding."""
    cure = f'set "cleanupPeriodDays": {SWEEP_GOOD_DAYS * 10} in {folder / "settings.json"}'
    if not isinstance(days, int) or isinstance(days, bool):
        told = f"Claude Code deletes transcripts after {SWEEP_DEFAULT_DAYS} days (its default)"
        return Finding("transcripts", "warn", told, cure)
    status = "ok" if days >= SWEEP_GOOD_DAYS else "warn"
    return Finding("transcripts", status, f"Claude Code keeps transcripts for {days} days", cure)


def judge_soon(soon: Iterable[Transcript], captured: Collection[str], folder: Path) -> Finding:
    """Sessions whose file goes within SOON_DAYS; those nothing of which was captured are lost with it."""
    sessions = [one.session for one in soon]
    missing = sum(session not in captured for session in sessions)
    told = f"{len(sessions)} within {SOON_DAYS} days, {missing} of them not captured"
    return Finding("swept soon", "warn" if missing else "ok", told, f"argus import {folder / 'projects'}")


def find_transcripts(folder: Path, now: float) -> list[Transcript]:
    """Main transcripts below Claude Code's projects; `now` in seconds since the epoch."""
    found = []
    for path in folder.glob("*/*.jsonl"):
        if skip_file(str(path)) is None:
            try:
                found.append(Transcript(path.stem, path, (now - path.stat().st_mtime) / DAY))
            except FileNotFoundError:  # swept this moment
                continue
    return found


def holds_turns(path: Path, exclude: Collection[str]) -> bool:
    """Whether somebody spoke in it, in a folder that is captured at all, as far as its beginning tells."""
    try:
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
    except OSError:
        return False
    if not _SPOKEN.search(head):
        return False
    named = _CWD.search(head)
    try:
        return not (named and excluded(str(json.loads(named[1])), exclude))
    except ValueError:
        return True


def find_captured(dsn: str, sessions: list[str]) -> set[str]:
    """Which of the sessions memory has anything of; raises Unreachable without a database."""
    from argus_memory.db import Database, queries

    with Database(dsn, pool_max=1) as db:
        return {row["session"] for row in db.fetch_all(queries("capture").known_sessions, {"sessions": sessions})}
