"""Runs whose process is gone: their reports are filed from the spool, and what left none is closed as orphaned.

close_orphans:

1. every report in $ARGUS_HOME/run/tasks whose runner did not file it (dead, or without the database): filed as what
   it says;
2. every open run of this machine whose runner is gone (no such process, or another one under its number) and whose
   guard is gone too: orphaned;
3. every open run of another machine that has been silent for longer than AWAY_AFTER: orphaned.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
import socket
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import psutil
import psycopg
from psycopg.rows import DictRow

from argus_memory.db import Database, queries
from argus_memory.settings import Settings
from argus_memory.tasks.runner_env import RunPlace, place_of
from argus_memory.tasks.runner_file import RunFiles, file_end, make_end, remove_files
from argus_memory.tasks.runs_write import RunEnd, finish_run

log = logging.getLogger(__name__)

SETTLED_AFTER = 10.0  # seconds; a younger report is being filed by its runner
AWAY_AFTER = timedelta(minutes=10)  # of silence of a run on another machine; its runner beats every 15 s
CLOCK_STEP = timedelta(seconds=5)  # by which a process's start may seem to move when the clock is set


def close_orphans(db: Database, settings: Settings, *, now: datetime, task: str | None = None) -> int:
    """How many runs were closed; with `task` only its own. Raises Unreachable without a database."""
    rows = db.fetch_all(queries("runs").open_runs, {"task": task})
    open_runs = {str(row["rid"]): row for row in rows}
    closed = 0
    for spool in _spooled(settings):
        row = open_runs.get(spool.stem)
        if row is None and task is None:
            closed += _file_unknown(db, settings, spool, now=now)
        elif row is not None and (_is_old(spool) or not _is_alive(row)):
            closed += _file_spool(db, settings, row, spool, now=now)
            del open_runs[spool.stem]
    for rid, row in open_runs.items():
        reason = _find_reason(settings, row, now)
        if reason is not None:
            closed += _close_silent(db, settings, row, place_of(settings, rid), reason, now=now)
    return closed


def _spooled(settings: Settings) -> list[Path]:
    """The reports there are; whatever else lies in the folder is left alone, and hinders none of them."""
    found = place_of(settings, "").root.glob("*.json")
    return sorted(path for path in found if _is_rid(path.stem) and path.is_file())


def _is_rid(name: str) -> bool:
    try:
        return str(UUID(name)) == name
    except ValueError:
        return False


def _is_old(spool: Path) -> bool:
    try:
        age = datetime.now(UTC).timestamp() - spool.stat().st_mtime
    except FileNotFoundError:  # filed meanwhile
        return False
    return abs(age) > SETTLED_AFTER  # a file from the future is one from before the clock was set


def _file_spool(db: Database, settings: Settings, row: DictRow, spool: Path, *, now: datetime) -> int:
    """File what the guard reported; a report that cannot be read closes the run as orphaned."""
    place = place_of(settings, str(row["rid"]))
    files = RunFiles.open(place, row["task"], row["started_at"])
    files.messages.read(last=True)
    try:
        report: dict[str, Any] = json.loads(spool.read_bytes())
        end = make_end(settings, files, report)
        return int(file_end(db, settings, files, end, now=now).closed)
    except FileNotFoundError:
        return 0
    except (OSError, ValueError, TypeError, AttributeError, LookupError, psycopg.DataError):  # no report of our guard
        return _close_silent(db, settings, row, place, f"its report {spool.name} cannot be read", now=now)


def _file_unknown(db: Database, settings: Settings, spool: Path, *, now: datetime) -> int:
    """A report without an open run: closed already, so it is not needed, or of a run this database never had."""
    known = db.fetch_one(queries("runs").find_run_task, {"rid": spool.stem})
    if known is not None and _is_old(spool):
        remove_files(place_of(settings, spool.stem))
    elif known is None and _is_old(spool):
        kept = spool.rename(spool.with_suffix(".unfiled"))
        log.error("the report %s is of a run this database does not have; it is kept", kept)
    return 0


def _find_reason(settings: Settings, row: DictRow, now: datetime) -> str | None:
    """Why a run without a report is taken for lost; None while it may be at work."""
    if row["host"] != socket.gethostname():
        if now - row["beat_at"] > AWAY_AFTER:
            return f"its runner on {row['host']} has been silent since {row['beat_at']:%Y-%m-%d %H:%M:%S} UTC"
        return None
    if _is_alive(row) or _guard_lives(place_of(settings, str(row["rid"]))):
        return None
    return f"its runner (process {row['pid']}) is gone, and no report was left"


def _is_alive(row: DictRow) -> bool:
    """Whether the run's runner is still the process under its number; that of another machine counts as alive."""
    if row["host"] != socket.gethostname():
        return True
    if row["pid"] is None or row["pid_started_at"] is None:
        return False
    if row["pid"] == os.getpid():
        return True
    try:
        process = psutil.Process(row["pid"])
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        started_at = datetime.fromtimestamp(process.create_time(), UTC)
    except psutil.Error:
        return False
    return bool(abs(started_at - row["pid_started_at"]) <= CLOCK_STEP)


def _guard_lives(place: RunPlace) -> bool:
    """The guard holds its lock for as long as it lives."""
    try:
        fd = os.open(place.lock, os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(fd)
    return False


def _close_silent(
    db: Database, settings: Settings, row: DictRow, place: RunPlace, reason: str, *, now: datetime
) -> int:
    """Close a run of which nothing but its messages may be left."""
    files = RunFiles.open(place, row["task"], row["started_at"])
    files.messages.read(last=True)
    said = make_end(settings, files, {})
    end = RunEnd(
        "orphaned", now, reason=reason, output=said.output, metrics=said.metrics, cost_usd=said.cost_usd,
        engine=said.engine, redactions=said.redactions,
    )  # fmt: skip
    try:
        return int(file_end(db, settings, files, end, now=now).closed)
    except (psycopg.DataError, UnicodeError) as error:  # what cannot be stored must not keep the run open for ever
        log.error("what run %s said cannot be stored: %s", row["rid"], error)
        end = RunEnd("orphaned", now, reason=f"{reason}; what it said cannot be stored")
        finished = finish_run(db, settings, str(row["rid"]), end, now=now, policy=files.policy)
        remove_files(place)
        return int(finished.closed)
