"""The write-gate: what a candidate must prove before it becomes a note.

    shape        title, content and source_ref are not blank
    poison       neither content nor source_ref is an error report or a refusal
    grounding    source_ref stands, white space aside, in one turn of the unit
    attribution  what is said of the user stands in a user's turn, of the assistant in an assistant's
    title        at most 80 characters
    category     one of the six; importance between 0 and 1

The first that fails is the reason of the rejection; every rejection is written down with its detail.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from argus_memory.records import CATEGORIES, Candidate, Unit
from argus_memory.rules.grounding import Span, find_span
from argus_memory.rules.poison import poison_reason
from argus_memory.settings import TITLE_MAX

_LABEL: Final = re.compile(r"^(?:User|Assistant|Document|Event|Synthesis)(?:, asked \"[^\"]*\")?:\s*")
# "User: …", "The user prefers …". Not "User model has …": the verb or the mark must follow at once.
_PERSON_VERB: Final = (
    r"(?:'s\b|:|,|\s(?:is|was|has|had|will|would|does|did|prefers?|wants?|likes?|dislikes?|hates?|loves?|"
    r"decided|chose|chooses|asked|asks|said|says|requested|requests|stated|states|works|lives|needs|plans|uses|"
    r"noted|mentioned|reported|confirmed|rejected|agreed|approved|believes|thinks|expects|requires|never|always|"
    r"doesn't|didn't|owns|runs|bought|went|moved|told|instructed|insists)\b)"
)
_OF_USER: Final = re.compile(rf"^(?:the\s+)?user{_PERSON_VERB}", re.IGNORECASE)
_OF_ASSISTANT: Final = re.compile(rf"^(?:the\s+)?assistant{_PERSON_VERB}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Accepted:
    """A candidate that may be written, and the place that supports it."""

    candidate: Candidate
    span: Span


@dataclass(frozen=True, slots=True)
class Rejected:
    """A candidate that may not; `reason` is one of the names above."""

    candidate: Candidate
    reason: str
    detail: str


def said_of(candidate: Candidate) -> str | None:
    """Whose words the note claims to report: "user", "assistant", or None when it names nobody."""
    for text in (candidate.content, candidate.title):
        if _OF_USER.match(text):
            return "user"
        if _OF_ASSISTANT.match(text):
            return "assistant"
    return candidate.role


def _poison(candidate: Candidate, role: str) -> str | None:
    for name, text in (("content", candidate.content), ("source_ref", candidate.source_ref)):
        if kind := poison_reason(_LABEL.sub("", text), role):
            return f"{name} is poison: {kind}"
    return None


def judge(candidate: Candidate, unit: Unit) -> Accepted | Rejected:
    """Decide on one candidate of `unit`; pure."""
    for name in ("title", "content", "source_ref"):
        if not getattr(candidate, name).strip():
            return Rejected(candidate, "shape", f"{name} is blank")
    conversation = unit.kind == "episode"
    speaker = said_of(candidate) if conversation else None
    span = find_span(
        candidate.source_ref, unit.turns, role=speaker, raw_id=candidate.raw_id, at=candidate.source_start
    )
    # A person's words are never poison; what stands nowhere is judged as the model's own.
    whose = span.turn.role if span and conversation else "assistant"
    if detail := _poison(candidate, whose):
        return Rejected(candidate, "poison", detail)
    if span is None:
        return Rejected(candidate, "grounding", "source_ref is not a span of any turn of the unit")
    if speaker is not None and speaker != span.turn.role:
        return Rejected(
            candidate, "attribution", f"said of the {speaker}, but the source is the {span.turn.role}'s turn"
        )
    if len(candidate.title) > TITLE_MAX:
        return Rejected(candidate, "title", f"{len(candidate.title)} characters, at most {TITLE_MAX}")
    if candidate.category not in CATEGORIES:
        return Rejected(candidate, "category", f"{candidate.category!r} is not one of {', '.join(CATEGORIES)}")
    if not 0 <= candidate.importance <= 1:
        return Rejected(candidate, "importance", f"{candidate.importance} is outside 0 to 1")
    return Accepted(candidate, span)
