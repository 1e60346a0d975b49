"""What the task commands share: the list as this machine reads it, times and spans for a person, JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from argus_memory.records import TaskList
from argus_memory.settings import Settings
from argus_memory.watch.alerts import describe_span
from argus_memory.watch.start_task import load_tasks


def load_list(settings: Settings) -> TaskList:
    return load_tasks(settings)


def as_json(value: Any) -> str:
    return json.dumps(value, default=_plain, ensure_ascii=False)


def _plain(value: Any) -> Any:
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def local_time(at: datetime, zone: str) -> str:
    """`Tue 2026-12-01 07:30 +01:00`: the offset is said, since one hour a year comes twice."""
    local = at.astimezone(ZoneInfo(zone))
    offset = local.strftime("%z")
    return f"{local:%a %Y-%m-%d %H:%M} {offset[:3]}:{offset[3:5]}"


def ago(at: datetime, now: datetime) -> str:
    return f"{describe_span(now - at)} ago"


def as_columns(rows: Sequence[Sequence[str]]) -> str:
    """Rows of words under each other; the last column is as long as it is."""
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]) - 1)] if rows else []
    lines = []
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        lines.append("  ".join([*cells, row[-1]]).rstrip())
    return "\n".join(lines)
