"""The rules of health for what watches and what runs on a schedule. Pure; `now` is a parameter.

No detail names a task, a machine or a message: /healthz asks for no token. `argus task`, `argus alerts` name them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from argus_memory.watch.beats import DAGSTER, SILENCE, WATCHDOG, Beat, is_silent
from argus_memory.watch.health_judge import Check, age_of

UNJUDGED_AFTER = timedelta(minutes=2)  # a run past its time is judged within 15 s by the one, 30 s by the other
CANARY_ENDS_WITHIN = timedelta(minutes=2)  # the hook and both questions together give up after one
BACKUP_OLD_AFTER = timedelta(days=3)  # daily, and a machine may be off over a weekend

TASK_ALERTS = {
    "no-show": "did not run",
    "task-failed": "failed",
    "task-overrunning": "run too long",
    "task-broken": "cannot be used",
}


@dataclass(frozen=True, slots=True)
class WatchFacts:
    """The row of `watch_facts`. `alerts`: open ones by kind."""

    tasks: int = 0
    tasks_broken: int = 0
    runs_unjudged: int = 0
    run_at: datetime | None = None
    alerts: Mapping[str, int] = field(default_factory=dict)
    machines: int = 0
    hook_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class LastCanary:
    """The newest row of canary_runs; `outcome` None while it travels."""

    sent_at: datetime
    recalled_at: datetime | None
    outcome: str | None
    failed_at_step: str | None


def is_starting(beats: Mapping[str, Beat], now: datetime) -> bool:
    """Whether the hub has just come up: the watchdog beats, and not for as long as another may take to begin."""
    watchdog = beats.get(WATCHDOG)
    return watchdog is not None and not is_silent(watchdog, now) and now - watchdog.since <= SILENCE


def judge_watchdogs(beats: Mapping[str, Beat], now: datetime) -> Check:
    """Both watchdogs live, and every step of their passes can be done."""
    if WATCHDOG not in beats and DAGSTER not in beats:
        return Check("unknown", "no watchdog has beaten yet", idle=True)
    silent = [name for name in (WATCHDOG, DAGSTER) if is_silent(beats.get(name), now)]
    if silent and silent != [DAGSTER]:
        return Check("failed", _last_beats(beats, silent, now), _oldest(beats, silent))
    if silent and is_starting(beats, now):
        return Check("unknown", "the hub has just started, the watchdog in Dagster has not beaten yet", idle=True)
    if silent:
        return Check("failed", _last_beats(beats, silent, now), _oldest(beats, silent))
    errors = [str(error) for name in (WATCHDOG, DAGSTER) for error in beats[name].detail.get("errors", ())]
    troubled = sorted({error.partition(":")[0] for error in errors})  # what an error says may be anything
    if troubled:
        return Check("warn", f"both beat, but cannot do: {', '.join(troubled)}; the log tells more")
    return Check("ok", "both beat", max(beats[WATCHDOG].since, beats[DAGSTER].since))


def judge_tasks(facts: WatchFacts, now: datetime) -> Check:
    """Whether what was due ran; the alerts name the tasks."""
    if facts.runs_unjudged:
        return Check("failed", f"{_count(facts.runs_unjudged, 'run')} past their time, and nobody has judged them")
    if not facts.tasks:
        return Check("unknown", "no task is set up", idle=True)
    last = f"last run {age_of(facts.run_at, now)}" if facts.run_at else "none ran yet"
    told = f"{_count(facts.tasks, 'task')}, {last}"
    wrong = [f"{facts.alerts[kind]} {words}" for kind, words in TASK_ALERTS.items() if facts.alerts.get(kind)]
    if facts.tasks_broken and not facts.alerts.get("task-broken"):
        wrong.append(f"{facts.tasks_broken} {TASK_ALERTS['task-broken']}")
    if wrong:
        return Check("warn", f"{told}; {', '.join(wrong)}: see `argus alerts`", facts.run_at)
    return Check("ok", told, facts.run_at)


def judge_canary(last: LastCanary | None, *, every: timedelta, now: datetime) -> Check:
    """Whether the last probe came through, in its time."""
    if last is None:
        return Check("unknown", "none was sent yet", idle=True)
    sent = age_of(last.sent_at, now)
    if last.outcome == "failed":
        return Check("failed", f"the one sent {sent} failed at {last.failed_at_step}", last.sent_at)
    if last.outcome is None:
        if now - last.sent_at > CANARY_ENDS_WITHIN:
            return Check("failed", f"the one sent {sent} did not end", last.sent_at)
        return Check("unknown", f"one is on its way, sent {sent}", last.sent_at, idle=True)
    if now - last.sent_at > 2 * every + CANARY_ENDS_WITHIN:
        return Check("unknown", f"the last one was sent {sent}: none goes out any more", last.sent_at)
    took = (last.recalled_at - last.sent_at).total_seconds() if last.recalled_at else 0.0
    return Check("ok", f"from hook to recall in {took:.1f} s, {sent}", last.sent_at)


def judge_hooks(facts: WatchFacts, beats: Mapping[str, Beat], now: datetime) -> Check:
    """Whether every machine whose sessions go on captures them, as the watchdog last found."""
    silent = facts.alerts.get("hooks-silent", 0)
    if silent:
        told = f"{_count(silent, 'program')} whose sessions go on while captures stopped: see `argus alerts`"
        return Check("failed", told)
    if not facts.machines:
        return Check("unknown", "no hook has reported yet", idle=True)
    if WATCHDOG in beats and is_silent(beats[WATCHDOG], now):
        return Check("unknown", "the watchdog that compares hooks with captures does not live")
    told = f"{_count(facts.machines, 'wired program')}, last heard {age_of(facts.hook_at, now)}"
    return Check("ok", told, facts.hook_at)


def judge_backups(
    proven_at: datetime | None, made_at: datetime | None, last: str | None, now: datetime
) -> Check:
    """Whether there is a young backup that was restored once; `last` is the outcome of the latest try."""
    if last is None:
        return Check("unknown", "none was made yet", idle=True)
    if last == "failed":
        before = f", the newest proven one was made {age_of(proven_at, now)}" if proven_at else ", and none is proven"
        return Check("failed", f"the last backup failed: `argus backup list` tells why{before}", proven_at)
    newest = max(at for at in (proven_at, made_at) if at is not None)
    if now - newest > BACKUP_OLD_AFTER:
        return Check("warn", f"the newest was made {age_of(newest, now)}", newest)
    if proven_at is None or now - proven_at > BACKUP_OLD_AFTER:
        return Check("warn", f"the newest was made {age_of(newest, now)}, but restoring it was not tried", newest)
    return Check("ok", f"the newest was made {age_of(newest, now)}, and restored once", newest)


def _last_beats(beats: Mapping[str, Beat], names: list[str], now: datetime) -> str:
    words = {WATCHDOG: "the watchdog in the API", DAGSTER: "the watchdog in Dagster"}
    ages = {name: f"last beat {age_of(beats[name].at, now)}" if name in beats else "never beat" for name in names}
    return ", ".join(f"{words[name]} {ages[name]}" for name in names)


def _oldest(beats: Mapping[str, Beat], names: list[str]) -> datetime | None:
    return min((beats[name].at for name in names if name in beats), default=None)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
