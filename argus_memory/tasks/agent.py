"""run_agent: one job for an agent, by whichever engine can do it.

1. the context of tasks/context/ and the MCP servers of its mcp.json
2. the chain of engines; every attempt a row of `engine_attempts`
3. an engine for which a person must act: the alert engine/engine:<name>; one that works again clears it
4. the answer is captured as a synthesis that names task, run, turn and engine

What was recalled into the prompt is counted in the captured item (`recalled_blocks`), and fenced text that comes back
in the answer is cut out by capture: a memory is never made of a memory.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from argus_memory.db import Database
from argus_memory.errors import UsageError
from argus_memory.models.engines.chain import run_chain
from argus_memory.models.engines.process import engine_environment
from argus_memory.models.engines.records import Access, Attempt, Engine, EngineRequest, EngineResult
from argus_memory.rules.fence import cut_fenced
from argus_memory.settings import Settings
from argus_memory.stages.capture import accept
from argus_memory.stages.engine_books import Books, open_engines
from argus_memory.stages.model_door import open_plain_door
from argus_memory.tasks.agent_context import read_context, system_prompt
from argus_memory.tasks.mcp_config import OWN, TOKEN, load_mcp_config
from argus_memory.watch.alerts import Condition, clear_alert, raise_alert

ALERT = "engine"
BY = "runner"


@dataclass(frozen=True, slots=True)
class AgentRequest:
    """One job. `engines` and `models` stand before ARGUS_ENGINES and ARGUS_AGENT_MODEL; `env` is the stanza's.

    rid: the run of the task it belongs to; turn: of a loop, from 0; time_limit: of all engines together;
    project: of the captured answer; capture: whether the answer is captured at all.
    """

    task: str
    prompt: str
    folder: Path
    time_limit: timedelta
    rid: str | None = None
    turn: int = 0
    engines: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    access: Access = "read"
    max_turns: int | None = None
    budget_usd: float | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    project: str | None = None
    capture: bool = True


@dataclass(frozen=True, slots=True)
class AgentResult:
    """What the chain came to, and the raw item its answer became (None: none, or one of these words was there)."""

    chain: EngineResult
    raw_id: int | None = None


def utc_now() -> datetime:
    return datetime.now(UTC)


def run_agent(
    db: Database,
    settings: Settings,
    request: AgentRequest,
    *,
    engines: Sequence[Engine] | None = None,
    clock: Callable[[], datetime] = utc_now,
) -> AgentResult:
    """Do the job; raises UsageError without a prompt or context, Unreachable without a database, nothing else.

    `engines` stands in for those of the settings.
    """
    if not request.prompt.strip():
        raise UsageError(f"the task {request.task} has an empty prompt: write what the agent shall do")
    books = Books(db, rid=request.rid, task=request.task, turn=request.turn)
    if engines is None:
        engines = open_engines(settings, open_plain_door(db, settings), request.engines)
    result = run_chain(
        make_engine_request(settings, request), engines=engines, state=books, record=books.record, now=clock
    )
    tell_engines(db, settings, result.attempts, task=request.task, now=clock())
    raw_id = _capture(db, settings, request, result, clock()) if request.capture and result.outcome == "ok" else None
    return AgentResult(result, raw_id)


def make_engine_request(settings: Settings, request: AgentRequest) -> EngineRequest:
    """The request with context, MCP servers and environment; raises UsageError where the context is not whole."""
    context = settings.tasks_folder / "context"
    session = f"task/{request.task}"
    token = {TOKEN: settings.mcp_token} if settings.mcp_token else {}
    seen = engine_environment(os.environ, {**request.env, **token}, session)
    mcp = load_mcp_config(context / "mcp.json", api_url=settings.api_url, env=seen)
    uses_token = OWN in mcp.servers or any(TOKEN in str(entry) for entry in mcp.servers.values())
    return EngineRequest(
        prompt=request.prompt,
        system=system_prompt(read_context(context), request.task),
        folder=request.folder,
        time_limit=request.time_limit,
        session=session,
        env={**request.env, **(token if uses_token else {})},
        mcp_servers=mcp.servers,
        mcp_problems=mcp.problems,
        access=request.access,
        max_turns=request.max_turns,
        budget_usd=request.budget_usd,
        api_models=request.models or settings.agent_model,
    )


def tell_engines(
    db: Database, settings: Settings, attempts: Sequence[Attempt], *, task: str, now: datetime
) -> None:
    """Raise or clear the alert of each engine that was asked. A capped engine is a working one."""
    asked = [attempt for attempt in attempts if attempt.verdict.outcome != "left-alone"]
    if not asked:
        return
    with db.transaction() as conn:
        for attempt in asked:
            subject = f"engine:{attempt.engine}"
            if attempt.verdict.configuration:
                condition = Condition(
                    ALERT,
                    subject,
                    f"The engine {attempt.engine} cannot be used: {attempt.verdict.reason}",
                    detail=f"The task {task} went on to the next engine. Log in again or pay, or take it out of"
                    " ARGUS_ENGINES.",
                    severity="warn",
                    task=task,
                )
                raise_alert(conn, settings, condition, now=now, by=BY)
            elif attempt.verdict.outcome in ("ok", "capped"):
                clear_alert(conn, settings, ALERT, subject, now=now, by=BY)


def _capture(
    db: Database, settings: Settings, request: AgentRequest, result: EngineResult, now: datetime
) -> int | None:
    _, recalled = cut_fenced(request.prompt)
    metadata = {
        "task": request.task,
        "rid": request.rid,
        "turn": request.turn,
        "engine": result.engine,
        "model": result.model,
        "recalled_blocks": recalled,
        "original_timestamp": now.isoformat(),
    }
    item = {
        "source": "task",
        "kind": "synthesis",
        "body": result.text,
        "session": f"task/{request.task}",
        "project": request.project,
        "metadata": {name: value for name, value in metadata.items() if value is not None},
    }
    (receipt,) = accept(db, settings, [item], now=now)
    return receipt.id
