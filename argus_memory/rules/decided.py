"""What decisions mean for a note: what is in force for a fact, and what an agent may decide alone. Pure.

A decision binds the fact it was made on (its uid), the same text under any category and project, and in the same
project the fact in other words (rewording.py). Where a person let exactly this fact back in, nothing that is only
close to it keeps it out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from argus_memory.rules.rewording import repeats
from argus_memory.settings import DEDUP_FLAG_CONFIDENCE

ActorKind = Literal["person", "agent"]
# What an agent may do by itself, to a note that nobody vouches for.
AGENT_VERBS: Final = ("forget", "exclude", "correct")
KEEPS_OUT: Final = ("forget", "reject", "correct", "redact")
LETS_IN: Final = ("restore", "approve")
PAST: Final[Mapping[str, str]] = {
    "forget": "forgotten", "reject": "rejected", "correct": "corrected", "redact": "redacted", "exclude": "excluded",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Asked:
    """A fact that is about to become a note, or is one."""

    uid: str
    text_key: str
    content: str
    project: str | None


@dataclass(frozen=True, slots=True)
class InForce:
    """A decision in force, as far as it is asked for; `exact`: on this uid or text, not only near it."""

    id: int
    decision: str
    uid: str
    content: str
    note_id: int | None
    new_text: str | None
    exact: bool

    @property
    def sentence(self) -> str:
        return f"the same fact was {PAST[self.decision]} (decision {self.id})"


@dataclass(frozen=True, slots=True)
class Fate:
    """What decisions make of a fact: `out` keeps it from being a note, `excluded` from being recalled."""

    out: InForce | None = None
    excluded: InForce | None = None
    pinned: bool = False


FREE: Final = Fate()


def judge_fate(fact: Asked, decisions: Sequence[InForce]) -> Fate:
    """What `decisions` (of the fact's uid and text, and near ones) make of it."""
    exact = sorted((each for each in decisions if each.exact), key=lambda each: each.id)
    near = [each for each in decisions if not each.exact]
    pins = [each.decision for each in exact if each.uid == fact.uid and each.decision in ("pin", "unpin")]
    return Fate(
        out=_find(fact, exact, near, KEEPS_OUT, LETS_IN),
        excluded=_find(fact, exact, near, ("exclude",), ("include",)),
        pinned=pins[-1:] == ["pin"],
    )


def _find(
    fact: Asked, exact: Sequence[InForce], near: Sequence[InForce], against: Sequence[str], favour: Sequence[str]
) -> InForce | None:
    """The decision `against` the fact: the last on exactly this fact, else one on the fact in other words.

    What let the same text in under another project or category holds against what was said before it, not after.
    """
    told = [each for each in exact if each.decision in (*against, *favour)]
    if told and (told[-1].decision in against or told[-1].uid == fact.uid):
        return told[-1] if told[-1].decision in against else None
    since = told[-1].id if told else 0
    later = (each for each in near if each.decision in against and each.id > since)
    return next((each for each in later if binds(each, fact.content)), None)


def binds(decision: InForce, content: str) -> bool:
    """Whether a text says again what was taken away, and not what was put in its place."""
    if decision.new_text is not None and repeats(decision.new_text, content):
        return False
    return repeats(decision.content, content)


def may_decide_alone(note: Mapping[str, Any], decision: str) -> bool:
    """Whether an agent's decision takes effect without a person: `note` is not pinned, not confident, and was not
    said by a person."""
    return (
        decision in AGENT_VERBS
        and note["pinned_at"] is None
        and note["confidence"] < DEDUP_FLAG_CONFIDENCE
        and note["role"] != "user"
    )
