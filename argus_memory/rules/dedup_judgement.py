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
from argus_memory.rules.rewording import find_conflict, restates
from argus_memory.rules.same_fact import names_same_day, same_fact
from argus_memory.rules.small_words import find_swap, find_turn
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
    pinned: bool = False

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


def judge_by_rules(note: NoteView, other: NoteView, same: float, floor: float | None = None) -> Judgement:
    """Without a model: repeats by two tests, closeness and the same fact.

    From `same` on the same words in the same order are one fact; from `floor` on also a rewording, where neither
    sentence says more than the other. Rewordings lie lower, for their words moved; what is only of the same
    surroundings lies below the floor.
    """
    close, said = other.similarity or 0.0, (note.said_at, other.said_at)
    least = same if floor is None else floor
    if close < least:
        return Judgement("distinct", f"closeness {close:.3f} is below {least:.3f}")
    if note.category != other.category:
        return Judgement("distinct", f"one is a {note.category}, the other a {other.category}")
    if close >= same and same_fact(note.content, other.content, said=said):
        return Judgement("duplicate", f"closeness {close:.3f}, and the same words, numbers and negations")
    reworded = floor is not None and is_exact(note, other) and restates(note.content, other.content)
    if reworded and find_turn(note.content, other.content) is None:
        return Judgement("duplicate", f"closeness {close:.3f}, and the same fact in other words")
    return Judgement("distinct", "close, but words, numbers, names or negations differ")


def restrain(note: NoteView, other: NoteView, judged: Judgement) -> Judgement:
    """A model's verdict, unless it would lose something that plain rules can see."""
    if judged.verdict in ("duplicate", "refine"):
        gone, stays = (note, other) if judged.verdict == "duplicate" or note.older_than(other) else (other, note)
        loss = find_conflict(gone.content, stays.content) or find_turn(gone.content, stays.content)
        loss = loss or find_swap(gone.content, stays.content)
        if loss is None and not is_exact(note, other):
            loss = "a relative day means another date"
        if loss:
            return Judgement("distinct", f"judged {judged.verdict}, kept apart: {loss} ({judged.reasoning})")
    overrules = judged.verdict in ("refine", "supersede")
    if overrules and other.project == GLOBAL_PROJECT and note.project != GLOBAL_PROJECT:
        return Judgement(
            "distinct", f"judged {judged.verdict}, but one project does not overrule all: {judged.reasoning}"
        )
    return judged


def plan(note: NoteView, other: NoteView, judged: Judgement) -> Plan:
    """The changes that a verdict on `note` and its neighbour `other` makes; what would take a pinned note away, or
    overrule a confident one, is held for a person."""
    older, newer = (note, other) if note.older_than(other) else (other, note)
    if judged.verdict == "duplicate":
        # Of a pinned note and its repeat the repeat goes, whichever was looked at.
        gone, stays = (other, note) if note.pinned and not other.pinned else (note, other)
        # The same turn twice is no second source.
        after = stays.confidence if gone.raw_id == stays.raw_id else corroborate(stays.confidence)
        return _merge("duplicate", judged, gone, stays, note_id=gone.id, held=gone.pinned,
                      confidence=(stays.confidence, after), valid_to=gone.valid_to)  # fmt: skip
    if judged.verdict == "refine":
        base = max(newer.confidence, older.confidence)
        after = base if newer.raw_id == older.raw_id else corroborate(base)
        return _merge("refine", judged, older, newer, note_id=newer.id, held=older.pinned,
                      confidence=(newer.confidence, after), valid_to=older.valid_to)  # fmt: skip
    if judged.verdict == "supersede":
        return _merge("supersede", judged, older, newer, note_id=newer.id,
                      held=older.pinned or older.confidence >= DEDUP_FLAG_CONFIDENCE,
                      confidence=(older.confidence, older.confidence), valid_to=newer.valid_from)  # fmt: skip
    return Plan("distinct", "applied", note.id, other.id, judged.reasoning)


def _merge(
    verdict: Verdict,
    judged: Judgement,
    gone: NoteView,
    stays: NoteView,
    *,
    note_id: int,
    held: bool,
    confidence: tuple[float, float],
    valid_to: datetime | None,
) -> Plan:
    """`note_id` of the two heads the log row; the other is its `other_id`."""
    return Plan(
        verdict, "pending" if held else "applied", note_id, gone.id if note_id == stays.id else stays.id,
        judged.reasoning, gone=None if held else gone.id, stays=None if held else stays.id, confidence=confidence,
        valid_to=valid_to, valid_to_before=gone.valid_to,
    )  # fmt: skip
