"""Is it working? Each part asked once, for /healthz, `argus doctor`, checks and pages; no answer holds a memory.

    ok        asked, and well
    warn      works, but something waits for long or for a person
    failed    does not do its part
    unknown   cannot be told: never shown as ok

Facts are read by sql/health.sql, judged by health_judge.py and health_judge_watch.py; a question that cannot be asked
is unknown.
"""

from __future__ import annotations

import logging
import shutil
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import psycopg

from argus_memory.db import Database, queries
from argus_memory.errors import Unreachable
from argus_memory.migrate import MIGRATIONS
from argus_memory.settings import Settings
from argus_memory.stages.spaces import EMBED_ATTEMPTS
from argus_memory.watch.audits import SILENT_AFTER, STAGES
from argus_memory.watch.beats import find_beats
from argus_memory.watch.dagster_code import ask_code, judge_code
from argus_memory.watch.health_judge import (
    Check,
    Waiting,
    judge_capture,
    judge_daemons,
    judge_disk,
    judge_revision,
    judge_stage,
    worse,
)
from argus_memory.watch.health_judge_watch import (
    UNJUDGED_AFTER,
    LastCanary,
    WatchFacts,
    judge_backups,
    judge_canary,
    judge_hooks,
    judge_tasks,
    judge_watchdogs,
)
from argus_memory.watch.pending import due_params, with_due_tails
from argus_memory.watch.sender_state import find_sender_state

WEBSERVER_WAIT_SECONDS = 1.5  # it answers in 0.15; with the database's wait it stays within the five of /healthz
# So long what the webserver said is believed, that /healthz costs little; what is not well is asked anew sooner.
CODE_OK_SECONDS, CODE_ELSE_SECONDS = 30.0, 5.0
DATABASE_WAIT_SECONDS = 2.0  # for a connection; /healthz has to answer within five
WATCHED = ("tasks", "watchdogs", "outbox", "canary", "hooks")  # answered from one reading

log = logging.getLogger(__name__)
_code_known: dict[str, tuple[float, Check]] = {}  # webserver → until when (time.monotonic) it holds


def check_health(db: Database, settings: Settings, *, now: datetime) -> dict[str, Check]:
    """Every check by name; never raises for what is wrong, and waits for no database longer than a few seconds."""
    checks = {"database": _ask(lambda: _check_database(db))}
    if checks["database"].status == "ok":
        asked: dict[str, Callable[[], Check]] = {
            "migrations": lambda: _check_migrations(db),
            "backups": lambda: _check_backups(db, now),
            "capture": lambda: _check_capture(db, now),
            "dagster": lambda: worse(check_daemons(db, now), check_code(settings.dagster_url)),
        }
        checks |= {name: _ask(question) for name, question in asked.items()}
        checks |= _check_stages(db, settings, now)
        checks |= _check_watched(db, settings, now)
    else:
        away = Check("unknown", "cannot be asked without the database")
        checks |= dict.fromkeys(("migrations", "backups", "capture", "dagster", *STAGES, *WATCHED), away)
    checks["disk"] = _ask(lambda: _check_disk(settings.home))
    return checks


def find_head() -> str:
    """The newest revision of this code, by the files' names: without Alembic, which costs 0.2 s and 20 MB."""
    return max(path.stem for path in (MIGRATIONS / "versions").glob("[0-9]*.py"))


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


def check_daemons(db: Database, now: datetime) -> Check:
    """Whether Dagster's daemons beat; unknown where no Dagster has used the database."""
    row = db.fetch_one(queries("health").has_daemon_table)
    if row is None or not row["there"]:
        return Check("unknown", "no Dagster has used this database yet")
    return judge_daemons({r["daemon_type"]: r["at"] for r in db.fetch_all(queries("health").daemon_heartbeats)}, now)


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


def _check_backups(db: Database, now: datetime) -> Check:
    row = db.fetch_one(queries("backups").latest)
    assert row is not None
    return judge_backups(row["proven_at"], row["made_at"], row["outcome"], now)


def _check_capture(db: Database, now: datetime) -> Check:
    row = db.fetch_one(queries("health").last_signs)
    assert row is not None
    silent = db.fetch_all(queries("audits").silent_hosts, {"now": now, "age": SILENT_AFTER, "shown": 1})
    return judge_capture(row["row_at"], row["outcome_at"], row["beat_at"], silent[0]["total"] if silent else 0, now)


def _check_stages(db: Database, settings: Settings, now: datetime) -> dict[str, Check]:
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


def _check_watched(db: Database, settings: Settings, now: datetime) -> dict[str, Check]:
    found: dict[str, Check] = {}

    def load() -> Check:
        q = queries("health")
        facts = WatchFacts(**(db.fetch_one(q.watch_facts, {"now": now, "unjudged": UNJUDGED_AFTER}) or {}))
        beats = find_beats(db)
        row = db.fetch_one(q.last_canary)
        canary = LastCanary(**row) if row else None
        found["tasks"] = judge_tasks(facts, now)
        found["watchdogs"] = judge_watchdogs(beats, now)
        sender = find_sender_state(db, settings, now=now)
        found["outbox"] = Check(sender.status, sender.detail, sender.since, sender.idle)
        found["canary"] = judge_canary(canary, every=settings.canary_every, now=now)
        found["hooks"] = judge_hooks(facts, beats, now)
        return Check("ok", "")

    failure = _ask(load)
    return dict.fromkeys(WATCHED, failure) if failure.status != "ok" else found


def _check_disk(home: Path) -> Check:
    place = next(path for path in (home, *home.parents) if path.exists())
    usage = shutil.disk_usage(place)
    return judge_disk(usage.free, usage.total)
