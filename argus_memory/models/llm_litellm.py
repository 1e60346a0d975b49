"""LiteLLM, imported with the first call (4 s, 190 MB): its local price map, no callbacks, no retries of its own.

A model named `openai/…`, `litellm_proxy/…`, `hosted_vllm/…` or without a provider is asked at
ARGUS_LLM_BASE_URL when that is set; one of another provider (`anthropic/…`, `ollama/…`) is asked where LiteLLM
finds it, with that provider's own variables. Keys go to the model server and nowhere else.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from typing import Any, Final
from uuid import uuid4

from argus_memory.errors import ContentFailure
from argus_memory.models.llm_records import Reply
from argus_memory.settings import Settings

MAX_TOKENS: Final = 4096  # of an answer
_AT_BASE_URL: Final = frozenset({"openai", "litellm_proxy", "hosted_vllm", "custom_openai", "text-completion-openai"})


def load_litellm() -> Any:
    """The library, kept quiet."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else the import fetches prices from the network
    import litellm

    litellm.telemetry = False
    litellm.suppress_debug_info = True
    for hooks in ("callbacks", "success_callback", "failure_callback"):
        setattr(litellm, hooks, [])
    logging.getLogger("LiteLLM").setLevel(logging.ERROR)
    return litellm


def address_of(model: str, settings: Settings, providers: Sequence[Any]) -> dict[str, Any]:
    """Where and with which key LiteLLM shall ask for `model`; {} leaves it to LiteLLM."""
    base, provider = settings.llm_base_url, model.split("/", 1)[0]
    known = {str(getattr(p, "value", p)) for p in providers}
    named = "/" in model and provider in known
    if base is None or (named and provider not in _AT_BASE_URL):
        return {}
    # The client library wants some key; a server that needs none does not read it.
    address = {"api_base": base, "api_key": settings.llm_api_key or "none"}
    return address if named else {**address, "custom_llm_provider": "openai"}


def send(
    settings: Settings,
    model: str,
    messages: list[dict[str, str]],
    schema: Mapping[str, Any] | None,
    max_tokens: int = MAX_TOKENS,
) -> Reply:
    """One request for an object of `schema`, or for a text where that is None.

    Raises what LiteLLM raises, or ContentFailure for a held-back answer.
    """
    litellm = load_litellm()
    shape: dict[str, Any] = {}
    if schema is not None:
        wanted = {"name": "answer", "schema": dict(schema), "strict": True}
        shape = {"response_format": {"type": "json_schema", "json_schema": wanted}}
    address = address_of(model, settings, litellm.provider_list)
    trace_id = uuid4().hex if settings.langfuse_url and address else None
    if trace_id is not None:  # a LiteLLM proxy that reports to Langfuse names the trace so
        shape["extra_body"] = {"metadata": {"trace_id": trace_id, "tags": ["argus"]}}
    response = litellm.completion(
        model=model,
        messages=messages,
        temperature=0,
        max_tokens=max_tokens,
        timeout=settings.llm_timeout.total_seconds(),
        num_retries=0,
        max_retries=0,
        drop_params=True,
        **shape,
        **address,
    )
    choice = response.choices[0]
    if choice.finish_reason == "content_filter":
        raise ContentFailure(f"{model}: the answer was held back by a content filter", status=200)
    usage = getattr(response, "usage", None)
    return Reply(
        text=choice.message.content or "",
        model_real=response.model or None,
        prompt_tokens=getattr(usage, "prompt_tokens", None),
        completion_tokens=getattr(usage, "completion_tokens", None),
        cost_usd=(getattr(response, "_hidden_params", None) or {}).get("response_cost"),
        trace_id=trace_id,
    )
