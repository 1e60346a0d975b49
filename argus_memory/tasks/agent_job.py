"""A stanza, or a request of taskkit, as a job for agents: what to do and when to stop. Reads the prompt's file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from argus_memory.errors import UsageError
from argus_memory.models.engines.records import ACCESSES
from argus_memory.option_values import some_of
from argus_memory.records import TaskSpec
from argus_memory.tasks.agent import AgentRequest
from argus_memory.tasks.agent_loop import LoopRule
from argus_memory.tasks.prompt_text import prompt_values, read_prompt

MARGIN: Final = timedelta(seconds=15)  # before the runner's limit: the report is still to be written
TURNS_MAX: Final = 1000
# Of a stanza's env; a name that begins with ARGUS_ could not stand there.
ACCESS, LOOP, PHRASE, COMMAND, PROJECT = (
    "AGENT_ACCESS", "AGENT_LOOP", "AGENT_STOP_PHRASE", "AGENT_STOP_COMMAND", "AGENT_PROJECT",
)  # fmt: skip
REQUEST_KEYS: Final = frozenset({
    "prompt", "engines", "model", "access", "max_turns", "budget_usd", "loop", "stop_phrase", "stop_command",
    "project", "capture", "timeout_seconds",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Job:
    """A request and when to stop."""

    request: AgentRequest
    rule: LoopRule


def job_of_spec(spec: TaskSpec, env: Mapping[str, str]) -> Job:
    """The stanza as a job; raises UsageError."""
    given = spec.env
    request = AgentRequest(
        task=spec.name,
        prompt=read_prompt(spec.prompt, spec.folder, prompt_values(env, given)),
        folder=spec.folder,
        time_limit=max(spec.max_runtime - MARGIN, spec.max_runtime / 2),
        rid=env.get("ARGUS_TASK_RID") or None,
        engines=spec.engines,
        models=spec.model,
        access=_one_of(given.get(ACCESS) or "read", ACCESSES, f"env.{ACCESS}"),
        max_turns=spec.max_turns,
        budget_usd=spec.budget_usd,
        env=given,
        project=given.get(PROJECT) or None,
    )
    rule = LoopRule(
        turns=_whole(given.get(LOOP) or "1", f"env.{LOOP}"),
        budget_usd=spec.budget_usd,
        phrase=given.get(PHRASE) or None,
        command=given.get(COMMAND) or None,
    )
    return Job(request, rule)


def job_of_request(data: object, env: Mapping[str, str], folder: Path) -> Job:
    """A taskkit request as a job; raises UsageError naming the field."""
    if not isinstance(data, dict):
        raise UsageError('the request must be a JSON object with a "prompt"')
    if unknown := sorted(data.keys() - REQUEST_KEYS):
        raise UsageError(f"{unknown[0]}: is no field of a request; they are {', '.join(sorted(REQUEST_KEYS))}")
    budget = _number(data, "budget_usd")
    turns, seconds = _number(data, "max_turns"), _number(data, "timeout_seconds")
    prompt, project = _text(data, "prompt"), _text(data, "project")
    if not prompt:
        raise UsageError("prompt: is missing, text is needed")
    request = AgentRequest(
        task=env.get("ARGUS_TASK") or "by-hand",
        prompt=prompt,
        folder=folder,
        time_limit=timedelta(seconds=seconds or 3600),
        rid=env.get("ARGUS_TASK_RID") or None,
        engines=_engines(data.get("engines")),
        models=_words(data.get("model"), "model"),
        access=_one_of(_text(data, "access") or "read", ACCESSES, "access"),
        max_turns=None if turns is None else int(turns),
        budget_usd=budget,
        project=project,
        capture=data.get("capture", True) is True,
    )
    rule = LoopRule(
        _whole(str(data.get("loop", 1)), "loop"), budget, _text(data, "stop_phrase"), _text(data, "stop_command")
    )
    return Job(request, rule)


def _one_of(value: str, known: Sequence[Any], name: str) -> Any:
    if value not in known:
        raise UsageError(f"{name}: {value!r} is none of {', '.join(known)}")
    return value


def _whole(text: str, name: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= TURNS_MAX:
        raise UsageError(f"{name}: {text!r} is not a whole number from 1 to {TURNS_MAX}")
    return int(text)


def _text(data: Mapping[str, Any], name: str) -> str | None:
    value = data.get(name)
    if value is not None and not isinstance(value, str):
        raise UsageError(f"{name}: text is needed")
    return value or None


def _number(data: Mapping[str, Any], name: str) -> float | None:
    value = data.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e9:
        raise UsageError(f"{name}: a number above 0 is needed")
    return float(value)


def _words(value: object, name: str) -> tuple[str, ...]:
    words = [value] if isinstance(value, str) else value if value is not None else []
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise UsageError(f"{name}: a text or a list of texts is needed")
    return tuple(words)


def _engines(value: object) -> tuple[str, ...]:
    try:
        return some_of("claude", "codex", "api")(",".join(_words(value, "engines")))
    except ValueError as error:
        raise UsageError(f"engines: {error}") from None
