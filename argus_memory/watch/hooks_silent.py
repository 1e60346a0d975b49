"""Machines whose sessions go on while their captures stopped: somebody works there, and nothing is remembered.

Two signs that a session goes on, each beside the last turn that arrived of the same machine and program:

    an answer    the capture hook reported one (Stop, or Codex's notify), so that there is a turn to capture
    prompts      recall was asked about several of a session of which nothing ever arrived

A machine that merely falls silent is no alarm: nobody works there. Start and end of a session say nothing either,
since neither has a turn of its own. Turns that were skipped on purpose or stored before count as arriving.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from argus_memory.db import Database, queries
from argus_memory.settings import Settings
from argus_memory.watch.alerts import Condition, clear_alert, raise_alert

KIND = "hooks-silent"
ANSWERS = ("Stop", "SubagentStop", "Notify")
LAG = timedelta(minutes=2)  # the hook goes on for a minute in a process of its own
# A hook that fires twice for one answer does so within minutes; an answer takes up to half an hour to be written.
BEHIND = timedelta(minutes=30)
PROMPTS_MIN = 3  # one may be a command that leaves no turn
PROMPTS_OVER = timedelta(minutes=10)
# What is older is no news, and a machine that went away for good does not stay an alarm.
LOOK = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class HookActivity:
    """The row of `hook_activity`: of one program on one machine. Times are None where there is nothing."""

    host: str
    target: str
    event: str
    heard_at: datetime
    arrived_at: datetime | None
    prompts: int = 0
    first_prompt_at: datetime | None = None
    sessions: Sequence[str] = ()

    @property
    def subject(self) -> str:
        return f"hooks:{self.host}/{self.target}"


def judge_silence(seen: HookActivity, now: datetime) -> str | None:
    """Why this program's captures are taken to have stopped, in words; None when they have not."""
    answered = seen.event in ANSWERS and now - seen.heard_at > LAG
    if answered and (seen.arrived_at is None or seen.heard_at - seen.arrived_at > BEHIND):
        return f"its hook reported an answer at {seen.heard_at:%Y-%m-%d %H:%M} UTC, but the turn did not arrive"
    asked = seen.prompts >= PROMPTS_MIN and seen.first_prompt_at is not None
    if asked and seen.first_prompt_at is not None and now - seen.first_prompt_at > PROMPTS_OVER:
        since = f"{seen.first_prompt_at:%Y-%m-%d %H:%M} UTC"
        return f"{seen.prompts} prompts were asked about since {since}, but no turn of their sessions arrived"
    return None


def watch_hooks(db: Database, settings: Settings, *, now: datetime, by: str) -> tuple[str, ...]:
    """Raise and clear `hooks-silent`; the subjects that are silent now."""
    params = {"now": now, "look": LOOK, "lag": LAG}
    silent: list[str] = []
    with db.transaction() as conn:
        known = {row["subject"] for row in conn.execute(queries("watchdog").open_subjects, {"kind": KIND}).fetchall()}
        for row in conn.execute(queries("watchdog").hook_activity, params).fetchall():
            seen = HookActivity(**row)
            reason = judge_silence(seen, now)
            if reason:
                silent.append(seen.subject)
                raise_alert(conn, settings, _condition(seen, reason), now=now, by=by)
        for subject in sorted(known - set(silent)):
            clear_alert(conn, settings, KIND, subject, now=now, by=by)
    return tuple(silent)


def _condition(seen: HookActivity, reason: str) -> Condition:
    last = f"{seen.arrived_at:%Y-%m-%d %H:%M} UTC" if seen.arrived_at else f"none within {LOOK.days} days"
    return Condition(
        kind=KIND,
        subject=seen.subject,
        title=f"Sessions of {seen.target} on {seen.host} go on, but their turns do not arrive",
        detail=(
            f"What was seen: {reason}. Last turn from there: {last}.\n"
            f"What to do: on that machine `argus hooks status`, and read hook.log in its Argus folder."
        ),
        evidence={
            "host": seen.host,
            "target": seen.target,
            "heard_at": seen.heard_at.isoformat(),
            "arrived_at": seen.arrived_at.isoformat() if seen.arrived_at else None,
            "sessions": list(seen.sessions[:10]),
        },
    )
