"""A unit → a prompt → candidates, through the door of llm.py.

The captured text is data: each turn stands between marks that carry a hash of the whole record, so that no turn
can close its own fence, and the system prompt says that nothing between them is an instruction.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import Any, Final

from argus_memory.models.llm import LlmDoor
from argus_memory.models.llm_records import CallInfo
from argus_memory.records import CATEGORIES, Candidate, EpisodeTurn, Unit

STAGE: Final = "distill"
ANSWER_SHARE: Final = 0.35  # of the context is left to the prompt's frame and the answer
# Requests one unit may cost. A pasted book would use up the hour's budget half-way and begin again every hour.
MAX_PARTS: Final = 40
MIN_BUDGET: Final = 500  # tokens of record a request, however small the context is said to be
PIECE_BREAK: Final = 0.5  # a turn cut in pieces ends at a line where one lies in the second half

_TEXTS: Final = {"type": "array", "items": {"type": "string"}}
_PROPERTIES: Final[Mapping[str, Any]] = {
    "title": {"type": "string"},
    "content": {"type": "string"},
    "category": {"type": "string", "enum": list(CATEGORIES)},
    "importance": {"type": "number"},
    "keywords": _TEXTS,
    "tags": _TEXTS,
    "context": {"type": "string"},
    "source_ref": {"type": "string"},
    "speaker": {"type": "string", "enum": ["user", "assistant", "none"]},
}


def _schema(properties: Mapping[str, Any], required: Sequence[str], closed: Mapping[str, Any]) -> dict[str, Any]:
    note = {"type": "object", "properties": properties, "required": list(required), **closed}
    notes = {"notes": {"type": "array", "items": note}}
    return {"type": "object", "properties": notes, "required": ["notes"], **closed}


# Asked for strictly; accepted with what a note cannot do without. What is out of range is the gate's to reject.
ASKED: Final = _schema(_PROPERTIES, list(_PROPERTIES), {"additionalProperties": False})
ACCEPTED: Final = _schema(
    {name: {key: part[key] for key in part if key != "enum"} for name, part in _PROPERTIES.items()},
    ["title", "content", "source_ref"],
    {},
)


@dataclass(frozen=True, slots=True)
class Distilled:
    """Candidates of a unit and who made them; `parts` of it were read, `left_out` were beyond MAX_PARTS."""

    candidates: tuple[Candidate, ...]
    info: CallInfo
    parts: int
    left_out: int


@cache
def _prompt(name: str) -> str:
    return (resources.files("argus_memory.models") / "prompts" / f"{name}.md").read_text("utf-8").strip()


def count_tokens(text: str) -> int:
    """An upper estimate without a tokenizer: three ASCII characters a token, one of any other script."""
    ascii_chars = len(text.encode("ascii", "ignore"))
    return ascii_chars // 3 + (len(text) - ascii_chars) + 1


def _pieces(turn: EpisodeTurn, budget: int) -> list[EpisodeTurn]:
    """A turn that is larger than the budget, cut at lines or blanks; each piece is a slice of its text."""
    pieces: list[EpisodeTurn] = []
    rest = turn.text
    while count_tokens(rest) > budget:
        size = max(1, len(rest) * budget // count_tokens(rest))
        while size > 1 and count_tokens(rest[:size]) > budget:
            size = size * 9 // 10
        cut = next((at for mark in ("\n", " ") if (at := rest.rfind(mark, 0, size)) > size * PIECE_BREAK), size)
        pieces.append(replace(turn, text=rest[:cut]))
        rest = rest[cut:]
    return [*pieces, replace(turn, text=rest)]


def split_parts(turns: Sequence[EpisodeTurn], budget: int) -> list[list[EpisodeTurn]]:
    """Turns in order, in as few parts as hold at most `budget` tokens each; no text is lost."""
    parts: list[list[EpisodeTurn]] = [[]]
    used = 0
    for turn in turns:
        for piece in _pieces(turn, budget):
            size = count_tokens(piece.text)
            if parts[-1] and used + size > budget:
                parts.append([])
                used = 0
            parts[-1].append(piece)
            used += size
    return [part for part in parts if part]


def write_prompt(unit: Unit, turns: Sequence[EpisodeTurn], part: int, parts: int) -> str:
    """The request for one part of a unit."""
    mark = "turn-" + hashlib.sha256("\0".join(t.text for t in turns).encode("utf-8", "replace")).hexdigest()[:10]
    conversation = unit.kind == "episode"
    speakers = [turn.role if conversation else "none" for turn in turns]
    record = "\n".join(
        f'<{mark} speaker="{speaker}" said="{turn.said_at:%Y-%m-%d %H:%M}">\n{turn.text}\n</{mark}>'
        for turn, speaker in zip(turns, speakers, strict=True)
    )
    return _prompt("distill_user").format(
        what="a conversation between a user and an assistant" if conversation else f"one {unit.item_kind}",
        first_day=f"{turns[0].said_at:%Y-%m-%d}",
        last_day=f"{turns[-1].said_at:%Y-%m-%d}",
        project=unit.project or "unknown",
        part=f" This is part {part} of {parts}." if parts > 1 else "",
        mark=mark,
        record=record,
    )


def _clean(text: str) -> str:
    """Postgres takes neither NUL nor lone surrogates; a model may write both."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8").strip()


def _candidate(note: Mapping[str, Any]) -> Candidate:
    speaker = note.get("speaker")
    return Candidate(
        title=" ".join(_clean(note["title"]).split()),
        content=_clean(note["content"]),
        source_ref=_clean(note["source_ref"]),
        category=_clean(note.get("category", "fact")),
        importance=float(min(max(note.get("importance", 0.5), -1), 2)),
        keywords=tuple(map(_clean, note.get("keywords", ())))[:8],
        tags=tuple(map(_clean, note.get("tags", ())))[:8],
        context=_clean(note.get("context", "")),
        role=speaker if speaker in ("user", "assistant") else None,
    )


def distill(
    door: LlmDoor,
    unit: Unit,
    models: Sequence[str],
    *,
    context_tokens: int,
    before_part: Callable[[], None] = lambda: None,
) -> Distilled:
    """Candidates for the whole unit, part by part; raises what the door raises, at the first part that fails."""
    budget = max(MIN_BUDGET, int(context_tokens * (1 - ANSWER_SHARE)))
    parts = split_parts(unit.turns, budget)
    candidates: list[Candidate] = []
    info: CallInfo | None = None
    for number, turns in enumerate(parts[:MAX_PARTS], start=1):
        before_part()
        prompt = write_prompt(unit, turns, number, len(parts))
        answer, info = door.complete_json(
            STAGE, ASKED, _prompt("distill_system"), prompt, models, accept=ACCEPTED, unit=(unit.kind, unit.id)
        )
        candidates += map(_candidate, answer["notes"])
    assert info is not None, "a unit has at least one turn"
    read = min(len(parts), MAX_PARTS)
    return Distilled(tuple(candidates), info, read, len(parts) - read)
