"""What a verdict on two notes does to them. Pure.

    duplicate   the note that is looked at goes, the one already there is corroborated
    refine      the older goes, the newer stays and takes over what corroborated it
    supersede   the older goes and stops being valid when the newer began; held for a person when the older is well
                corroborated
    distinct    both stay

Older and newer go by when a thing was said, not by when it was stored: an import of last year must not overrule
today.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from argus_memory.records import GLOBAL_PROJECT, Verdict
from argus_memory.rules.same_fact import find_loss, names_same_day, same_fact
from argus_memory.settings import DEDUP_FLAG_CONFIDENCE

# What one more source takes off the doubt that is left: 0.50, 0.60, 0.68, 0.74, so that three make a note one that
# is not overruled without a person.
CORROBORATION = 0.2
RULES = "rules-v1"  # the model's name where no model decided


@dataclass(frozen=True, slots=True)
class NoteView:
    """A note as dedup sees it; `similarity` is its cosine with the note it is a neighbour of."""

    id: int
    uid: str
    content: str
    category: str
    project: str | None
    role: str | None
    confidence: float
    raw_id: int
    said_at: datetime
    valid_from: datetime
    valid_to: datetime | None
    context: str = ""
    similarity: float | None = None

    def older_than(self, other: NoteView) -> bool:
        return (self.said_at, self.id) < (other.said_at, other.id)


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict on a note and one neighbour, with its reason."""

    verdict: Verdict
    reasoning: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be written: a log row, and unless held or distinct a tombstone for `gone` in favour of `stays`.

    confidence: of the note that stays, (before, after); of the older one for a supersede. valid_to: the end of
    validity that `gone` gets.
    """

    verdict: Verdict
    status: Literal["applied", "pending"]
    note_id: int
    other_id: int
    reasoning: str
    gone: int | None = None
    stays: int | None = None
    confidence: tuple[float, float] | None = None
    valid_to: datetime | None = None
    valid_to_before: datetime | None = None


def corroborate(confidence: float) -> float:
    """Confidence after one more source, with diminishing returns; stays below 1."""
    return confidence + (1 - confidence) * CORROBORATION


def is_exact(note: NoteView, other: NoteView) -> bool:
    """Whether two notes of one uid may count as one: a relative day must mean the same date."""
    return names_same_day(note.content, other.content, said=(note.said_at, other.said_at))


def judge_by_rules(note: NoteView, other: NoteView, same: float) -> Judgement:
    """Without a model: near-exact repeats by two tests, closeness of at least `same` and the same fact."""
    if other.similarity is None or other.similarity < same:
        return Judgement("distinct", f"closeness {other.similarity or 0:.3f} is below {same:.3f}")
    if note.category != other.category:
        return Judgement("distinct", f"one is a {note.category}, the other a {other.category}")
    if not same_fact(note.content, other.content, said=(note.said_at, other.said_at)):
        return Judgement("distinct", "close, but words, numbers, names or negations differ")
    return Judgement("duplicate", f"closeness {other.similarity:.3f}, and the same words, numbers and negations")


def restrain(note: NoteView, other: NoteView, judged: Judgement) -> Judgement:
    """A model's verdict, unless it would lose something that two plain rules can see."""
    if judged.verdict == "duplicate":
        loss = find_loss(note.content, other.content)
        if loss is None and not is_exact(note, other):
            loss = "a relative day means another date"
        if loss:
            return Judgement("distinct", f"judged a duplicate, kept apart: {loss} ({judged.reasoning})")
    overrules = judged.verdict in ("refine", "supersede")
    if overrules and other.project == GLOBAL_PROJECT and note.project != GLOBAL_PROJECT:
        return Judgement(
            "distinct", f"judged {judged.verdict}, but one project does not overrule all: {judged.reasoning}"
        )
    return judged


def plan(note: NoteView, other: NoteView, judged: Judgement) -> Plan:
    """The changes that a verdict on `note` and its neighbour `other` makes."""
    older, newer = (note, other) if note.older_than(other) else (other, note)
    if judged.verdict == "duplicate":
        # The same turn twice is no second source.
        after = other.confidence if note.raw_id == other.raw_id else corroborate(other.confidence)
        return Plan(
            "duplicate", "applied", note.id, other.id, judged.reasoning,
            gone=note.id, stays=other.id, confidence=(other.confidence, after), valid_to_before=note.valid_to,
            valid_to=note.valid_to,
        )  # fmt: skip
    if judged.verdict == "refine":
        base = max(newer.confidence, older.confidence)
        after = base if newer.raw_id == older.raw_id else corroborate(base)
        return Plan(
            "refine", "applied", newer.id, older.id, judged.reasoning,
            gone=older.id, stays=newer.id, confidence=(newer.confidence, after), valid_to_before=older.valid_to,
            valid_to=older.valid_to,
        )  # fmt: skip
    if judged.verdict == "supersede":
        held = older.confidence >= DEDUP_FLAG_CONFIDENCE
        return Plan(
            "supersede", "pending" if held else "applied", newer.id, older.id, judged.reasoning,
            gone=None if held else older.id, stays=None if held else newer.id,
            confidence=(older.confidence, older.confidence), valid_to=newer.valid_from,
            valid_to_before=older.valid_to,
        )  # fmt: skip
    return Plan("distinct", "applied", note.id, other.id, judged.reasoning)
