"""The engines in order, until one has done the job.

    for each engine of the order
        it cannot be asked (not installed, not configured), or it is capped → left alone, with the reason
        ask it                                       → ok: done
            capped                                   → left alone until its reset; the next one
            infra, content, timeout by silence       → the next one
            its own limits (turns, budget, time)     → the end: another engine would begin from scratch against them

Every step is told to `record`, also what was left alone. A cap is no failure: where nothing failed and something is
capped, the outcome is `capped`, with the earliest reset.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final, Literal

from argus_memory.models.engines.records import (
    Attempt,
    Engine,
    EngineRequest,
    EngineResult,
    EngineStates,
    RecordAttempt,
    Verdict,
)

# How long an engine rests where it names no time. Codex has reported limits that were none: it is soon asked again.
COOL_DOWN: Final[Mapping[str, timedelta]] = {"claude": timedelta(hours=1), "codex": timedelta(minutes=10)}
COOL_DOWN_ELSE: Final = timedelta(minutes=15)
# At most so long without asking: a plan may be raised, a report may be false, a refused try costs nothing.
REST_MAX: Final = timedelta(hours=24)
REST_MIN: Final = timedelta(minutes=1)
LEAST_TIME: Final = timedelta(seconds=1)  # what must be left of the time limit for another try

log = logging.getLogger(__name__)

_FAILURES: Final = ("infra", "content", "timeout")
_Chain = Literal["ok", "capped", "configuration", "infra", "content", "timeout"]


def run_chain(
    request: EngineRequest,
    *,
    engines: Sequence[Engine],
    state: EngineStates,
    record: RecordAttempt,
    now: Callable[[], datetime],
) -> EngineResult:
    """Try `engines` in their order; never raises for what an engine does."""
    attempts: list[Attempt] = []
    deadline = now() + request.time_limit
    for place, engine in enumerate(engines):
        started = now()
        verdict = _left_alone(engine, request, state, started) or _try(
            engine, request, state, now, deadline - started
        )
        after = engines[place + 1].name if place + 1 < len(engines) else None
        ends = verdict.outcome == "ok" or verdict.final or deadline - now() < LEAST_TIME
        attempt = Attempt(place, engine.name, started, now(), verdict, None if ends else after)
        record(attempt)
        attempts.append(attempt)
        log.info("%s: %s%s", engine.name, verdict.outcome, f" ({verdict.reason})" if verdict.reason else "")
        if ends:
            break
    return summarise(attempts)


def _left_alone(engine: Engine, request: EngineRequest, state: EngineStates, now: datetime) -> Verdict | None:
    if reason := engine.why_not(request):
        return Verdict("left-alone", reason=reason)
    known = state.find(engine.name)
    if known.capped_until is None or known.capped_until <= now:
        return None
    until = f"{known.capped_until:%Y-%m-%d %H:%M} UTC"
    return Verdict("left-alone", reason=f"capped until {until}: {known.reason}", reset_at=known.capped_until)


def _try(
    engine: Engine, request: EngineRequest, state: EngineStates, now: Callable[[], datetime], left: timedelta
) -> Verdict:
    verdict = engine.run(replace(request, time_limit=left), now=now)
    # An entry that no engine could load was missing for this one too.
    verdict = replace(verdict, mcp_errors=(*request.mcp_problems, *verdict.mcp_errors))
    ended = now()
    if verdict.outcome == "capped":
        until = rest_until(engine.name, verdict.reset_at, ended)
        state.cap(engine.name, until, verdict.reason or "no reason given", now=ended)
        return verdict if verdict.reset_at else replace(verdict, reset_at=until)
    if verdict.outcome == "ok":
        state.clear(engine.name, now=ended)
    return verdict


def rest_until(engine: str, reset_at: datetime | None, now: datetime) -> datetime:
    """Until when a capped engine is left alone."""
    if reset_at is None:
        return now + COOL_DOWN.get(engine, COOL_DOWN_ELSE)
    return min(max(reset_at, now + REST_MIN), now + REST_MAX)


def summarise(attempts: Sequence[Attempt]) -> EngineResult:
    """What the attempts come to together."""
    tried = [attempt for attempt in attempts if attempt.verdict.outcome != "left-alone"]
    last = tried[-1] if tried else None
    outcome = _outcome(attempts)
    resets = [attempt.verdict.reset_at for attempt in attempts if attempt.verdict.reset_at is not None]
    answered = last.verdict if last and outcome == "ok" else None
    errors = {error.server: error for attempt in tried for error in attempt.verdict.mcp_errors}
    if answered:
        errors = {error.server: error for error in answered.mcp_errors}
    return EngineResult(
        outcome=outcome,
        attempts=tuple(attempts),
        text=answered.text if answered else "",
        engine=last.engine if last and answered else None,
        model=answered.model if answered else None,
        session=answered.session if answered else None,
        reason=None if outcome == "ok" else _reason(outcome, attempts),
        reset_at=min(resets) if outcome == "capped" and resets else None,
        cost_usd=_cost(tried),
        prompt_tokens=answered.prompt_tokens if answered else None,
        completion_tokens=answered.completion_tokens if answered else None,
        mcp_errors=tuple(errors.values()),
    )


def _outcome(attempts: Sequence[Attempt]) -> _Chain:
    verdicts = [attempt.verdict for attempt in attempts]
    failures = [each for each in verdicts if each.outcome in _FAILURES and not each.configuration]
    if verdicts and verdicts[-1].outcome == "ok":
        return "ok"
    if failures:
        return failures[-1].outcome  # type: ignore[return-value]  # one of _FAILURES
    if any(each.outcome == "capped" or each.reset_at is not None for each in verdicts):
        return "capped"
    return "configuration"


def _reason(outcome: _Chain, attempts: Sequence[Attempt]) -> str:
    said = "; ".join(f"{each.engine}: {each.verdict.reason or each.verdict.outcome}" for each in attempts)
    start = {
        "capped": "no engine could be asked, the limits end by themselves",
        "configuration": "no engine can be used, somebody must look",
    }.get(outcome, "no engine did it")
    return f"{start} ({said or 'the order of engines is empty'})"


def _cost(tried: Sequence[Attempt]) -> float | None:
    """Together; a refused request costs nothing, any other attempt without a figure makes the sum unknown."""
    costs = []
    for attempt in tried:
        verdict = attempt.verdict
        if verdict.cost_usd is None and (verdict.outcome == "capped" or verdict.configuration):
            continue
        costs.append(verdict.cost_usd)
    known = [cost for cost in costs if cost is not None]
    return sum(known) if known and len(known) == len(costs) else None
