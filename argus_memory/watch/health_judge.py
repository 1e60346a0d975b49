"""The rules of health for the way a memory takes: facts in, one Check out. Pure; `now` is a parameter.

Rules for those who watch, for tasks and for the outbox stand in health_judge_watch.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from argus_memory.watch.audits import LATE_AFTER, SILENT_AFTER, STAGE_IDLE_AFTER

Status = Literal["ok", "warn", "failed", "unknown"]
Overall = Literal["ok", "degraded", "down"]

HEARTBEAT_MAX = timedelta(seconds=120)  # daemons beat every 30 s; Dagster itself waits 1,800 s, which is too late
DAEMONS = ("SENSOR", "SCHEDULER", "QUEUED_RUN_COORDINATOR")
DISK_WARN_BYTES = 2 * 1024**3
DISK_FAILED_BYTES = 256 * 1024**2  # Postgres stops when the last of it is gone
# Without these nothing can be captured.
VITAL = ("database", "migrations")

SEVERITY: tuple[Status, ...] = ("ok", "warn", "unknown", "failed")


@dataclass(frozen=True, slots=True)
class Check:
    """One answer. `since`: from when on it is so, if that is known; `idle`: unknown because nothing happened yet."""

    status: Status
    detail: str
    since: datetime | None = None
    idle: bool = False

    @property
    def is_well(self) -> bool:
        """Whether nobody has to look: ok, or unknown because nothing happened yet."""
        return self.status == "ok" or (self.status == "unknown" and self.idle)


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
    return "ok" if all(check.is_well for check in checks.values()) else "degraded"


def worse(first: Check, second: Check) -> Check:
    """Of two answers about one part the one to worry about; the first where they are alike."""
    return second if SEVERITY.index(second.status) > SEVERITY.index(first.status) else first


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
    last = f"last capture {age_of(row_at, now)}" if row_at else "nothing was captured yet"
    if silent:
        machines = "machine reports" if silent == 1 else "machines report"
        return Check("failed", f"{last}; {silent} {machines} sessions, but their turns do not arrive", arrived)
    if arrived is None:
        return Check("unknown", f"{last}; a hook reported {age_of(beat_at, now)}", beat_at, idle=True)
    if beat_at is not None and beat_at - arrived > SILENT_AFTER and now - beat_at < SILENT_AFTER:
        return Check("failed", f"{last}, while hooks reported {age_of(beat_at, now)}", arrived)
    return Check("ok", last, row_at or arrived)


def judge_stage(work: Waiting, now: datetime, *, note: str = "") -> Check:
    """A backlog that is being worked off is well; one that nobody works on is not."""
    words = [f"{work.waiting:,} waiting" if work.waiting else "nothing waits"]
    if work.passed_at is not None:
        words.append(f"last pass {age_of(work.passed_at, now)}")
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
        return Check("warn", f"{detail}: the oldest since {age_of(work.since, now)}", work.since)
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
    oldest = max(DAEMONS, key=lambda name: abs(now - beats[name]))  # one in the future is of before the clock was set
    if abs(now - beats[oldest]) > HEARTBEAT_MAX:
        return Check("failed", f"{oldest} last beat {age_of(beats[oldest], now)}", beats[oldest])
    return Check("ok", f"all beat, the oldest {age_of(beats[oldest], now)}", beats[oldest])


def judge_disk(free: int, total: int) -> Check:
    """Bytes free where the home is."""
    detail = f"{free / 1024**3:.1f} of {total / 1024**3:.1f} GB free"
    if free < DISK_FAILED_BYTES:
        return Check("failed", f"{detail}: make room, or Postgres will stop")
    return Check("warn" if free < DISK_WARN_BYTES else "ok", detail)


def age_of(at: datetime | None, now: datetime) -> str:
    """How long ago: `just now`, `5 min ago`, `3 h ago`, `2 days ago`."""
    assert at is not None
    seconds = (now - at).total_seconds()
    if seconds < 60:
        return "just now"
    if seconds < 2 * 3600:
        return f"{seconds // 60:.0f} min ago"
    if seconds < 2 * 86400:
        return f"{seconds // 3600:.0f} h ago"
    return f"{seconds // 86400:.0f} days ago"
