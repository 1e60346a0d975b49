"""The door to chat models: `complete_json` and `complete_text`, over a chain of models.

    for each model of the chain (tier 0, 1, …)                                        (llm_tier.py)
        ask; infra (but a time-out) → once more after a pause
             wrong shape → once more with what was wrong (the repair)                 (llm_answers.py)
        an answer that fits ends it; any other failure goes on to the next tier

It is the only retry loop: LiteLLM's own are off. Every request, failed ones too, is told to `record_call`
before anything else happens. The model named `runtime` is no model: it stands for the engines of agent tasks, which
`runtime` asks where it is given.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from argus_memory.errors import BudgetExceeded, ConfigurationFailure, ModelFailure
from argus_memory.models.llm_answers import Asked, ask_json, ask_text
from argus_memory.models.llm_failures import worst
from argus_memory.models.llm_litellm import MAX_TOKENS, send
from argus_memory.models.llm_records import RUNTIME, CallInfo, CallRecord, RecordCall, Reply, SpentLastHour
from argus_memory.models.llm_tier import TIMED_OUT, Tier, Unit
from argus_memory.settings import Settings

__all__ = ["RUNTIME", "TIMED_OUT", "LlmDoor", "Runtime"]

T = TypeVar("T")
log = logging.getLogger(__name__)


class Runtime(Protocol):
    """The engines of agent tasks, asked as if they were a model."""

    def check_budget(self) -> None:
        """Raises BudgetExceeded when the hour's calls are used up."""
        ...

    def ask(self, stage: str, messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any] | None) -> Reply:
        """Raises ModelFailure."""
        ...


class LlmDoor:
    """Asks models. `record_call` writes one row a request; `spent` says what a stage used in the last hour."""

    def __init__(
        self,
        settings: Settings,
        *,
        record_call: RecordCall,
        spent: SpentLastHour,
        pause: Callable[[float], None] = time.sleep,
        runtime: Runtime | None = None,
    ) -> None:
        self._settings = settings
        self._record = record_call
        self._spent = spent
        self._pause = pause
        self._runtime = runtime

    def complete_json(
        self,
        stage: str,
        schema: Mapping[str, Any],
        system: str,
        user: str,
        models: Sequence[str],
        *,
        accept: Mapping[str, Any] | None = None,
        unit: Unit | None = None,
    ) -> tuple[dict[str, Any], CallInfo]:
        """Ask the chain for an object of `schema`; the answer is held against `accept` (default: the schema).

        Raises BudgetExceeded before a call that the stage may not make, and otherwise what the failures of all
        tiers count as: InfraFailure, ContentFailure or ConfigurationFailure.
        """
        return self._complete(stage, ask_json(schema, accept or schema), system, user, models, unit)

    def complete_text(
        self,
        stage: str,
        system: str,
        user: str,
        models: Sequence[str],
        *,
        unit: Unit | None = None,
        max_tokens: int = MAX_TOKENS,
    ) -> tuple[str, CallInfo]:
        """Ask the chain for a text of at most `max_tokens`; an empty one and a refusal are content failures.

        Raises what complete_json raises.
        """
        return self._complete(stage, ask_text(max_tokens), system, user, models, unit)

    def _complete(
        self, stage: str, asked: Asked[T], system: str, user: str, models: Sequence[str], unit: Unit | None
    ) -> tuple[T, CallInfo]:
        if not models:
            raise ConfigurationFailure(f"no model is configured for {stage}: set ARGUS_{stage.upper()}_MODEL")
        failures: list[ModelFailure] = []
        calls = 0
        for tier, model in enumerate(models):
            attempt = Tier(self, stage, model, tier, asked, unit)
            try:
                return attempt.answer(system, user, calls)
            except BudgetExceeded:
                raise
            except ModelFailure as failure:
                log.warning("%s: %s failed (%s): %s", stage, model, failure.kind, failure)
                failures.append(failure)
                calls += attempt.calls
        raise worst(failures)

    def check_budget(self, stage: str, model: str = "") -> None:
        """Raise BudgetExceeded when the stage used up its calls or tokens of the hour, or the engines theirs."""
        if model == RUNTIME and self._runtime is not None:
            self._runtime.check_budget()
        used, limits = self._spent(stage), self._settings
        for name, amount, limit in (
            ("calls", used.calls, limits.llm_calls_per_hour),
            ("tokens", used.tokens, limits.llm_tokens_per_hour),
        ):
            if amount >= limit:
                raise BudgetExceeded(
                    f"{stage} used {amount} of {limit} model {name} this hour: it goes on when the hour is over,"
                    f" or raise ARGUS_LLM_{name.upper()}_PER_HOUR"
                )

    def send(self, stage: str, model: str, messages: list[dict[str, str]], asked: Asked[Any]) -> Reply:
        if model != RUNTIME:
            return send(self._settings, model, messages, asked.schema, asked.max_tokens)
        if self._runtime is None:
            raise ConfigurationFailure(f"{stage} cannot use the engines of agent tasks: name a model, not runtime")
        return self._runtime.ask(stage, messages, asked.schema)

    def pause(self, seconds: float) -> None:
        self._pause(seconds)

    def record(self, call: CallRecord) -> None:
        self._record(call)

    @property
    def secret(self) -> str | None:
        return self._settings.llm_api_key
