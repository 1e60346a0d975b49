"""The watchdog in the API: one pass every 15 s, without Dagster, and without a word of it.

watch_once, each step for itself, so that one that fails keeps no other from being done:

    beat      as `watchdog`; a silence before it is noted
    orphans   runs whose process is gone are closed
    tasks     the ledger of due runs is extended and judged
    dagster   the other side: its sensor's beat, its daemons, its code → watcher:dagster
    health    every check → health_samples, and health:<check> where it stays bad
    hooks     machines whose sessions go on while captures stopped → hooks:<host>/<target>
    waiting   merges held for long, parked units, budgets that are used up
    remind    alerts that stay open
    digest    the day's, where nobody wrote it
    slos      service levels

What failed is in the beat's detail, where the health check `watchdogs` finds it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from time import perf_counter
from zoneinfo import ZoneInfo

from argus_memory.db import Database
from argus_memory.settings import Settings
from argus_memory.stages.passes import describe_error
from argus_memory.tasks.config import default_zone_of
from argus_memory.tasks.runs_orphans import close_orphans
from argus_memory.watch.alerts import Condition, clear_alert, raise_alert, remind_alerts
from argus_memory.watch.beats import DAGSTER, SILENCE, WATCHDOG, Beat, beat, find_beats, is_silent
from argus_memory.watch.digest import write_digest
from argus_memory.watch.health import check_code, check_daemons, check_health
from argus_memory.watch.health_alerts import watch_health
from argus_memory.watch.health_judge import Check, age_of
from argus_memory.watch.hooks_silent import watch_hooks
from argus_memory.watch.ledger import watch_tasks
from argus_memory.watch.slo import measure_slos
from argus_memory.watch.waiting import watch_waiting

SUBJECT = f"watcher:{DAGSTER}"
# The task `daily-digest` writes it at the hour; it is due to start within its grace.
DIGEST_GRACE = timedelta(minutes=10)
DIGEST_LATEST = timedelta(hours=12)  # a hub that starts in the evening tells the next morning

MINUTE = timedelta(minutes=1)

log = logging.getLogger(__name__)


@dataclass(slots=True)
class WatchState:
    """When each step was last done, from pass to pass of one process; a new one does everything at once."""

    done: dict[str, datetime] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WatchReport:
    """What a pass did: the steps done, and those that failed as `step: why`."""

    steps: tuple[str, ...]
    errors: tuple[str, ...]
    milliseconds: float


@dataclass(frozen=True, slots=True)
class Step:
    """`every`: its pace; zero: at each pass."""

    name: str
    every: timedelta
    run: Callable[[Database, Settings, datetime], object]


def watch_once(db: Database, settings: Settings, *, now: datetime, state: WatchState | None = None) -> WatchReport:
    """One pass over the steps that are due. Raises Unreachable while the database is away: nothing can be told."""
    state = state or WatchState()
    began = perf_counter()
    beat(db, WATCHDOG, now=now)
    done: list[str] = []
    errors: list[str] = []
    for step in STEPS:
        last = state.done.get(step.name)
        if last is not None and timedelta() <= now - last < step.every:
            continue
        state.done[step.name] = now
        try:
            step.run(db, settings, now)
        except Exception as error:  # the other steps are to be done; it shows in the beat and in health
            log.exception("the watchdog's step %s failed", step.name)
            errors.append(f"{step.name}: {describe_error(error)}")
        else:
            done.append(step.name)
    took = (perf_counter() - began) * 1000
    beat(db, WATCHDOG, now=now, pass_ms=took, detail={"errors": errors} if errors else {})
    return WatchReport(tuple(done), tuple(errors), took)


def find_dagster_faults(heard: Beat | None, daemons: Check, code: Check, now: datetime) -> list[str]:
    """What is wrong on Dagster's side, a line each; `heard`: the last beat of its sensor."""
    faults = []
    if is_silent(heard, now):
        faults.append(f"Its watchdog last beat {age_of(heard.at, now)}." if heard else "Its watchdog never beat.")
    if not daemons.is_well:
        faults.append(f"Daemons: {daemons.detail}.")
    if code.status == "failed":
        faults.append(f"Code: {code.detail}.")
    return faults


def watch_dagster(db: Database, settings: Settings, now: datetime) -> list[str]:
    """Raise or clear watcher:dagster. This watchdog has to be there for SILENCE first: services start one by one."""
    beats = find_beats(db)
    faults = find_dagster_faults(beats.get(DAGSTER), check_daemons(db, now), check_code(settings.dagster_url), now)
    own = beats.get(WATCHDOG)
    with db.transaction() as conn:
        if not faults:
            title = "Dagster's side works again"
            clear_alert(conn, settings, "watcher", SUBJECT, now=now, by=WATCHDOG, title=title)
        elif own is not None and now - own.since >= SILENCE:
            raise_alert(conn, settings, _dagster_down(faults), now=now, by=WATCHDOG)
    return faults


def _dagster_down(faults: list[str]) -> Condition:
    return Condition(
        kind="watcher",
        subject=SUBJECT,
        title="Dagster's side does not work: no task starts, nothing is distilled",
        detail="\n".join(
            [*faults, "What to do: `argus status`, then the logs of daemon and code in $ARGUS_HOME/logs."]
        ),
        evidence={"faults": faults},
    )


def _watch_health(db: Database, settings: Settings, now: datetime) -> None:
    own = find_beats(db).get(WATCHDOG)
    checks = check_health(db, settings, now=now)
    watch_health(db, settings, checks, now=now, since=own.since if own else now, by=WATCHDOG)


def is_digest_due(settings: Settings, now: datetime) -> bool:
    """Whether the day's digest should be there by now, in the operator's zone."""
    local = now.astimezone(ZoneInfo(default_zone_of(settings)))
    at = datetime.combine(local.date(), settings.digest_at, local.tzinfo)
    return DIGEST_GRACE <= local - at <= DIGEST_LATEST


def _write_digest(db: Database, settings: Settings, now: datetime) -> None:
    if is_digest_due(settings, now):
        write_digest(db, settings, now=now, by=WATCHDOG)


def _watch_tasks(db: Database, settings: Settings, now: datetime) -> None:
    watch_tasks(db, settings, now=now, by="watchdog")


STEPS: tuple[Step, ...] = (
    Step("orphans", timedelta(), lambda db, settings, now: close_orphans(db, settings, now=now)),
    Step("tasks", timedelta(), _watch_tasks),
    Step("dagster", timedelta(), watch_dagster),
    Step("health", MINUTE, _watch_health),
    Step("hooks", 5 * MINUTE, lambda db, settings, now: watch_hooks(db, settings, now=now, by=WATCHDOG)),
    Step("remind", MINUTE, lambda db, settings, now: remind_alerts(db, settings, now=now)),
    Step("waiting", 5 * MINUTE, lambda db, settings, now: watch_waiting(db, settings, now=now, by=WATCHDOG)),
    Step("digest", 5 * MINUTE, _write_digest),
    Step("slos", 60 * MINUTE, lambda db, settings, now: measure_slos(db, settings, now=now, by=WATCHDOG)),
)
