"""A cue and the pattern that shows it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

Speaker = Literal["user", "assistant", "document"]

ALL: Final = frozenset({"user", "assistant", "document"})
USER: Final = frozenset({"user"})
PEOPLE: Final = frozenset({"user", "document"})
ASSISTANT: Final = frozenset({"assistant", "document"})


@dataclass(frozen=True, slots=True)
class Cue:
    """Why a sentence is kept. `category` is a note's, `importance` 0..1, `name` stands in tags and tests."""

    name: str
    category: str
    importance: float


@dataclass(frozen=True, slots=True)
class Rule:
    """A cue with the speakers it is looked for in."""

    cue: Cue
    pattern: re.Pattern[str]
    speakers: frozenset[str]


def rule(name: str, category: str, importance: float, speakers: frozenset[str], pattern: str) -> Rule:
    """A rule from a verbose, case-blind pattern."""
    compiled = re.compile(pattern, re.IGNORECASE | re.VERBOSE)
    return Rule(Cue(name, category, importance), compiled, speakers)
