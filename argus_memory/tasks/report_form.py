"""The body of `POST /runs` as typed fields, its times judged against ours. Pure.

    {"task", "rid"?, "event": start | end | skip, or "outcome", "exit_code"?, "at"?, "started_at"?, "due_at"?,
     "output"?, "stdout"?, "stderr"?, "metrics"?, "cost_usd"?, "reason"?}
"""

from __future__ import annotations

import math
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal, cast

from argus_memory.records import Outcome
from argus_memory.rules.identity import parse_stamp
from argus_memory.rules.storable import storable
from argus_memory.watch.alerts import describe_span

Event = Literal["start", "end", "skip"]
EVENTS = ("start", "end", "skip")
OUTCOMES = ("ok", "failed", "timed-out", "skipped")
TEXT_MAX = 1024 * 1024  # characters of stdout and stderr each
NAME_MAX = 200
METRICS_MAX = 200
COST_MAX = 1_000_000  # US dollars
EXIT_CODES = range(-255, 2**31)
CLOCK_AHEAD = timedelta(minutes=1)
CLOCK_BEHIND = timedelta(hours=1)  # a report may have waited for the network so long and its time still be taken
LONGEST = timedelta(hours=23)  # of a run, unless its max_runtime is longer: a day is a clock that is wrong


class Refused(ValueError):
    """The report cannot be used; the message names the field."""


@dataclass(frozen=True, slots=True)
class Report:
    """`at`, `started_at` and `due_at` as given, aware UTC; `rid` None where the report named no run."""

    task: str
    event: Event
    rid: str | None = None
    outcome: Outcome | None = None
    exit_code: int | None = None
    at: datetime | None = None
    started_at: datetime | None = None
    due_at: datetime | None = None
    output: Any = None
    stdout: str = ""
    stderr: str = ""
    metrics: Mapping[str, float] = field(default_factory=dict)
    cost_usd: float | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Times:
    """When the run was, by our clock, and what is to be said about the sender's."""

    at: datetime
    started_at: datetime
    note: str | None


def read_report(body: Mapping[str, Any]) -> Report:
    """Raises Refused with one sentence about the first field that cannot be used."""
    task = _text(body, "task", NAME_MAX)
    if not task:
        raise Refused("task: is missing")
    event, outcome, exit_code = _read_end(body)
    return Report(
        task=task,
        event=event,
        rid=_rid(task, _text(body, "rid", NAME_MAX)),
        outcome=outcome,
        exit_code=exit_code,
        at=_time(body, "at"),
        started_at=_time(body, "started_at"),
        due_at=_time(body, "due_at"),
        output=body.get("output"),
        stdout=_text(body, "stdout", TEXT_MAX) or "",
        stderr=_text(body, "stderr", TEXT_MAX) or "",
        metrics=_metrics(body),
        cost_usd=_cost(body),
        reason=_text(body, "reason", NAME_MAX),
    )


def judge_times(report: Report, *, now: datetime, longest: timedelta = LONGEST) -> Times:
    """The sender's times where its clock agrees with ours, our time of receipt where it does not.

    A clock that is wrong is wrong for both of its times: the length of the run is kept.
    """
    at, start, notes = report.at or now, report.started_at, []
    off = at - now
    if off > CLOCK_AHEAD or off < -CLOCK_BEHIND:
        side = "ahead" if off > timedelta(0) else "behind"
        notes.append(f"the sender's clock is {describe_span(abs(off))} {side}: the time of receipt stands for it")
        at, start = now, None if start is None else start - off
    at = min(at, now)
    if start is None:
        return Times(at, at, "; ".join(notes) or None)
    if start > at + CLOCK_AHEAD or start < at - max(longest, LONGEST):
        side = "after" if start > at else "before"
        span = describe_span(abs(start - at))
        notes.append(f"started_at lies {span} {side} the report: the time of receipt stands for it")
        start = at
    return Times(at, min(start, at), "; ".join(notes) or None)


def _read_end(body: Mapping[str, Any]) -> tuple[Event, Outcome | None, int | None]:
    event, outcome = body.get("event"), body.get("outcome")
    exit_code = body.get("exit_code")
    if exit_code is not None and (type(exit_code) is not int or exit_code not in EXIT_CODES):
        raise Refused(f"exit_code: {str(exit_code)[:40]!r} is no exit code")
    if outcome is not None and outcome not in OUTCOMES:
        raise Refused(f"outcome: {str(outcome)[:40]!r} is none of {', '.join(OUTCOMES)}")
    if event is None:
        if outcome is None and exit_code is None:
            raise Refused("event: is missing, and so are outcome and exit_code")
        event = "skip" if outcome == "skipped" else "end"
    elif event not in EVENTS:
        raise Refused(f"event: {str(event)[:40]!r} is none of {', '.join(EVENTS)}")
    if event == "start":
        if outcome is not None or exit_code is not None:
            raise Refused("event: a start has neither outcome nor exit_code")
        return "start", None, None
    if event == "skip":
        if outcome not in (None, "skipped") or exit_code:
            raise Refused(f"outcome: {outcome or exit_code} contradicts the event skip")
        return "skip", "skipped", exit_code
    return "end", _outcome(outcome, exit_code), exit_code


def _outcome(outcome: Any, exit_code: int | None) -> Outcome:
    if outcome is None:
        if exit_code is None:
            raise Refused("outcome: an end needs outcome or exit_code")
        return "ok" if exit_code == 0 else "failed"
    if outcome == "ok" and exit_code:
        raise Refused(f"outcome: ok contradicts exit_code {exit_code}")
    return cast("Outcome", outcome)


def _rid(task: str, text: str | None) -> str | None:
    """A UUID as it is; another scheduler's own name for a run becomes one, always the same."""
    if text is None:
        return None
    try:
        return str(uuid.UUID(text))
    except ValueError:
        return str(uuid.uuid5(uuid.NAMESPACE_URL, f"argus:run:{task}:{text}"))


def _text(body: Mapping[str, Any], name: str, limit: int) -> str | None:
    value = body.get(name)
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise Refused(f"{name}: is no text")
    if len(value) > limit:
        raise Refused(f"{name}: has {len(value):,} characters, at most {limit:,} are taken")
    return storable(value)


def _time(body: Mapping[str, Any], name: str) -> datetime | None:
    value = body.get(name)
    if value is None or value == "":
        return None
    found = None if isinstance(value, bool) or not isinstance(value, str | int | float) else parse_stamp(value)
    if found is None:
        raise Refused(f"{name}: {str(value)[:40]!r} is no time: write it as in 2027-03-01T06:00:00Z")
    return found


def _metrics(body: Mapping[str, Any]) -> dict[str, float]:
    value = body.get("metrics")
    if value is None:
        return {}
    if not isinstance(value, dict) or len(value) > METRICS_MAX:
        raise Refused(f"metrics: an object of at most {METRICS_MAX} numbers is needed")
    return {str(name)[:NAME_MAX]: _number(f"metrics.{name}"[:80], each) for name, each in value.items()}


def _cost(body: Mapping[str, Any]) -> float | None:
    value = body.get("cost_usd")
    if value is None:
        return None
    cost = _number("cost_usd", value)
    if not 0 <= cost <= COST_MAX:
        raise Refused(f"cost_usd: {cost} is not between 0 and {COST_MAX:,}")
    return cost


def _number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise Refused(f"{name}: {str(value)[:40]!r} is no number")
    return float(value)
