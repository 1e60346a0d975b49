"""What became of one expected run, from the facts about it: the judgement both watchdogs share. Pure.

    a run of it is known        started | late (began after its grace) | overrunning | ok | failed
    it was paused               paused
    Dagster has a run waiting   queued, and late once the grace is over: never missed
    the grace is not over       expected
    another run was at work     skipped-overlap, where the task forbids overlap
    nothing of all that         missed, with what is known of why

The order of the lines is the order of the questions: a run that is there decides, whatever else is true.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal
from zoneinfo import ZoneInfo

Status = Literal[
    "expected", "queued", "started", "late", "ok", "failed", "missed", "overrunning", "skipped-overlap", "paused"
]

# The runner ends a task at max_runtime itself, with 10 s for SIGTERM: only what survives that overruns.
OVERRUN_MARGIN = timedelta(seconds=30)
# Dagster starts the next attempt of a failed run within seconds; after so long nobody will.
RETRY_WAIT = timedelta(minutes=10)
WAITING = (
    "QUEUED",
    "NOT_STARTED",
    "STARTING",
    "STARTED",
    "CANCELING",
)  # Dagster's words for a run that may still begin


@dataclass(frozen=True, slots=True)
class Expectation:
    """An occurrence as the ledger has it. start_by: the end of its grace, which may have been moved; grace: the span
    its schedule gives."""

    due_at: datetime
    start_by: datetime
    grace: timedelta
    max_runtime: timedelta
    timezone: str
    mode: Literal["run", "observe"]
    status: Status


@dataclass(frozen=True, slots=True)
class RunFact:
    """Its newest attempt. outcome None: it has not ended; retries_left: attempts that may still follow it."""

    id: int
    started_at: datetime
    finished_at: datetime | None = None
    outcome: str | None = None
    reason: str | None = None
    attempt: int = 0
    retries_left: int = 0


@dataclass(frozen=True, slots=True)
class QueueFact:
    """What Dagster knows of a run for it, in Dagster's word for the run's state."""

    run_id: str
    status: str
    since: datetime

    @property
    def waits(self) -> bool:
        return self.status in WAITING


@dataclass(frozen=True, slots=True)
class PauseFact:
    """A pause that held at some time between when it was due and the end of its grace. until None: open."""

    from_at: datetime
    until_at: datetime | None
    actor: str


@dataclass(frozen=True, slots=True)
class Silence:
    """A time around the due one in which nobody watched: the hub was off, asleep, or its clock was moved."""

    from_at: datetime
    until_at: datetime


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything else that is known. busy_since: another run of a task without overlap was at work when it was due;
    newer_due: a later occurrence is due already; has_run: the task ran at least once, ever."""

    run: RunFact | None = None
    queue: QueueFact | None = None
    pause: PauseFact | None = None
    busy_since: datetime | None = None
    off: Silence | None = None
    newer_due: bool = False
    has_run: bool = True


@dataclass(frozen=True, slots=True)
class Judgement:
    """The status and why; `start_by` is moved where the hub was off and Dagster will still catch up."""

    status: Status
    reason: str | None
    start_by: datetime


def judge(expected: Expectation, facts: Facts, now: datetime) -> Judgement:
    """The status of one occurrence at `now`, with one sentence of reason (None where there is nothing to say)."""
    if facts.run is not None:
        status, reason = _judge_run(expected, facts.run, facts.queue, now)
        return Judgement(status, reason, expected.start_by)
    if facts.pause is not None and not (facts.queue and facts.queue.waits):
        until = f" until {_clock(facts.pause.until_at, expected)}" if facts.pause.until_at else ""
        return Judgement("paused", f"paused by {facts.pause.actor}{until}", expected.start_by)
    if facts.queue is not None and facts.queue.waits:
        if now <= expected.start_by:
            return Judgement("queued", None, expected.start_by)
        reason = f"its Dagster run has waited in the queue since {_clock(facts.queue.since, expected)}"
        return Judgement("late", reason, expected.start_by)
    return _judge_absent(expected, facts, now)


def _judge_absent(expected: Expectation, facts: Facts, now: datetime) -> Judgement:
    """No run, nothing waits, not paused."""
    start_by = expected.start_by
    if facts.off is not None and not facts.newer_due:
        # After a silence Dagster starts the latest missed time of a schedule, and that one alone.
        start_by = max(start_by, facts.off.until_at + expected.grace)
    if now <= start_by:
        return Judgement("queued" if expected.status == "queued" else "expected", None, start_by)
    if facts.busy_since is not None:
        since = _clock(facts.busy_since, expected)
        return Judgement("skipped-overlap", f"a run of {since} was still at work, and it may not overlap", start_by)
    return Judgement("missed", _why_missed(expected, facts, start_by), start_by)


def _judge_run(
    expected: Expectation, run: RunFact, queue: QueueFact | None, now: datetime
) -> tuple[Status, str | None]:
    # A reporter's clock may be wrong by a day: it cannot have begun before it was due, nor after now.
    started = max(min(run.started_at, now), min(expected.due_at, now))
    late = f"it began {describe(started - expected.due_at)} after it was due" if started > expected.start_by else None
    if run.finished_at is None:
        ran = now - started
        if ran > expected.max_runtime + OVERRUN_MARGIN:
            limit = describe(expected.max_runtime)
            return "overrunning", f"it has run since {_clock(started, expected)}, longer than its {limit}"
        return ("late", late) if late else ("started", None)
    if run.outcome in ("ok", "skipped"):
        return "ok", f"skipped: {run.reason}" if run.outcome == "skipped" else late
    reason = run.reason or f"it ended as {run.outcome}"
    if run.retries_left > 0 and run.outcome != "orphaned":
        again = (queue is not None and queue.waits) or now - run.finished_at <= RETRY_WAIT
        if again:
            return "started", f"attempt {run.attempt + 1} failed ({reason}), it is tried again"
        return "failed", f"attempt {run.attempt + 1} failed ({reason}), and no further attempt followed"
    return "failed", reason


def _why_missed(expected: Expectation, facts: Facts, start_by: datetime) -> str:
    by = _clock(start_by, expected)
    if facts.queue is not None:
        return f"its Dagster run {facts.queue.run_id[:8]} ended ({facts.queue.status}) before the task began"
    if facts.off is not None:
        begin, end = _clock(facts.off.from_at, expected), _clock(facts.off.until_at, expected)
        if facts.newer_due:
            return f"the hub was off from {begin} to {end}"
        return f"the hub was off from {begin} to {end}, and no run followed by {by}"
    never = "" if facts.has_run else "; it has never run"
    if expected.mode == "observe":
        return f"no report of a run came by {by}{never}"
    return f"no run had begun by {by}{never}"


def _clock(at: datetime, expected: Expectation) -> str:
    """`14:05` on the due day, else with the date, in the task's zone."""
    zone = ZoneInfo(expected.timezone)
    local = at.astimezone(zone)
    same_day = local.date() == expected.due_at.astimezone(zone).date()
    return f"{local:%H:%M}" if same_day else f"{local:%Y-%m-%d %H:%M}"


def describe(span: timedelta) -> str:
    """`40 s`, `12 min`, `3 h 5 min`, `2 d 4 h`."""
    minutes, seconds = divmod(max(0, int(span.total_seconds())), 60)
    if not minutes:
        return f"{seconds} s"
    hours, minutes = divmod(minutes, 60)
    if not hours:
        return f"{minutes} min"
    days, hours = divmod(hours, 24)
    if not days:
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    return f"{days} d {hours} h" if hours else f"{days} d"
