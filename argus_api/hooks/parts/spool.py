"""Words that stand in no transcript, kept until they can be sent: bounded, the oldest dropped first and counted.

Two kinds of line in `hook-spool.jsonl`. One waits for its transcript, which may only be late: when it appears, the
line is dropped, because the transcript carries the words under their own uuid; when it has not appeared by `due`,
the words are sent. The other has no transcript to wait for (a Codex `notify` without a rollout) and `due` is 0.
"""

from __future__ import annotations

import json
import os

from argus_api.hooks.parts.base import remove_file, write_whole
from argus_api.hooks.parts.missed import note_dropped
from argus_api.hooks.parts.offsets import HookLock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List

    from argus_api.hooks.parts.base import Config
    from argus_api.hooks.parts.deliver import Delivery

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
