"""POST /ask: one prompt for a model, answered by the chain of ARGUS_ASK_MODEL. Agents, tasks and pages ask here."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from argus_api.answers import answer
from argus_api.auth import Level, require
from argus_api.body import JsonObject, get_number, get_text
from argus_api.hub import Here
from argus_memory.errors import BudgetExceeded, InfraFailure, Unreachable, UsageError
from argus_memory.models.llm_litellm import MAX_TOKENS
from argus_memory.models.llm_records import RUNTIME
from argus_memory.rules.storable import storable
from argus_memory.stages.model_door import open_plain_door

router = APIRouter(dependencies=[require(Level.MCP)])
STAGE = "ask"
FIELDS = frozenset({"prompt", "system", "model", "max_tokens"})
TOKENS_MAX = 32_768
MODELS_MAX = 8
# Threads of their own: model calls that hang must not take those that captures and recalls are answered by.
_ASKING = ThreadPoolExecutor(max_workers=8, thread_name_prefix="ask")


@router.post("/ask")
async def ask(hub: Here, data: JsonObject) -> Response:
    """The answer with who gave it and what it cost; at most eight are asked at once, others wait for their turn.

    422 for a bad request, 502 for answers that are none and models that refuse the key, 503 when no model is
    configured, none can be reached, or the hour's budget is used up.
    """
    if unknown := sorted(data.keys() - FIELDS):
        raise UsageError(f"{unknown[0][:40]}: is no field of this call; they are {', '.join(sorted(FIELDS))}")
    prompt, system = get_text(data, "prompt"), get_text(data, "system")
    if not prompt or not prompt.strip():
        raise UsageError("prompt: is missing, text is needed")
    models = _models(data.get("model")) or hub.settings.ask_model
    max_tokens = _max_tokens(data)
    if not models:
        raise Unreachable("no model is configured to answer: set ARGUS_ASK_MODEL, or name one as `model`")
    door = open_plain_door(hub.db, hub.settings)
    asked = partial(
        door.complete_text, STAGE, storable(system or ""), storable(prompt), models, max_tokens=max_tokens
    )
    try:
        text, info = await asyncio.get_running_loop().run_in_executor(_ASKING, asked)
    except (InfraFailure, BudgetExceeded) as failure:
        raise Unreachable(str(failure)) from failure
    return answer(
        {
            "text": text,
            "model": info.model,
            "model_real": info.model_real,
            "tier": info.tier,
            "cost_usd": info.cost_usd,
            "tokens": {"prompt": info.prompt_tokens, "completion": info.completion_tokens},
        }
    )


def _models(value: Any) -> tuple[str, ...]:
    """A name, or a list of names to be tried in order."""
    names = [value] if isinstance(value, str) else value if value is not None else []
    if not isinstance(names, list) or not all(isinstance(n, str) and n.strip() and n.isprintable() for n in names):
        raise UsageError("model: a model's name is needed, or a list of them")
    if len(names) > MODELS_MAX:
        raise UsageError(f"model: {len(names)} names, at most {MODELS_MAX} are tried")
    if RUNTIME in names:
        raise UsageError("model: `runtime` stands for agents, which this call does not start: use a task")
    return tuple(name.strip() for name in names)


def _max_tokens(data: dict[str, Any]) -> int:
    value = get_number(data, "max_tokens")
    if value is None:
        return MAX_TOKENS
    if value != int(value) or not 1 <= value <= TOKENS_MAX:
        raise UsageError(f"max_tokens: {value} is not a whole number from 1 to {TOKENS_MAX:,}")
    return int(value)
