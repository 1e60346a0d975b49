"""What is asked of a model, and what counts as an answer: a JSON object of a shape, or a text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from argus_memory.errors import ContentFailure
from argus_memory.models.llm_litellm import MAX_TOKENS
from argus_memory.models.llm_schema import find_problem
from argus_memory.rules.poison import REFUSAL, poison_reason

_FENCE: Final = re.compile(r"^```(?:json)?\s*\n?(.*?)\n?```$", re.DOTALL)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Asked(Generic[T]):
    """`schema` is sent along, None for a text; `read(model, text)` gives the answer or raises ContentFailure.

    An answer that can be mended raises WrongShape: the model is asked once more.
    """

    read: Callable[[str, str], T]
    schema: Mapping[str, Any] | None = None
    max_tokens: int = MAX_TOKENS


class WrongShape(ContentFailure):
    """The server answered, but not with an object of the asked shape."""

    def __init__(self, model: str, problem: str, text: str, *, refused: bool = False) -> None:
        super().__init__(f"{model}: {problem}", status=200)
        self.problem, self.text, self.refused = problem, text, refused


def ask_json(schema: Mapping[str, Any], accept: Mapping[str, Any]) -> Asked[dict[str, Any]]:
    """An object asked for as `schema` and held against `accept`."""
    return Asked(lambda model, text: read_json(model, text, accept), schema)


def ask_text(max_tokens: int = MAX_TOKENS) -> Asked[str]:
    """Any text but an empty one or a plain refusal."""
    return Asked(read_text, max_tokens=max_tokens)


def read_json(model: str, text: str, accept: Mapping[str, Any]) -> dict[str, Any]:
    fenced = _FENCE.match(text.strip())
    bare = (fenced.group(1) if fenced else text).strip()
    try:
        value = json.loads(bare)
    except ValueError:
        refused = poison_reason(text, "assistant") == REFUSAL
        problem = "a refusal" if refused else "an empty answer" if not bare else "not JSON"
        raise WrongShape(model, problem, text, refused=refused) from None
    if problem_found := find_problem(value, accept):
        raise WrongShape(model, problem_found, text)
    if not isinstance(value, dict):
        raise WrongShape(model, "answer: not an object", text)
    return value


def read_text(model: str, text: str) -> str:
    if not text.strip():
        raise ContentFailure(f"{model}: an empty answer", status=200)
    if poison_reason(text, "assistant") == REFUSAL:
        raise ContentFailure(f"{model}: a refusal", status=200)
    return text.strip()
