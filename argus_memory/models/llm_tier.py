"""One model of a chain: its retry, its repair, its counts."""

from __future__ import annotations

import time
from typing import Any, Final, Generic, Protocol, TypeVar

from argus_memory.errors import InfraFailure, ModelFailure
from argus_memory.models.llm_answers import Asked, WrongShape
from argus_memory.models.llm_failures import classify
from argus_memory.models.llm_records import RUNTIME, CallInfo, CallRecord, Reply

RETRIES: Final = 1  # of one tier after an infra failure
PAUSE_SECONDS: Final = 1.0  # before it
TIMED_OUT: Final = 408

T = TypeVar("T")
Messages = list[dict[str, str]]


class Sender(Protocol):
    """The door, as its tiers see it."""

    @property
    def secret(self) -> str | None: ...

    def check_budget(self, stage: str, model: str) -> None: ...

    def send(self, stage: str, model: str, messages: Messages, asked: Asked[Any]) -> Reply: ...

    def pause(self, seconds: float) -> None: ...

    def record(self, call: CallRecord) -> None: ...


Unit = tuple[str, int]


class Tier(Generic[T]):
    """`calls` counts the requests made so far."""

    def __init__(
        self, door: Sender, stage: str, model: str, tier: int, asked: Asked[T], unit: Unit | None
    ) -> None:
        self._door, self._stage, self._model, self._tier = door, stage, model, tier
        self._asked, self._unit = asked, unit
        self.calls = 0

    def answer(self, system: str, user: str, asked_before: int) -> tuple[T, CallInfo]:
        messages = [{"role": "system", "content": system}] if system else []
        messages.append({"role": "user", "content": user})
        try:
            reply, value = self._ask(messages)
        except WrongShape as wrong:
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

    def _ask(self, messages: Messages) -> tuple[Reply, T]:
        """One request, and its retries after infra failures."""
        for left in range(RETRIES, -1, -1):
            try:
                return self._request(messages)
            except InfraFailure as failure:
                # It waited its whole limit already, or tried every engine there is.
                if not left or failure.status == TIMED_OUT or self._model == RUNTIME:
                    raise
                self._door.pause(PAUSE_SECONDS)
        raise AssertionError("unreachable")

    def _request(self, messages: Messages) -> tuple[Reply, T]:
        self._door.check_budget(self._stage, self._model)
        self.calls += 1
        started = time.perf_counter()
        reply: Reply | None = None
        try:
            reply = self._door.send(self._stage, self._model, messages, self._asked)
            value = self._asked.read(self._model, reply.text)
        except Exception as error:
            failure = classify(error, self._model, secret=self._door.secret)
            self._note(started, failure.kind, reply, failure)
            if failure is error:
                raise
            raise failure from error
        self._note(started, "ok", reply, None)
        return reply, value

    def _note(self, started: float, outcome: str, reply: Reply | None, failure: ModelFailure | None) -> None:
        kind, number = self._unit or (None, None)
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
                unit_kind=kind,
                unit_id=number,
                trace_id=reply.trace_id if reply else None,
            )
        )
