"""Signs of life of those who watch: `watchdog` (in the API), `dagster` (a sensor), `sender` (the outbox).

A watcher that comes back after a silence notes it in `watcher_gaps`: a run that was due in a time when nobody watched
was missed because the hub was off, and is told so.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from psycopg.types.json import Jsonb

from argus_memory.db import Database, queries

WATCHDOG: Final = "watchdog"
DAGSTER: Final = "dagster"
SENDER: Final = "sender"

# The slowest of them beats every 30 s. Four beats left out are no hiccup, and a no-show is still told in its 60 s by
# the watcher that lives.
SILENCE = timedelta(seconds=120)


@dataclass(frozen=True, slots=True)
class Beat:
    """The last beat. `since`: from when on this process has beaten without a silence; `pass_ms`: its last pass."""

    watcher: str
    at: datetime
    since: datetime
    host: str
    pid: int
    pass_ms: float | None
    detail: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Gap:
    """A time in which a watcher was not there."""

    watcher: str
    from_at: datetime
    until_at: datetime


def beat(
    db: Database,
    watcher: str,
    *,
    now: datetime,
    pass_ms: float | None = None,
    detail: Mapping[str, Any] | None = None,
) -> Gap | None:
    """Note that `watcher` lives in this process; the silence that ends with it, if it was longer than SILENCE."""
    row = db.fetch_one(
        queries("beats").beat,
        {
            "watcher": watcher,
            "now": now,
            "silence": SILENCE,
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "pass_ms": pass_ms,
            "detail": Jsonb(dict(detail or {})),
        },
    )
    return Gap(watcher, row["gap_from"], now) if row and row["gap_from"] else None


def find_beats(db: Database) -> dict[str, Beat]:
    """The last beat of each watcher that ever beat."""
    return {row["watcher"]: Beat(**row) for row in db.fetch_all(queries("beats").find_beats)}


def find_gaps(db: Database, *, since: datetime) -> list[Gap]:
    """Silences that ended after `since`, oldest first."""
    return [Gap(**row) for row in db.fetch_all(queries("beats").gaps_since, {"since": since})]


def is_silent(known: Beat | None, now: datetime) -> bool:
    """Whether the watcher has not beaten for SILENCE; one that never beat is silent.

    So is one whose last beat lies in the future: the clock was set back since, and it has not beaten by the new one.
    """
    return known is None or abs(now - known.at) > SILENCE
