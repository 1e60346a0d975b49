"""Is it working? Each part asked once, for /healthz, `argus doctor` and pages; no answer holds a word of a memory.

    ok        asked, and well
    warn      works, but something waits for long or for a person
    failed    does not do its part
    unknown   cannot be told: never shown as ok

Facts are read by sql/health.sql, judged by the pure `judge_*`; a question that cannot be asked is unknown.
"""

from __future__ import annotations

import logging
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Literal

import psycopg

from argus_memory.db import Database, queries
from argus_memory.errors import Unreachable
from argus_memory.migrate import MIGRATIONS
from argus_memory.settings import Settings
from argus_memory.stages.spaces import EMBED_ATTEMPTS
from argus_memory.watch.audits import LATE_AFTER, SILENT_AFTER, STAGE_IDLE_AFTER, STAGES
from argus_memory.watch.dagster_code import ask_code, judge_code
from argus_memory.watch.pending import due_params, with_due_tails

Status = Literal["ok", "warn", "failed", "unknown"]
Overall = Literal["ok", "degraded", "down"]

HEARTBEAT_MAX = timedelta(seconds=120)  # daemons beat every 30 s; Dagster itself waits 1,800 s, which is too late
DAEMONS = ("SENSOR", "SCHEDULER", "QUEUED_RUN_COORDINATOR")
WEBSERVER_WAIT_SECONDS = 1.5  # it answers in 0.15; with the database's wait it stays within the five of /healthz
# So long what the webserver said is believed, that /healthz costs little; what is not well is asked anew sooner.
CODE_OK_SECONDS, CODE_ELSE_SECONDS = 30.0, 5.0
DISK_WARN_BYTES = 2 * 1024**3
DISK_FAILED_BYTES = 256 * 1024**2  # Postgres stops when the last of it is gone
DATABASE_WAIT_SECONDS = 2.0  # for a connection; /healthz has to answer within five
# Without these nothing can be captured.
VITAL = ("database", "migrations")

SEVERITY: tuple[Status, ...] = ("ok", "warn", "unknown", "failed")

log = logging.getLogger(__name__)
_code_known: dict[str, tuple[float, Check]] = {}  # webserver → until when (time.monotonic) it holds


@dataclass(frozen=True, slots=True)
class Check:
    """One answer. `since`: from when on it is so, if that is known; `idle`: unknown because nothing happened yet."""

    status: Status
    detail: str
    since: datetime | None = None
    idle: bool = False


@dataclass(frozen=True, slots=True)
class Waiting:
    """What waits before a stage, and its last pass."""

    waiting: int = 0
    since: datetime | None = None
    parked: int = 0
    passed_at: datetime | None = None
    outcome: str | None = None


def overall(checks: Mapping[str, Check]) -> Overall:
    """down: nothing can be captured; degraded: something is wrong or cannot be told; else ok."""
    if any(checks[name].status == "failed" for name in VITAL if name in checks):
        return "down"
    well = all(check.status == "ok" or (check.status == "unknown" and check.idle) for check in checks.values())
    return "ok" if well else "degraded"


def check_health(db: Database, settings: Settings, *, now: datetime) -> dict[str, Check]:
    """Every check by name; never raises for what is wrong, and waits for no database longer than a few seconds."""
    checks = {"database": _ask(lambda: _check_database(db))}
    if checks["database"].status == "ok":
        asked: dict[str, Callable[[], Check]] = {
            "migrations": lambda: _check_migrations(db),
            "capture": lambda: _check_capture(db, now),
            "dagster": lambda: worse(_check_daemons(db, now), check_code(settings.dagster_url)),
        }
        checks |= {name: _ask(question) for name, question in asked.items()}
        checks |= _check_stages(db, settings, now)
    else:
        away = Check("unknown", "cannot be asked without the database")
        checks |= dict.fromkeys(("migrations", "capture", "dagster", *STAGES), away)
    checks["disk"] = _ask(lambda: _check_disk(settings.home))
    return checks


