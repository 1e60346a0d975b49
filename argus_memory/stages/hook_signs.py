"""What a hook says beside the turns: that it lives, and that a session started, ended, was cleared or compacted."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from psycopg.types.json import Jsonb

from argus_memory.db import Connection, queries
from argus_memory.errors import InvalidItem
from argus_memory.rules.identity import parse_stamp
from argus_memory.rules.storable import storable, storable_value

q = queries("capture")
TEXT_MAX = 300  # characters of a name, version or event that are kept


def record_hook(conn: Connection, hook: Mapping[str, Any], now: datetime) -> None:
    """Keep the heartbeat, and the mark its event stands for. Raises InvalidItem when `hook` is no hook's object."""
    fields = {name: _text(hook, name) for name in ("host", "target", "version", "event", "session")}
    for name in ("host", "target", "event"):
        if not fields[name]:
            raise InvalidItem(f"hook.{name}", "is missing; a hook names its host, target and event")
    missed = hook.get("missed")
    conn.execute(
        q.beat,
        {
            **fields,
            "version": fields["version"] or "unknown",
            "missed": Jsonb(storable_value(missed)) if isinstance(missed, dict) and missed else None,
            "now": now,
        },
    )
    mark = mark_of(fields["event"] or "", _text(hook, "source"), _text(hook, "reason"))
    if mark and fields["session"]:
        given = hook.get("at")
        at = parse_stamp(given) if isinstance(given, str | int | float) else None
        detail = _text(hook, "reason") or _text(hook, "source") or _text(hook, "trigger")
        conn.execute(
            q.insert_mark,
            {
                "session": fields["session"],
                "source": fields["target"],
                "mark": mark,
                "at": min(at or now, now),
                "host": fields["host"],
                "detail": detail,
                "now": now,
            },
        )


def mark_of(event: str, source: str | None, reason: str | None) -> str | None:
    """The session mark a hook's event stands for: start, end, clear, compact or none.

    `/clear` is told twice: the old session ends with reason `clear`, a new one starts with source `clear`; the mark
    belongs to the old one.
    """
    if event == "SessionEnd":
        return "clear" if reason == "clear" else "end"
    if event == "SessionStart":
        return "compact" if source == "compact" else "start"
    return "compact" if event == "PostCompact" else None


def _text(hook: Mapping[str, Any], name: str) -> str | None:
    value = hook.get(name)
    if value is None:
        return None
    if not isinstance(value, str):
        raise InvalidItem(f"hook.{name}", f"is a {type(value).__name__}, text is needed")
    return storable(value)[:TEXT_MAX] or None
