"""Vectors from a model server through LiteLLM, imported with the first call (it takes four seconds).

`dimensions` is never sent: some servers refuse it, others ignore it. The size of what comes back is checked instead.
Every call is a row of `llm_calls` (stage `embed`), failed ones too, through `record_call`.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from argus_memory.errors import ContentFailure, ModelFailure
from argus_memory.models.embedders import MAX_CHARS, TEXT_FORMAT, Vector, Vectors, check_vectors
from argus_memory.models.llm_failures import classify
from argus_memory.models.llm_litellm import address_of, load_litellm
from argus_memory.models.llm_records import CallRecord, RecordCall
from argus_memory.settings import Settings


class LiteLLMEmbedder:
    """One model on one server. Its space is known by name and size alone: a server tells no checksum."""

    checksum = f"litellm-{TEXT_FORMAT}"

    def __init__(self, settings: Settings, model: str, dim: int, *, record_call: RecordCall | None = None) -> None:
        self.model = model
        self.dim = dim
        self._settings = settings
        self._record_call = record_call

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of shape (len(texts), dim), in the order asked; raises a ModelFailure by class."""
        if not texts:
            return np.empty((0, self.dim), np.float32)
        started = time.monotonic()
        answer: Any = None
        try:
            answer = self._ask([text[:MAX_CHARS] or " " for text in texts])
            vectors = _read(answer, len(texts), self.model)
            checked = check_vectors(vectors, len(texts), self.dim, self.model)
        except ModelFailure as failure:
            self._record(started, answer, failure)
            raise
        self._record(started, answer, None)
        return checked

    def embed_query(self, text: str) -> Vector:
        return np.asarray(self.embed([text])[0])

    def _ask(self, texts: list[str]) -> Any:
        litellm = load_litellm()
        try:
            return litellm.embedding(
                model=self.model,
                input=texts,
                timeout=self._settings.llm_timeout.total_seconds(),
                num_retries=0,
                max_retries=0,
                encoding_format="float",
                **address_of(self.model, self._settings, litellm.provider_list),
            )
        except Exception as error:  # LiteLLM passes on whatever its providers raise
            raise classify(error, self.model, secret=self._settings.llm_api_key) from error

    def _record(self, started: float, answer: Any, failure: ModelFailure | None) -> None:
        if self._record_call is None:
            return
        usage = getattr(answer, "usage", None)
        self._record_call(
            CallRecord(
                stage="embed",
                model=self.model,
                tier=0,
                milliseconds=round((time.monotonic() - started) * 1000),
                outcome="ok" if failure is None else failure.kind,
                model_real=getattr(answer, "model", None),
                prompt_tokens=getattr(usage, "prompt_tokens", None),
                completion_tokens=0 if usage is not None else None,
                cost_usd=(getattr(answer, "_hidden_params", None) or {}).get("response_cost"),
                status_code=None if failure is None else failure.status,
                detail=None if failure is None else str(failure),
            )
        )


def _read(answer: Any, count: int, model: str) -> Vectors:
    """The vectors of an answer, sorted by their index; raises ContentFailure on another shape."""
    try:
        rows = [row if isinstance(row, dict) else row.model_dump() for row in answer.data]
        rows.sort(key=lambda row: row.get("index") or 0)
        return np.asarray([row["embedding"] for row in rows], dtype=np.float32)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ContentFailure(
            f"the embedding model {model} answered something else than {count} vectors of one size"
        ) from error
