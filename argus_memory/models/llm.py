"""The door to chat models: one function, `complete_json`, over a chain of models.

    for each model of the chain (tier 0, 1, …)
        ask; infra (but a time-out) → once more after a pause
             wrong shape → once more with what was wrong (the repair)
        an answer that fits ends it; any other failure goes on to the next tier

It is the only retry loop: LiteLLM's own are off. Every request, failed ones too, is told to `record_call`
before anything else happens.
"""

from __future__ import annotations

import json
import logging
import re
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from argus_memory.errors import BudgetExceeded, ConfigurationFailure, ContentFailure, InfraFailure, ModelFailure
from argus_memory.models.llm_failures import classify, worst
from argus_memory.models.llm_litellm import send
from argus_memory.models.llm_records import CallInfo, CallRecord, RecordCall, Reply, SpentLastHour
from argus_memory.models.llm_schema import find_problem
from argus_memory.rules.poison import REFUSAL, poison_reason
from argus_memory.settings import Settings

RETRIES: Final = 1  # of one tier after an infra failure
PAUSE_SECONDS: Final = 1.0  # before it
TIMED_OUT: Final = 408
_FENCE: Final = re.compile(r"^```(?:json)?\s*\n?(.*?)\n?```$", re.DOTALL)

log = logging.getLogger(__name__)


class LlmDoor:
    """Asks models. `record_call` writes one row a request; `spent` says what a stage used in the last hour."""

    def __init__(
        self,
        settings: Settings,
        *,
        record_call: RecordCall,
        spent: SpentLastHour,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._settings = settings
        self._record = record_call
        self._spent = spent
        self._pause = pause

    def complete_json(
        self,
        stage: str,
        schema: Mapping[str, Any],
        system: str,
        user: str,
        models: Sequence[str],
        *,
        accept: Mapping[str, Any] | None = None,
        unit: tuple[str, int] | None = None,
    ) -> tuple[dict[str, Any], CallInfo]:
        """Ask the chain for an object of `schema`; the answer is held against `accept` (default: the schema).

        Raises BudgetExceeded before a call that the stage may not make, and otherwise what the failures of all
        tiers count as: InfraFailure, ContentFailure or ConfigurationFailure.
        """
        if not models:
            raise ConfigurationFailure(f"no model is configured for {stage}: set ARGUS_{stage.upper()}_MODEL")
        failures: list[ModelFailure] = []
        asked = 0
        for tier, model in enumerate(models):
            attempt = _Tier(self, stage, model, tier, schema, accept or schema, unit)
            try:
                return attempt.answer(system, user, asked)
            except BudgetExceeded:
                raise
            except ModelFailure as failure:
                log.warning("%s: %s failed (%s): %s", stage, model, failure.kind, failure)
                failures.append(failure)
                asked += attempt.calls
        raise worst(failures)

    def check_budget(self, stage: str) -> None:
        """Raise BudgetExceeded when the stage used up its calls or tokens of the hour."""
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

    def send(self, model: str, messages: list[dict[str, str]], schema: Mapping[str, Any]) -> Reply:
        return send(self._settings, model, messages, schema)

    def pause(self, seconds: float) -> None:
        self._pause(seconds)

    def record(self, call: CallRecord) -> None:
        self._record(call)

    @property
    def secret(self) -> str | None:
        return self._settings.llm_api_key


class _Tier:
    """One model of the chain: its retry, its repair, its counts."""

    def __init__(
        self,
        door: LlmDoor,
        stage: str,
        model: str,
        tier: int,
        schema: Mapping[str, Any],
        accept: Mapping[str, Any],
        unit: tuple[str, int] | None,
    ) -> None:
        self._door, self._stage, self._model, self._tier = door, stage, model, tier
        self._schema, self._accept, self._unit = schema, accept, unit or (None, None)
        self.calls = 0

    def answer(self, system: str, user: str, asked_before: int) -> tuple[dict[str, Any], CallInfo]:
        messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        try:
            reply, value = self._ask(messages)
        except _WrongShape as wrong:
            if wrong.refused:
                raise
            repair = f"That answer cannot be used ({wrong.problem}). Answer again with the JSON object alone."
            messages += [{"role": "assistant", "content": wrong.text[:2000]}, {"role": "user", "content": repair}]
            reply, value = self._ask(messages)
        info = CallInfo(
            model=self._model,
            model_real=reply.model_real,
            tier=self._tier,
            calls=asked_before + self.calls,
            prompt_tokens=reply.prompt_tokens or 0,
            completion_tokens=reply.completion_tokens or 0,
            cost_usd=reply.cost_usd,
        )
        return value, info

    def _ask(self, messages: list[dict[str, str]]) -> tuple[Reply, dict[str, Any]]:
        """One request, and its retries after infra failures."""
        for left in range(RETRIES, -1, -1):
            try:
                return self._request(messages)
            except InfraFailure as failure:
                if not left or failure.status == TIMED_OUT:  # it waited its whole limit already
                    raise
                self._door.pause(PAUSE_SECONDS)
        raise AssertionError("unreachable")

    def _request(self, messages: list[dict[str, str]]) -> tuple[Reply, dict[str, Any]]:
        self._door.check_budget(self._stage)
        self.calls += 1
        started = time.perf_counter()
        reply: Reply | None = None
        try:
            reply = self._door.send(self._model, messages, self._schema)
            value = self._parse(reply.text)
        except Exception as error:
            failure = classify(error, self._model, secret=self._door.secret)
            self._note(started, failure.kind, reply, failure)
            if failure is error:
                raise
            raise failure from error
        self._note(started, "ok", reply, None)
        return reply, value

    def _parse(self, text: str) -> dict[str, Any]:
        fenced = _FENCE.match(text.strip())
        bare = (fenced.group(1) if fenced else text).strip()
        try:
            value = json.loads(bare)
        except ValueError:
            refused = poison_reason(text, "assistant") == REFUSAL
            problem = "a refusal" if refused else "an empty answer" if not bare else "not JSON"
            raise _WrongShape(self._model, problem, text, refused=refused) from None
        if problem_found := find_problem(value, self._accept):
            raise _WrongShape(self._model, problem_found, text)
        if not isinstance(value, dict):
            raise _WrongShape(self._model, "answer: not an object", text)
        return value

    def _note(self, started: float, outcome: str, reply: Reply | None, failure: ModelFailure | None) -> None:
        self._door.record(
            CallRecord(
                stage=self._stage,
                model=self._model,
                tier=self._tier,
                milliseconds=round((time.perf_counter() - started) * 1000),
                outcome=outcome,
                model_real=reply.model_real if reply else None,
                prompt_tokens=reply.prompt_tokens if reply else None,
                completion_tokens=reply.completion_tokens if reply else None,
                cost_usd=reply.cost_usd if reply else None,
                status_code=failure.status if failure else 200,
                detail=str(failure) if failure else None,
                unit_kind=self._unit[0],
                unit_id=self._unit[1],
            )
        )


class _WrongShape(ContentFailure):
    """The server answered, but not with an object of the asked shape."""

    def __init__(self, model: str, problem: str, text: str, *, refused: bool = False) -> None:
        super().__init__(f"{model}: {problem}", status=200)
        self.problem, self.text, self.refused = problem, text, refused
