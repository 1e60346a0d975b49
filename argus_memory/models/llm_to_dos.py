"""Texts → a prompt → to-dos, through the door of llm.py; the stage holds what is quoted against the text."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import date, datetime
from functools import cache
from importlib import resources
from typing import Any, Final

from argus_memory.models.llm import LlmDoor
from argus_memory.rules.task_items import ToDo

STAGE: Final = "to_dos"
WHAT_CHARS: Final = 200
_PART: Final = {
    "type": "object",
    "properties": {
        "text": {"type": "integer"},
        "what": {"type": "string"},
        "quote": {"type": "string"},
        "due_on": {"type": "string"},
    },
    "required": ["text", "what", "quote", "due_on"],
    "additionalProperties": False,
}
SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"to_dos": {"type": "array", "items": _PART}},
    "required": ["to_dos"],
    "additionalProperties": False,
}


@cache
def _system() -> str:
    return (resources.files("argus_memory.models") / "prompts" / "to_dos_system.md").read_text("utf-8").strip()


def write_prompt(texts: Sequence[tuple[str, datetime]]) -> str:
    """The request: each text between marks that carry a hash of all of them, so that none can close its own."""
    mark = "text-" + hashlib.sha256("\0".join(t for t, _ in texts).encode("utf-8", "replace")).hexdigest()[:10]
    parts = [f"The marks are <{mark}> and </{mark}>."]
    for number, (text, said_at) in enumerate(texts, start=1):
        parts.append(f"{number} (said {said_at:%A %Y-%m-%d}):\n<{mark}>\n{text}\n</{mark}>")
    return "\n\n".join(parts)


def find_to_dos(
    door: LlmDoor, texts: Sequence[tuple[str, datetime]], models: Sequence[str]
) -> tuple[list[list[ToDo]], str]:
    """The to-dos of each text, in order, and the model that found them. Raises ModelFailure."""
    answer, info = door.complete_json(STAGE, SCHEMA, _system(), write_prompt(texts), models)
    found: list[list[ToDo]] = [[] for _ in texts]
    for part in answer["to_dos"]:
        if 1 <= part["text"] <= len(texts) and part["what"].strip() and part["quote"].strip():
            what = " ".join(part["what"].split())[:WHAT_CHARS]
            found[part["text"] - 1].append(ToDo(what, part["quote"].strip(), _day(part["due_on"])))
    return found, info.model_real or info.model


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text.strip())
    except ValueError:
        return None
