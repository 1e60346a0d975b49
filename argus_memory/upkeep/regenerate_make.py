"""The notes of one unit made anew, in memory: nothing is written, no unit is claimed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from argus_memory.db import Database
from argus_memory.models.llm import LlmDoor
from argus_memory.records import Candidate, Unit
from argus_memory.rules.carry_over import Place
from argus_memory.rules.dead_ends import with_dead_end
from argus_memory.rules.gate import Accepted, Rejected, judge
from argus_memory.rules.regeneration import NewNote
from argus_memory.rules.uid import note_uid, text_key
from argus_memory.settings import Settings
from argus_memory.stages.distill import Made, make_candidates
from argus_memory.stages.distill_units import Claim, PassedOver, read_unit
from argus_memory.upkeep.regenerate_episodes import read_span
from argus_memory.upkeep.regenerate_read import Replay

Maker = Callable[[Unit], Made]


@dataclass(frozen=True, slots=True)
class Remade:
    """A unit's notes made anew, past the gate; `rejected` are those that did not pass, repeats included."""

    notes: tuple[NewNote, ...]
    rejected: tuple[tuple[Candidate, str, str], ...]
    model: str
    model_real: str | None
    remark: str | None


def make_with(settings: Settings, door: LlmDoor) -> Maker:
    """The present models and prompts, or the extractive distiller where none is configured."""
    return lambda unit: make_candidates(settings, door, unit, lambda: None)


def remake(db: Database, replay: Replay, maker: Maker) -> Remade | PassedOver:
    """Read a unit's raw text and make its notes. Raises ModelFailure."""
    unit = read_span(db, replay) if replay.kind == "span" else _read(db, replay)
    if isinstance(unit, PassedOver):
        return unit
    made = maker(unit)
    notes: dict[str, NewNote] = {}
    rejected: list[tuple[Candidate, str, str]] = []
    for candidate in made.candidates:
        verdict = judge(candidate, unit)
        if isinstance(verdict, Rejected):
            rejected.append((candidate, verdict.reason, verdict.detail))
            continue
        note = _new_note(verdict, unit)
        if note.uid in notes:
            rejected.append((candidate, "repeat", "the same fact was made twice of this unit"))
        else:
            notes[note.uid] = note
    return Remade(tuple(notes.values()), tuple(rejected), made.model, made.model_real, made.remark)


def _read(db: Database, replay: Replay) -> Unit | PassedOver:
    return read_unit(db, Claim("item" if replay.kind == "item" else "episode", replay.id, "", 0))


def _new_note(verdict: Accepted, unit: Unit) -> NewNote:
    candidate, span = verdict.candidate, verdict.span
    content = candidate.content.strip()
    uid = note_uid(candidate.category, content, unit.project)
    params: dict[str, Any] = {
        "uid": uid,
        "text_key": text_key(content),
        "raw_id": span.turn.raw_id,
        "title": candidate.title.strip(),
        "content": content,
        "category": candidate.category,
        "importance": candidate.importance,
        "project": unit.project,
        "keywords": list(candidate.keywords),
        "tags": with_dead_end(candidate.tags, candidate.content),
        "context": candidate.context,
        "source_ref": candidate.source_ref,
        "source_start": span.start,
        "source_end": span.end,
        "role": span.turn.role if unit.kind == "episode" else None,
        "said_at": span.turn.said_at.isoformat(),
    }
    return NewNote(uid, content, Place(span.turn.raw_id, span.start, span.end), params)
