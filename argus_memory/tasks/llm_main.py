"""`python -m argus_memory.tasks.llm_main`: the process of an llm task, one prompt for a chain of models.

The stanza's `model` stands before ARGUS_ASK_MODEL. The answer goes to stdout; model, tier, tokens and cost are told
to the runner. Exit: 0 answered; 1 no model did; 2 wrong use.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from argus_memory.db import Database
from argus_memory.errors import ArgusError
from argus_memory.models.llm_records import CallInfo
from argus_memory.records import TaskSpec
from argus_memory.settings import load_settings
from argus_memory.stages.model_door import open_plain_door
from argus_memory.tasks.own_handler import Tell, find_dsn, find_spec, open_messages
from argus_memory.tasks.prompt_text import prompt_values, read_prompt

STAGE = "ask"


def report(spec: TaskSpec, text: str, info: CallInfo, tell: Tell) -> None:
    """The messages about an answer."""
    output: dict[str, Any] = {
        "model": info.model,
        "model_real": info.model_real,
        "tier": info.tier,
        "cost_usd": info.cost_usd,
        "tokens": {"prompt": info.prompt_tokens, "completion": info.completion_tokens},
    }
    tell({"type": "engine", "engine": "api", "model": info.model_real or info.model, "tier": info.tier})
    tell({"type": "cost", "usd": info.cost_usd, "engine": "api"})
    tell({"type": "report", "output": output, "summary": text})
    if spec.budget_usd is not None and info.cost_usd is not None and info.cost_usd > spec.budget_usd:
        print(  # noqa: T201
            f"the answer cost ${info.cost_usd:.4f}, more than its budget_usd of {spec.budget_usd}", file=sys.stderr
        )


def main(env: Mapping[str, str] = os.environ) -> int:
    try:
        settings = load_settings(env)
        spec = find_spec(env)
        prompt = read_prompt(spec.prompt, spec.folder, prompt_values(env, spec.env))
        settings = replace(settings, database_url=find_dsn(settings))
        with Database(settings.database_url or "", pool_max=2) as db:
            door = open_plain_door(db, settings)
            text, info = door.complete_text(STAGE, "", prompt, spec.model or settings.ask_model)
    except ArgusError as error:
        print(error, file=sys.stderr)  # noqa: T201
        return error.exit_code
    print(text, flush=True)  # noqa: T201
    report(spec, text, info, open_messages(env))
    return 0


if __name__ == "__main__":
    sys.exit(main())
