"""A note and its neighbours → a prompt → a verdict, through the door of llm.py."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Final

from argus_memory.errors import ContentFailure
from argus_memory.models.llm import LlmDoor
from argus_memory.rules.dedup_judgement import Judgement, NoteView

STAGE: Final = "judge"
REASON_CHARS: Final = 500
VERDICTS: Final = ("distinct", "duplicate", "refine", "supersede")  # the one that changes nothing first


@dataclass(frozen=True, slots=True)
class Judged:
    """One judgement for each neighbour that was decided on, by its place, and the model that gave it."""

    judgements: Mapping[int, Judgement]
    model: str


@cache
def _system() -> str:
    return (resources.files("argus_memory.models") / "prompts" / "judge_system.md").read_text("utf-8").strip()


def answer_schema(neighbours: int) -> dict[str, Any]:
    """The shape that is asked for; `existing` counts from 1."""
    return {
        "type": "object",
        "properties": {
            "verdict": {"type": "string", "enum": list(VERDICTS)},
            "existing": {"type": "integer", "enum": list(range(1, neighbours + 1))},
            "reason": {"type": "string"},
        },
        "required": ["verdict", "existing", "reason"],
        "additionalProperties": False,
    }


def write_prompt(note: NoteView, neighbours: Sequence[NoteView]) -> str:
    """The request: every note between marks that carry a hash of all of them, so that none can close its own."""
    contents = "\0".join(each.content for each in (note, *neighbours))
    mark = "note-" + hashlib.sha256(contents.encode("utf-8", "replace")).hexdigest()[:10]
    parts = [f"The marks are <{mark}> and </{mark}>."]
    for name, each in [("NEW", note), *[(f"EXISTING {n}", each) for n, each in enumerate(neighbours, 1)]]:
        about = f"{each.category}, said {each.said_at:%Y-%m-%d %H:%M} UTC, by {each.role or 'a document'}"
        parts.append(f"{name} ({about}):\n<{mark}>\n{each.content}\n</{mark}>")
    return "\n\n".join(parts)


def judge(door: LlmDoor, note: NoteView, neighbours: Sequence[NoteView], models: Sequence[str]) -> Judged:
    """Ask the chain of models. `distinct` holds for all neighbours, another verdict for the one chosen.

    Raises ModelFailure.
    """
    schema = answer_schema(len(neighbours))
    accepted = {**schema, "required": ["verdict"]}
    answer, info = door.complete_json(
        STAGE, schema, _system(), write_prompt(note, neighbours), models, accept=accepted, unit=("note", note.id)
    )
    reason = " ".join(str(answer.get("reason", "")).split())[:REASON_CHARS] or "no reason given"
    judgement = Judgement(answer["verdict"], reason)
    if judgement.verdict == "distinct":
        chosen = list(range(len(neighbours)))
    elif "existing" in answer:
        chosen = [answer["existing"] - 1]
    elif len(neighbours) == 1:
        chosen = [0]
    else:
        raise ContentFailure(f"{info.model}: a verdict without the note it is about", status=200)
    return Judged(dict.fromkeys(chosen, judgement), info.model_real or info.model)