def find_head() -> str:
    """The newest revision of this code, by the files' names: without Alembic, which costs 0.2 s and 20 MB."""
    return max(path.stem for path in (MIGRATIONS / "versions").glob("[0-9]*.py"))


def judge_revision(current: str | None, head: str) -> Check:
    if current == head:
        return Check("ok", f"at {head}")
    return Check("failed", f"at {current or 'no revision'}, this version needs {head}: `argus up` brings it there")


def judge_capture(
    row_at: datetime | None, outcome_at: datetime | None, beat_at: datetime | None, silent: int, now: datetime
) -> Check:
    """Rows have to arrive while hooks report; what is delivered again or skipped on purpose is arriving too."""
    arrived = max((at for at in (row_at, outcome_at) if at is not None), default=None)
    if arrived is None and beat_at is None:
        return Check("unknown", "nothing was captured yet, and no hook has reported", idle=True)
    last = f"last capture {_age(row_at, now)}" if row_at else "nothing was captured yet"
    if silent:
        machines = "machine reports" if silent == 1 else "machines report"
        return Check("failed", f"{last}; {silent} {machines} sessions, but their turns do not arrive", arrived)
    if arrived is None:
        return Check("unknown", f"{last}; a hook reported {_age(beat_at, now)}", beat_at, idle=True)
    if beat_at is not None and beat_at - arrived > SILENT_AFTER and now - beat_at < SILENT_AFTER:
        return Check("failed", f"{last}, while hooks reported {_age(beat_at, now)}", arrived)
    return Check("ok", last, row_at or arrived)


def judge_stage(work: Waiting, now: datetime, *, note: str = "") -> Check:
    """A backlog that is being worked off is well; one that nobody works on is not."""
    words = [f"{work.waiting:,} waiting" if work.waiting else "nothing waits"]
    if work.passed_at is not None:
        words.append(f"last pass {_age(work.passed_at, now)}")
    if work.parked:
        words.append(f"{work.parked:,} parked after repeated failures")
    if note:
        words.append(note)
    detail = ", ".join(words)
    waited = now - work.since if work.since is not None else timedelta()
    worked = work.passed_at is not None and now - work.passed_at < STAGE_IDLE_AFTER
    if work.waiting and waited > STAGE_IDLE_AFTER and not worked:
        return Check("failed", f"{detail}: no pass takes up what waits", work.since)
    if work.outcome == "failed":
        return Check("warn", f"{detail}: the last pass failed, see stage_passes", work.passed_at)
    if work.waiting and waited > LATE_AFTER:
        return Check("warn", f"{detail}: the oldest since {_age(work.since, now)}", work.since)
    if work.parked:
        return Check("warn", detail, work.passed_at)
    if work.passed_at is None and not work.waiting:
        return Check("unknown", "nothing to do yet", idle=True)
    return Check("ok", detail, work.since or work.passed_at)


def judge_daemons(beats: Mapping[str, datetime], now: datetime) -> Check:
    """Each daemon that Argus needs has beaten within HEARTBEAT_MAX."""
    missing = [name for name in DAEMONS if name not in beats]
    if missing:
        return Check("failed", f"no heartbeat yet of {', '.join(missing)}")
    oldest = min(DAEMONS, key=lambda name: beats[name])
    if now - beats[oldest] > HEARTBEAT_MAX:
        return Check("failed", f"{oldest} last beat {_age(beats[oldest], now)}", beats[oldest])
    return Check("ok", f"all beat, the oldest {_age(beats[oldest], now)}", beats[oldest])


def worse(first: Check, second: Check) -> Check:
    """Of two answers about one part the one to worry about; the first where they are alike."""
    return second if SEVERITY.index(second.status) > SEVERITY.index(first.status) else first


def check_code(url: str, *, clock: Callable[[], float] = time.monotonic) -> Check:
    """Whether Dagster has the code and its sensors run: without that every daemon beats and nothing is done."""
    until, check = _code_known.get(url, (0.0, None))
    if check is None or clock() >= until:
        try:
            # An error of the code may say anything, and this answer asks for no token: its class alone.
            status, detail = judge_code(ask_code(url, seconds=WEBSERVER_WAIT_SECONDS), errors=False)
            check = Check(status, detail if status == "ok" else f"{detail}; `argus status` tells more")
        except Unreachable:
            check = Check("unknown", "the webserver does not answer, whether the code is loaded cannot be told")
        _code_known[url] = (clock() + (CODE_OK_SECONDS if check.status == "ok" else CODE_ELSE_SECONDS), check)
    return check


