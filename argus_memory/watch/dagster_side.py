"""What Dagster's sensor does every half minute, without a word of Dagster: one of the two watchdogs.

watch_side:

1. register the stanzas this code location has loaded
2. beat as `dagster`
3. extend and judge the ledger, as the watchdog in the API does from its side
4. say when that watchdog is silent, and when it is there again
5. send what waits in the outbox when its own sender is silent
6. answer the checks of tasks

A step that fails does not keep the next ones from being done; `errors` tells it, and the tick is a failed one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from time import perf_counter
from typing import Any, Final, TypeVar

from argus_memory.db import Database
from argus_memory.settings import Settings
from argus_memory.tasks.register_again import TaskRegister
from argus_memory.tasks.registry import Registered
from argus_memory.tasks.runs_orphans import close_orphans
from argus_memory.watch.alerts import Condition, clear_alert, raise_alert
from argus_memory.watch.beats import DAGSTER, SENDER, SILENCE, WATCHDOG, Beat, beat, find_beats, is_silent
from argus_memory.watch.ledger import TaskWatch, watch_tasks
from argus_memory.watch.task_checks import CheckState, find_checks, judge_config

WATCHER: Final = "watcher"
SUBJECT: Final = f"watcher:{WATCHDOG}"
SEND_AT_MOST = 5  # messages a tick: a sensor has 60 s, and a server that hangs takes its time over each

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class DagsterSide:
    """What one pass came to; None where a step failed, which `errors` tells."""

    registered: Registered | None
    watched: TaskWatch | None
    watchdog_silent: bool | None
    sent: bool
    checks: tuple[CheckState, ...]
    errors: tuple[str, ...]

    def describe(self, told: int) -> str:
        """One line for the tick."""
        changes = self.watched.changes if self.watched else ()
        parts = [f"{self.registered.tasks if self.registered else 0} tasks", f"{len(changes)} changes in the ledger"]
        parts += [f"{change.task} {change.to_status}" for change in changes[:5]]
        if told:
            parts.append(f"{told} checks told")
        if self.watchdog_silent:
            parts.append("the watchdog in the API is silent")
        if self.sent:
            parts.append("the outbox was sent from here")
        return ", ".join(parts)


def watch_side(db: Database, settings: Settings, register: TaskRegister, *, now: datetime) -> DagsterSide:
    """One pass; raises nothing but what takes the process down."""
    began = perf_counter()
    errors: list[str] = []
    task_list = register.task_list

    def attempt(what: str, step: Callable[[], T]) -> T | None:
        try:
            return step()
        except Exception as error:  # noqa: BLE001  the other steps are to be done; it is told in the tick
            errors.append(f"{what}: {error or type(error).__name__}")
            return None

    registered = attempt("register", lambda: register.confirm(db, settings, now=now, by=DAGSTER))
    attempt("beat", lambda: beat(db, DAGSTER, now=now))
    # A run that died is closed before the ledger is judged by it.
    attempt("orphans", lambda: close_orphans(db, settings, now=now))
    watched = attempt("ledger", lambda: watch_tasks(db, settings, now=now, by="dagster"))
    beats = attempt("beats", lambda: find_beats(db)) or {}
    silent = attempt("watchdog", lambda: judge_watchdog(db, settings, beats, now=now)) if beats else None
    sent = bool(beats and attempt("outbox", lambda: send_instead(db, settings, beats, now=now)))
    checks = (*judge_config(task_list), *(attempt("checks", lambda: find_checks(db, task_list.tasks)) or ()))
    detail = {"errors": errors} if errors else {}
    took = (perf_counter() - began) * 1000
    attempt("beat", lambda: beat(db, DAGSTER, now=now, pass_ms=took, detail=detail))
    return DagsterSide(registered, watched, silent, sent, checks, tuple(errors))


def may_judge(beats: dict[str, Beat], now: datetime) -> bool:
    """Whether this side is there for long enough to call another silent: services start one after the other."""
    own = beats.get(DAGSTER)
    return own is not None and now - own.since >= SILENCE


def judge_watchdog(db: Database, settings: Settings, beats: dict[str, Beat], *, now: datetime) -> bool:
    """Raise or clear the alert about the watchdog in the API; whether it is silent."""
    known = beats.get(WATCHDOG)
    silent = is_silent(known, now)
    with db.transaction() as conn:
        if not silent:
            clear_alert(
                conn, settings, WATCHER, SUBJECT, now=now, by=DAGSTER, title="The watchdog in the API is back"
            )
        elif may_judge(beats, now):
            raise_alert(conn, settings, _silence_of(known), now=now, by=DAGSTER)
    return silent


def _silence_of(known: Beat | None) -> Condition:
    seen = f"Last seen {known.at:%Y-%m-%d %H:%M:%S} UTC on {known.host}." if known else "It was never seen."
    return Condition(
        kind=WATCHER,
        subject=SUBJECT,
        title="The watchdog in the API is silent; Dagster watches the tasks alone",
        detail=f"{seen}\nWhat to do: see whether the API runs (`argus status`) and start it again.",
        evidence={"last_seen": known.at.isoformat() if known else None},
    )


def send_instead(db: Database, settings: Settings, beats: dict[str, Beat], *, now: datetime) -> bool:
    """Send what waits where the API's sender is silent; whether that was so. Leases keep two from one message."""
    if not (is_silent(beats.get(SENDER), now) and may_judge(beats, now)):
        return False
    from argus_memory.watch.sender import send_pending  # a library for each kind of channel: not at load

    send_pending(db, settings, now=now, by=DAGSTER, limit=SEND_AT_MOST)
    return True


def tell_tools(db: Database, settings: Settings, states: Sequence[CheckState], *, now: datetime) -> None:
    """Raise or clear the alert about MCP servers that an agent's run had to do without."""
    for state in states:
        if state.check != "tools_loaded":
            continue
        subject = f"check:task/{state.task}/{state.check}"
        with db.transaction() as conn:
            if state.passed:
                clear_alert(conn, settings, "audit", subject, now=now, by=DAGSTER)
                continue
            evidence: dict[str, Any] = {"check": state.check, **state.evidence}
            raise_alert(
                conn,
                settings,
                Condition(
                    kind="audit",
                    subject=subject,
                    title=f"Task {state.task} ran without some of its tools",
                    detail=f"{state.reason}\nWhat to do: see tasks/context/mcp.json and the server it names.",
                    evidence=evidence,
                    task=state.task,
                ),
                now=now,
                by=DAGSTER,
            )
