"""What a hook says beside the turns: that it lives, and that a session started, ended, was cleared or compacted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
from psycopg.types.json import Jsonb

from argus_memory.db import Connection, queries
from argus_memory.errors import InvalidItem
from argus_memory.records import is_canary_session
from argus_memory.rules.identity import parse_stamp
from argus_memory.rules.storable import storable, storable_value

q = queries("capture")
TEXT_MAX = 300  # characters of a name, version or event that are kept
MISSED_MAX = 16 * 1024  # bytes of what a hook says it missed; a summary is some hundred
UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class HookSigns:
    """A hook's sign of life. `mark`: what its event says of the session; `at`: when it said so, where it told.
    `is_own`: Argus itself started the session, whose items are dropped."""

    host: str
    target: str
    version: str
    event: str
    session: str | None
    mark: str | None
    at: datetime | None
    detail: str | None
    missed: Mapping[str, Any] | None
    is_own: bool


def read_hook(hook: Mapping[str, Any]) -> HookSigns:
    """Raises InvalidItem naming a field of another type than text, or the host or target that is missing.

    The event may be missing: a hook that was started without one still lives.
    """
    for name in ("host", "target"):
        if not _text(hook, name):
            raise InvalidItem(f"hook.{name}", "is missing; a hook names its host and target")
    event = _text(hook, "event") or UNKNOWN
    reason, source = _text(hook, "reason"), _text(hook, "source")
    own = bool(hook.get("argus_session") or hook.get("argus"))
    given = hook.get("at")
    return HookSigns(
        host=_text(hook, "host") or "",
        target=_text(hook, "target") or "",
        version=_text(hook, "version") or UNKNOWN,
        event=event,
        session=_text(hook, "session"),
        mark=None if own else mark_of(event, source, reason),
        at=parse_stamp(given) if isinstance(given, str | int | float) and not isinstance(given, bool) else None,
        detail=reason or source or _text(hook, "trigger"),
        missed=_missed(hook.get("missed")),
        is_own=own,
    )


def record_hook(conn: Connection, signs: HookSigns, now: datetime) -> None:
    """Keep the heartbeat, and the mark its event stands for, no later than now; a probe's say nothing of a person."""
    if is_canary_session(signs.session):
        return
    fields = {
        "host": signs.host, "target": signs.target, "version": signs.version, "event": signs.event,
        "session": signs.session, "now": now,
    }  # fmt: skip
    if signs.mark and signs.session:
        at = min(signs.at or now, now)
        mark = {**fields, "source": signs.target, "mark": signs.mark, "at": at, "detail": signs.detail}
        conn.execute(q.insert_mark, mark)
    # Last: from here to the commit nothing more is waited for.
    conn.execute(q.beat, {**fields, "missed": None if signs.missed is None else Jsonb(signs.missed)})


def mark_of(event: str, source: str | None, reason: str | None) -> str | None:
    """The session mark a hook's event stands for: start, end, clear, compact or none.

    `/clear` is told twice: the old session ends with reason `clear`, and a session starts with source `clear`, in
    some versions under the same id.
    """
    if event == "SessionEnd":
        return "clear" if reason == "clear" else "end"
    if event == "SessionStart":
        return source if source in ("clear", "compact") else "start"
    return "compact" if event == "PostCompact" else None


def _missed(missed: object) -> Mapping[str, Any] | None:
    if not isinstance(missed, dict) or not missed:
        return None
    try:
        kept: dict[str, Any] = storable_value(missed)
        return kept if len(orjson.dumps(kept)) <= MISSED_MAX else {"too_large": True}
    except (RecursionError, TypeError):  # orjson raises its own TypeError for what it cannot write
        return {"too_large": True}


def _text(hook: Mapping[str, Any], name: str) -> str | None:
    value = hook.get(name)
    if value is None:
        return None
    if not isinstance(value, str):
        raise InvalidItem(f"hook.{name}", "is not text")
    return storable(value)[:TEXT_MAX] or None
