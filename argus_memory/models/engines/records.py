"""What goes into an engine and what comes out, before and after anybody has judged it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Literal, Protocol

Outcome = Literal["ok", "capped", "infra", "content", "timeout", "left-alone"]
# What the tools of an engine may touch: nothing (no tools at all), reading, the task's folder, everything.
Access = Literal["none", "read", "write", "all"]
ACCESSES: tuple[Access, ...] = ("none", "read", "write", "all")


@dataclass(frozen=True, slots=True)
class McpError:
    """A server of the MCP configuration that was not there for the engine, and why."""

    server: str
    error: str


@dataclass(frozen=True, slots=True)
class EngineRequest:
    """One job for whichever engine can do it.

    system: the agent's context, given as a system prompt where the engine has one; prompt: the job itself.
    mcp_servers: entries of an `mcpServers` object, `${NAME}` unexpanded; secrets come from env.
    env: variables the engine gets besides the allowed ones of this process; session: marks it for hooks.
    time_limit: of the whole chain. api_models: for the engine `api`. schema: the answer must be JSON of that shape.
    """

    prompt: str
    system: str
    folder: Path
    time_limit: timedelta
    session: str
    env: Mapping[str, str] = field(default_factory=dict)
    mcp_servers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    mcp_problems: tuple[McpError, ...] = ()
    access: Access = "read"
    max_turns: int | None = None
    budget_usd: float | None = None
    api_models: tuple[str, ...] = ()
    schema: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Ended:
    """What is left of an engine's process: parsed stdout lines, the rest as text, how it ended.

    events: JSON objects in order; noise: stdout lines that are none; signal: that ended it, None if it left by
    itself; timed_out: its time was over, or it was silent for too long (`silent`).
    """

    events: tuple[Mapping[str, Any], ...] = ()
    noise: str = ""
    stderr: str = ""
    exit_code: int | None = 0
    signal: int | None = None
    timed_out: bool = False
    silent: bool = False
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one attempt came to. cost_usd and tokens: None where they are not known, never 0 for unknown.

    reset_at: when a cap is over, as the engine said it; configuration: a person must act (logged out, unpaid);
    final: another engine would do no better or may not be asked (the job's own limits are used up).
    """

    outcome: Outcome
    text: str = ""
    reason: str | None = None
    reset_at: datetime | None = None
    model: str | None = None
    session: str | None = None
    exit_code: int | None = None
    cost_usd: float | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    mcp_errors: tuple[McpError, ...] = ()
    configuration: bool = False
    final: bool = False


@dataclass(frozen=True, slots=True)
class Attempt:
    """One engine's turn, as it stands in `engine_attempts`; `place` in the order of the chain, from 0."""

    place: int
    engine: str
    started_at: datetime
    finished_at: datetime
    verdict: Verdict
    next_engine: str | None = None


@dataclass(frozen=True, slots=True)
class EngineState:
    """Until when an engine is left alone; None: it may be asked."""

    capped_until: datetime | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class EngineResult:
    """What the chain came to.

    outcome: ok; capped: no engine failed, but those that could work are at their limits (reset_at: the earliest end);
    configuration: no engine is usable as things stand; infra, content, timeout: the last failure.
    cost_usd: of all attempts together, None when any of them did not tell.
    """

    outcome: Literal["ok", "capped", "configuration", "infra", "content", "timeout"]
    attempts: tuple[Attempt, ...]
    text: str = ""
    engine: str | None = None
    model: str | None = None
    session: str | None = None
    reason: str | None = None
    reset_at: datetime | None = None
    cost_usd: float | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    mcp_errors: tuple[McpError, ...] = ()


class Engine(Protocol):
    """Something that can do a job."""

    @property
    def name(self) -> str: ...

    def why_not(self, request: EngineRequest) -> str | None:
        """Why it cannot be asked at all (not installed, not configured); None when it can."""
        ...

    def run(self, request: EngineRequest, *, now: Callable[[], datetime]) -> Verdict:
        """Do the job within request.time_limit. Raises nothing for what the engine does."""
        ...


class EngineStates(Protocol):
    """Where it is kept until when an engine is capped."""

    def find(self, engine: str) -> EngineState: ...

    def cap(self, engine: str, until: datetime, reason: str, *, now: datetime) -> None: ...

    def clear(self, engine: str, *, now: datetime) -> None: ...


RecordAttempt = Callable[[Attempt], None]
