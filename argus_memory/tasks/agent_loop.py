"""A long job: run_agent again and again, with a budget, a stop rule and a report of every turn.

    turn 0, 1, … at most `turns`
        the prompt, which turn it is, the end of the last answer → run_agent
        report; then stop when the answer says so, the command exits 0, the budget or the time is used up,
        no engine can go on, or the turn failed
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final, Literal

from argus_memory.models.engines.process import engine_environment
from argus_memory.rules.fence import neutralise
from argus_memory.tasks.agent import AgentRequest, AgentResult

LAST_CHARS: Final = 4000  # of the last answer that the next turn is given
SAID_CHARS: Final = 300  # of each answer in the report
COMMAND_SECONDS: Final = 600.0  # limit of the stop command
Stop = Literal["done", "turns", "budget", "time", "capped", "failed"]


@dataclass(frozen=True, slots=True)
class LoopRule:
    """When to stop: after so many turns, so much money, a phrase in the answer, or a command that exits 0.

    An answer whose last line is {"done": true} always stops the loop.
    """

    turns: int = 1
    budget_usd: float | None = None
    phrase: str | None = None
    command: str | None = None


@dataclass(frozen=True, slots=True)
class TurnReport:
    """One turn, as the report shows it."""

    turn: int
    outcome: str
    engine: str | None
    cost_usd: float | None
    said: str
    raw_id: int | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class LoopResult:
    """Every turn, why it stopped, and what the last turn came to. `spent_usd`: of the turns whose cost is known."""

    turns: tuple[TurnReport, ...]
    stopped: Stop
    last: AgentResult
    spent_usd: float
    cost_known: bool

    @property
    def done(self) -> int:
        return sum(turn.outcome == "ok" for turn in self.turns)

    @property
    def summary(self) -> str:
        cost = f"${self.spent_usd:.2f}" if self.cost_known else f"${self.spent_usd:.2f} and what is not known"
        return f"{self.done} of {len(self.turns)} turns answered, stopped: {self.stopped}, cost {cost}"


Run = Callable[[AgentRequest], AgentResult]


def run_loop(
    request: AgentRequest,
    rule: LoopRule,
    *,
    run: Run,
    report: Callable[[Sequence[TurnReport], AgentResult], None],
    clock: Callable[[], datetime],
) -> LoopResult:
    """Go on until `rule` says stop; `report` hears of every turn as it ends. Raises what `run` raises."""
    deadline = clock() + request.time_limit
    turns: list[TurnReport] = []
    said = ""
    spent, known = 0.0, True
    while True:
        left = None if rule.budget_usd is None else rule.budget_usd - spent
        result = run(
            replace(
                request,
                prompt=turn_prompt(request.prompt, len(turns), rule, said),
                turn=len(turns),
                time_limit=deadline - clock(),
                budget_usd=left,
            )
        )
        chain = result.chain
        spent += chain.cost_usd or 0.0
        known = known and (chain.cost_usd is not None or chain.outcome == "capped")
        said = chain.text or said
        turns.append(
            TurnReport(
                len(turns), chain.outcome, chain.engine, chain.cost_usd, chain.text[:SAID_CHARS], result.raw_id,
                chain.reason,
            )
        )
        report(turns, result)
        stop = find_stop(chain.outcome, chain.text, len(turns), spent, deadline - clock(), rule)
        if stop is None and rule.command and command_says_done(rule.command, request):
            stop = "done"
        if stop:
            return LoopResult(tuple(turns), stop, result, spent, known)


def turn_prompt(prompt: str, turn: int, rule: LoopRule, said: str) -> str:
    """A job of one turn is the prompt alone."""
    if rule.turns == 1:
        return prompt
    sign = f"write {rule.phrase!r}" if rule.phrase else 'end with the line {"done": true}'
    text = f"{prompt}\n\nThis is turn {turn + 1} of at most {rule.turns}. When all of it is done and checked, {sign}."
    if said:
        last = neutralise(said[-LAST_CHARS:])
        text += "\n\nThe last turn ended with this report; check it before you build on it:"
        text += f"\n<report>\n{last}\n</report>"
    return text


def find_stop(
    outcome: str, text: str, turns: int, spent: float, left: timedelta, rule: LoopRule
) -> Stop | None:
    """Why the loop ends after this turn; None when it goes on. Pure."""
    if outcome == "capped":
        return "capped"
    if outcome != "ok":
        return "failed"
    if says_done(text) or (rule.phrase and rule.phrase in text):
        return "done"
    if rule.budget_usd is not None and spent >= rule.budget_usd:
        return "budget"
    if turns >= rule.turns:
        return "turns"
    return "time" if left <= timedelta(0) else None


def says_done(text: str) -> bool:
    """Whether the last line is a JSON object with `done` true."""
    lines = [line.strip().strip("`") for line in text.strip().splitlines() if line.strip().strip("`")]
    try:
        value: Any = json.loads(lines[-1]) if lines else None
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and value.get("done") is True


def command_says_done(command: str, request: AgentRequest) -> bool:
    """Whether the stop command exits 0 within COMMAND_SECONDS, in the task's folder and a group of its own."""
    env = engine_environment(os.environ, request.env, f"task/{request.task}")
    process = subprocess.Popen(  # noqa: S603 — the command is what the operator wrote
        ["sh", "-c", command],  # noqa: S607
        cwd=request.folder,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        process_group=0,
    )
    try:
        return process.wait(COMMAND_SECONDS) == 0
    except subprocess.TimeoutExpired:
        return False
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
