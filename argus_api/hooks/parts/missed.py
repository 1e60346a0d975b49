"""What could not be captured, kept until a person has been told.

`hook-missed/<session>.json`: {"turns", "since", "reason", "late", "rejected", "why", "dropped"}. `turns` is what
still waits in the transcript (counted anew at each event, not added up); once it has gone out, `late` is set and it
is said once more, in the past tense. The folder is empty in ordinary times, so looking costs nothing.
"""

from __future__ import annotations

import json
import os
import time

from argus_api.hooks.parts.base import read_object, remove_file, safe_name, write_whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List

    from argus_api.hooks.parts.base import Config


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
