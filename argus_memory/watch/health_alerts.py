"""A health check that stays bad becomes an alert; what another alert tells already does not.

    failed   for FAILED_FOR: two looks in a row, so that a restart or one slow answer is no alarm
    warn     for WARN_FOR, where no audit tells it: room on the disk, the outbox, backups
    unknown  for UNKNOWN_FOR, unless it is unknown only because nothing has happened yet

It is well again after WELL_FOR. What a check was, and since when, is in `health_samples`; from before this watchdog
began to beat nothing counts, so that a hub that was off overnight starts without an alarm.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Literal

from argus_memory.db import Database, queries
from argus_memory.settings import Settings
from argus_memory.watch.alerts import Condition, clear_alert, raise_alert
from argus_memory.watch.audits import STAGES
from argus_memory.watch.health_judge import Check

KIND = "health"
FAILED_FOR = timedelta(seconds=60)
WELL_FOR = timedelta(seconds=60)
WARN_FOR = timedelta(minutes=10)
UNKNOWN_FOR = timedelta(minutes=10)
SAMPLE_PACE = timedelta(hours=1)
LOOK = timedelta(days=1)

# Told by alerts of their own: no-show and its kin, watcher, canary, hooks-silent; captures by an audit too.
TOLD_ELSEWHERE = frozenset({"tasks", "watchdogs", "canary", "hooks", "capture", "database"})
WARNINGS = frozenset({"disk", "outbox", "backups", "watchdogs"})  # of the others an audit tells what is a warning
CURES = {
    "migrations": "start Argus with `argus up`, which brings the schema up to date.",
    "dagster": "see `argus status` and the logs of code, daemon and webserver.",
    "watchdogs": "see logs/api.log and the Dagster page of the sensor watch_tasks.",
    "outbox": "see `argus deliveries` and the channel's settings.",
    "disk": "make room on the disk of the home.",
    "backups": "see why the backup task does not run, and run it.",
}


def judge_alert(
    name: str, check: Check, lasted: timedelta, *, dagster_alarm: bool
) -> Literal["raise", "clear", "wait"]:
    """What becomes of a check's alert. `dagster_alarm`: watcher:dagster is open, so that stages stand."""
    if check.is_well:
        return "clear" if lasted >= WELL_FOR else "wait"
    if check.status == "warn":
        if name in WARNINGS:
            return "raise" if lasted >= WARN_FOR else "wait"
        return "clear" if lasted >= WELL_FOR else "wait"  # it works: the alert said that it does not
    if name in TOLD_ELSEWHERE or (dagster_alarm and (name in STAGES or name == "dagster")):
        return "wait"
    if check.status == "failed":
        # Whatever is failed about Dagster is told as watcher:dagster.
        return "raise" if lasted >= FAILED_FOR and name != "dagster" else "wait"
    return "raise" if lasted >= UNKNOWN_FOR else "wait"


def watch_health(
    db: Database, settings: Settings, checks: Mapping[str, Check], *, now: datetime, since: datetime, by: str
) -> None:
    """Keep the samples, raise and clear the alerts; `since`: when this watchdog began to beat."""
    q = queries("watchdog")
    names, statuses = list(checks), [check.status for check in checks.values()]
    asked = {"now": now, "names": names, "statuses": statuses}
    with db.transaction() as conn:
        details = [check.detail for check in checks.values()]
        conn.execute(q.sample_health, {**asked, "details": details, "pace": SAMPLE_PACE})
        started = {row["name"]: row["since"] for row in conn.execute(q.health_since, {**asked, "look": LOOK})}
        alarms = {row["subject"] for row in conn.execute(q.open_subjects, {"kind": "watcher"})}
        opened = {row["subject"] for row in conn.execute(q.open_subjects, {"kind": KIND})}
        for name, check in checks.items():
            lasted = now - max(started.get(name) or now, since)
            subject = f"health:{name}"
            verdict = judge_alert(name, check, lasted, dagster_alarm="watcher:dagster" in alarms)
            if verdict == "raise":
                raise_alert(conn, settings, _condition(name, check), now=now, by=by)
            elif verdict == "clear" and subject in opened:
                clear_alert(conn, settings, KIND, subject, now=now, by=by)


def _condition(name: str, check: Check) -> Condition:
    words = {"failed": "does not work", "warn": "needs a look", "unknown": "cannot be told to work"}
    cure = CURES.get(name, "see `argus status`, stage_passes and the Dagster page of process_memory.")
    return Condition(
        kind=KIND,
        subject=f"health:{name}",
        title=f"Health: {name} {words[check.status]}",
        detail=f"{check.detail}\nWhat to do: {cure}",
        severity="error" if check.status == "failed" else "warn",
        evidence={"check": name, "status": check.status, "since": check.since.isoformat() if check.since else None},
    )
