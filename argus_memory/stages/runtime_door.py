"""`runtime` in ARGUS_DISTILL_MODEL or ARGUS_JUDGE_MODEL: distill and judge by the engines of agent tasks.

For people with a subscription and no key. The engine gets no tools, no MCP servers and an empty folder: what it reads
is captured text, which is data. At most ARGUS_RUNTIME_CALLS_PER_HOUR calls of both stages together. `model_real` of a
note is `claude/<model>` or the like.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from argus_memory.db import Database
from argus_memory.errors import BudgetExceeded, ConfigurationFailure, ContentFailure, InfraFailure
from argus_memory.models.engines.chain import run_chain
from argus_memory.models.engines.records import Engine, EngineRequest, EngineResult
from argus_memory.models.llm_records import Reply
from argus_memory.settings import Settings
from argus_memory.stages.engine_books import Books, runtime_calls

TIMED_OUT: Final = 408
ENGINE_TURNS: Final = 1


@dataclass(frozen=True, slots=True)
class RuntimeDoor:
    """A models.llm.Runtime that keeps its books in this database."""

    db: Database
    settings: Settings
    engines: Sequence[Engine]

    def check_budget(self) -> None:
        used, limit = runtime_calls(self.db), self.settings.runtime_calls_per_hour
        if used >= limit:
            raise BudgetExceeded(
                f"the stages of memory used {used} of {limit} engine calls this hour: they go on when the hour is"
                " over, or raise ARGUS_RUNTIME_CALLS_PER_HOUR"
            )

    def ask(self, stage: str, messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any] | None) -> Reply:
        books = Books(self.db, stage=stage)
        result = run_chain(
            self._request(stage, messages, schema),
            engines=self.engines,
            state=books,
            record=books.record,
            now=lambda: datetime.now(UTC),
        )
        if result.outcome != "ok":
            raise failure_of(result)
        return Reply(
            text=result.text,
            model_real=f"{result.engine}/{result.model or 'unknown'}",
            prompt_tokens=result.prompt_tokens,
            completion_tokens=result.completion_tokens,
            cost_usd=result.cost_usd,
        )

    def _request(
        self, stage: str, messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any] | None
    ) -> EngineRequest:
        """The first message is the system's; of what follows, a repair is told as one text."""
        system = "\n\n".join(each["content"] for each in messages if each["role"] == "system")
        said = [each for each in messages if each["role"] != "system"]
        prompt = said[0]["content"]
        for each in said[1:]:
            who = "You answered" if each["role"] == "assistant" else "Then"
            prompt += f"\n\n{who}:\n{each['content']}"
        if schema is not None:
            shape = json.dumps(schema, ensure_ascii=False)
            prompt += f"\n\nAnswer with one JSON object and nothing else, of this JSON Schema:\n{shape}"
        return EngineRequest(
            prompt=prompt,
            system=system,
            folder=Path.home(),
            time_limit=self.settings.llm_timeout,
            session=f"stage/{stage}",
            access="none",
            max_turns=ENGINE_TURNS,
            api_models=self.settings.agent_model,
            schema=schema,
        )


def failure_of(result: EngineResult) -> ConfigurationFailure | ContentFailure | InfraFailure:
    """What a chain without an answer counts as; a cap stops the pass as a used-up budget does."""
    reason = result.reason or result.outcome
    if result.outcome == "content":
        return ContentFailure(reason)
    if result.outcome in ("capped", "configuration"):
        return ConfigurationFailure(reason)
    return InfraFailure(reason, status=TIMED_OUT if result.outcome == "timeout" else None)
