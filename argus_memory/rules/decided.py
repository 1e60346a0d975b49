"""What decisions mean for a note. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from argus_memory.settings import DEDUP_FLAG_CONFIDENCE

ActorKind = Literal["person", "agent"]
# What an agent may do by itself, to a note that nobody vouches for.
AGENT_VERBS: Final = ("forget", "exclude", "correct")


def may_decide_alone(note: Mapping[str, Any], decision: str) -> bool:
    """Whether an agent's decision takes effect without a person: `note` is not pinned, not confident, and was not
    said by a person."""
    return (
        decision in AGENT_VERBS
        and note["pinned_at"] is None
        and note["confidence"] < DEDUP_FLAG_CONFIDENCE
        and note["role"] != "user"
    )
