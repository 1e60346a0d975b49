"""What is known about a call of a model, before, during and after."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

# In a list of models: the engines of agent tasks (claude, codex, the API), see docs/tasks.md.
RUNTIME: Final = "runtime"


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One request to a model, as it stands in `llm_calls`. `cost_usd` is None when unknown, 0.0 when free."""

    stage: str
    model: str
    tier: int
    milliseconds: int
    outcome: str
    model_real: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost_usd: float | None = None
    status_code: int | None = None
    detail: str | None = None
    unit_kind: str | None = None
    unit_id: int | None = None
    trace_id: str | None = None


@dataclass(frozen=True, slots=True)
class CallInfo:
    """Who answered in the end: the model asked for, the one that says it answered, and its place in the chain."""

    model: str
    model_real: str | None
    tier: int
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float | None


@dataclass(frozen=True, slots=True)
class Spent:
    """What a stage used in the last hour."""

    calls: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Reply:
    """A server's answer before anyone has read it."""

    text: str
    model_real: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost_usd: float | None = None
    trace_id: str | None = None  # under which the server was asked to trace it


RecordCall = Callable[[CallRecord], None]
SpentLastHour = Callable[[str], Spent]
