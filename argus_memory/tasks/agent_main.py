"""`python -m argus_memory.tasks.agent_main`: the process of an agent task, and of taskkit.run_agent.

    (no argument)    the stanza in ARGUS_TASK_SPEC; the answer on stdout, the rest as messages to the runner
    --request -      a request as JSON on stdin, the result as JSON on stdout

Exit: 0 answered, or skipped because every engine is capped (no failure); 1 no engine did it; 2 wrong use.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from types import FrameType
from typing import Any

from argus_memory.db import Database
from argus_memory.errors import ArgusError, UsageError
from argus_memory.settings import Settings, load_settings
from argus_memory.tasks.agent import AgentResult, run_agent, utc_now
from argus_memory.tasks.agent_job import Job, job_of_request, job_of_spec
from argus_memory.tasks.agent_loop import LoopResult, LoopRule, TurnReport, run_loop
from argus_memory.tasks.own_handler import Tell, find_dsn, find_spec, open_messages


def do_job(db: Database, settings: Settings, job: Job, tell: Tell, *, reports: bool = True) -> LoopResult:
    """The loop, with its messages to the runner as it goes; without `reports` the run's report is the caller's."""

    def report(turns: Sequence[TurnReport], result: AgentResult) -> None:
        chain = result.chain
        shown = f"turn {len(turns)}: {chain.outcome}"
        if chain.engine:
            shown += f" by {chain.engine}" + (f" ({chain.model})" if chain.model else "")
        if chain.reason:
            shown += f"; {chain.reason}"
        print(shown, file=sys.stderr, flush=True)  # noqa: T201
        tell(engine_message(result))
        if chain.outcome != "capped":
            tell({"type": "cost", "usd": chain.cost_usd, "engine": chain.engine})
        if reports:
            tell({"type": "report", "output": output_of(turns, result), "summary": chain.text or shown})

    return run_loop(
        job.request, job.rule, run=lambda request: run_agent(db, settings, request), report=report, clock=utc_now
    )


def output_of(turns: Sequence[TurnReport], last: AgentResult, stopped: str | None = None) -> dict[str, Any]:
    """What stands on the run: every turn, why the engines of the last one did or did not, why a loop stopped."""
    output = {"turns": [asdict(turn) for turn in turns], "attempts": engine_message(last)["attempts"]}
    return {**output, "stopped": stopped} if stopped else output


def engine_message(result: AgentResult) -> dict[str, Any]:
    """Which engine ran, and why the others did not."""
    chain = result.chain
    return {
        "type": "engine",
        "engine": chain.engine,
        "model": chain.model,
        "outcome": chain.outcome,
        "attempts": [
            {
                "engine": each.engine,
                "outcome": each.verdict.outcome,
                "reason": each.verdict.reason,
                "reset_at": each.verdict.reset_at and each.verdict.reset_at.isoformat(),
            }
            for each in chain.attempts
        ],
        "mcp_errors": [asdict(error) for error in chain.mcp_errors],
    }


def result_json(loop: LoopResult) -> dict[str, Any]:
    """What taskkit.run_agent gets."""
    chain = loop.last.chain
    message = engine_message(loop.last)
    return {
        **{key: value for key, value in message.items() if key != "type"},
        "text": chain.text,
        "reason": chain.reason,
        "reset_at": chain.reset_at and chain.reset_at.isoformat(),
        "cost_usd": loop.spent_usd if loop.cost_known else None,
        "raw_id": loop.last.raw_id,
        "stopped": loop.stopped,
        "turns": [asdict(turn) for turn in loop.turns],
    }


def finish(loop: LoopResult, rule: LoopRule, tell: Tell) -> int:
    """The end of a stanza's job: the answer, the summary, the exit code."""
    chain = loop.last.chain
    answers = [turn for turn in loop.turns if turn.outcome == "ok"]
    if chain.text:
        print(chain.text, flush=True)  # noqa: T201
    if rule.turns > 1:
        summary = f"{loop.summary}\n\n{answers[-1].said}" if answers else loop.summary
        tell({"type": "report", "output": output_of(loop.turns, loop.last, loop.stopped), "summary": summary})
    if chain.outcome == "ok":
        return 0
    print(chain.reason or chain.outcome, file=sys.stderr)  # noqa: T201
    if chain.outcome != "capped":
        return 1
    if not answers:
        until = f"until {chain.reset_at:%Y-%m-%d %H:%M} UTC" if chain.reset_at else "until their limits end"
        tell({"type": "skip", "reason": f"every engine is capped {until}"})
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    arguments = sys.argv[1:] if arguments is None else arguments
    signal.signal(signal.SIGTERM, _leave)  # the engine's group is ended on the way out
    tell = open_messages()
    try:
        settings = load_settings()
        by_request = list(arguments) == ["--request", "-"]
        if by_request:
            job = job_of_request(_read_json(sys.stdin.read()), os.environ, Path.cwd())
        elif arguments:
            raise UsageError("the only arguments are `--request -`, with a JSON request on standard input")
        else:
            job = job_of_spec(find_spec(os.environ), os.environ)
        settings = replace(settings, database_url=find_dsn(settings))
        with Database(settings.database_url or "", pool_max=2) as db:
            loop = do_job(db, settings, job, tell, reports=not by_request)
        if not by_request:
            return finish(loop, job.rule, tell)
        print(json.dumps(result_json(loop)))  # noqa: T201
        return 0 if loop.last.chain.outcome in ("ok", "capped") else 1
    except ArgusError as error:
        print(error, file=sys.stderr)  # noqa: T201
        return error.exit_code


def _leave(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


def _read_json(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"the request is not JSON: {error}") from None


if __name__ == "__main__":
    sys.exit(main())
