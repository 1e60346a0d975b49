"""The engine `api`: one answer of a model through LiteLLM, the last resort. It has no tools and no MCP servers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from argus_memory.errors import BudgetExceeded, ConfigurationFailure, InfraFailure, ModelFailure
from argus_memory.models.engines.classify_text import reason_of
from argus_memory.models.engines.records import EngineRequest, McpError, Verdict
from argus_memory.models.llm import TIMED_OUT, LlmDoor

STAGE: Final = "agent"
BUDGET_PAUSE: Final = timedelta(minutes=15)  # the hour's budget is a sliding one
NO_TOOLS: Final = "the engine api has no MCP servers"


@dataclass(frozen=True, slots=True)
class Api:
    """`door` keeps the books of every request in `llm_calls`."""

    door: LlmDoor
    name: str = "api"

    def why_not(self, request: EngineRequest) -> str | None:
        return None if request.api_models else "not configured: no model is set (ARGUS_AGENT_MODEL)"

    def run(self, request: EngineRequest, *, now: Callable[[], datetime]) -> Verdict:
        missing = tuple(McpError(name, NO_TOOLS) for name in request.mcp_servers)
        try:
            text, info = self.door.complete_text(STAGE, request.system, request.prompt, request.api_models)
        except ModelFailure as failure:
            return verdict_of(failure, now())
        return Verdict(
            "ok",
            text=text,
            model=info.model_real or info.model,
            cost_usd=info.cost_usd,
            prompt_tokens=info.prompt_tokens,
            completion_tokens=info.completion_tokens,
            mcp_errors=missing,
        )


def verdict_of(failure: ModelFailure, now: datetime) -> Verdict:
    """What a failure of the door comes to. Argus's own hourly budget is a cap: it ends by itself."""
    reason = reason_of(str(failure))
    if isinstance(failure, BudgetExceeded):
        return Verdict("capped", reason=reason, reset_at=now + BUDGET_PAUSE)
    if isinstance(failure, ConfigurationFailure):
        return Verdict("infra", reason=reason, configuration=True)
    if isinstance(failure, InfraFailure):
        return Verdict("timeout" if failure.status == TIMED_OUT else "infra", reason=reason)
    return Verdict("content", reason=reason)