def judge_disk(free: int, total: int) -> Check:
    """Bytes free where the home is."""
    detail = f"{free / 1024**3:.1f} of {total / 1024**3:.1f} GB free"
    if free < DISK_FAILED_BYTES:
        return Check("failed", f"{detail}: make room, or Postgres will stop")
    return Check("warn" if free < DISK_WARN_BYTES else "ok", detail)


def _ask(question: Callable[[], Check]) -> Check:
    try:
        return question()
    except Unreachable:  # its text may name the database's host and user
        return Check("failed", "cannot be reached")
    except Exception as error:  # whatever it is, the question stays unanswered and must show
        log.exception("a health check could not be made")
        return Check("unknown", f"could not be asked ({type(error).__name__}); the log tells more")


def _check_database(db: Database) -> Check:
    with db.transaction(wait=DATABASE_WAIT_SECONDS) as conn:
        conn.execute("select 1")
    return Check("ok", "answers")


def _check_migrations(db: Database) -> Check:
    try:
        row = db.fetch_one(queries("health").revision)
    except psycopg.errors.UndefinedTable:
        row = None
    return judge_revision(row["version_num"] if row else None, find_head())


def _check_capture(db: Database, now: datetime) -> Check:
    row = db.fetch_one(queries("health").last_signs)
    assert row is not None
    silent = db.fetch_all(queries("audits").silent_hosts, {"now": now, "age": SILENT_AFTER, "shown": 1})
    return judge_capture(row["row_at"], row["outcome_at"], row["beat_at"], silent[0]["total"] if silent else 0, now)


def _check_stages(db: Database, settings: Settings, now: datetime) -> dict[str, Check]:
    failure: Check | None = None
    work: dict[str, Waiting] = {}
    held = 0

    def load() -> Check:
        nonlocal held
        params: dict[str, Any] = {**due_params(settings, now), "attempts": EMBED_ATTEMPTS}
        passes = {row["stage"]: row for row in db.fetch_all(queries("health").last_passes, {"stages": STAGES})}
        for row in db.fetch_all(with_due_tails(queries("health").waiting), params):
            last = passes.get(row["stage"], {})
            work[row["stage"]] = Waiting(
                row["waiting"], row["since"], row["parked"], last.get("finished_at"), last.get("outcome")
            )
        reviews = db.fetch_one(queries("health").held)
        held = reviews["held"] if reviews else 0
        return Check("ok", "")

    failure = _ask(load)
    if failure.status != "ok":
        return dict.fromkeys(STAGES, failure)
    note = f"{held} held for review" if held else ""
    return {stage: judge_stage(work[stage], now, note=note if stage == "dedup" else "") for stage in STAGES}


def _check_daemons(db: Database, now: datetime) -> Check:
    row = db.fetch_one(queries("health").has_daemon_table)
    if row is None or not row["there"]:
        return Check("unknown", "no Dagster has used this database yet")
    return judge_daemons({r["daemon_type"]: r["at"] for r in db.fetch_all(queries("health").daemon_heartbeats)}, now)


def _check_disk(home: Path) -> Check:
    place = next(path for path in (home, *home.parents) if path.exists())
    usage = shutil.disk_usage(place)
    return judge_disk(usage.free, usage.total)


def _age(at: datetime | None, now: datetime) -> str:
    """`just now`, `5 min ago`, `3 h ago`, `2 days ago`."""
    assert at is not None
    seconds = (now - at).total_seconds()
    if seconds < 60:
        return "just now"
    if seconds < 2 * 3600:
        return f"{seconds // 60:.0f} min ago"
    if seconds < 2 * 86400:
        return f"{seconds // 3600:.0f} h ago"
    return f"{seconds // 86400:.0f} days ago"
