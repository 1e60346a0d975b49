"""Whether an answer used a note that it was given: by what the note says that the prompt did not. Pure.

Words of the note that the prompt holds already prove nothing, for an answer repeats its question. Of the others,
numbers weigh NUMBER, names NAME and every other word 1; the score is the weight found in the answer over the whole. A
note that says nothing beyond the prompt cannot be told to have been used: its score is 0.
"""

from __future__ import annotations

import re
from typing import Final

from argus_memory.rules.rewording import read_long

NUMBER: Final = 3.0  # the ids, ports, versions and amounts that nobody guesses
NAME: Final = 2.0
# Set on the first half of tests/unit/impact/pairs.py; the other half is only counted there.
USED: Final = 0.25
ANSWER_CHARS: Final = 20_000  # of an answer that are read
_LABEL: Final = re.compile(r"^\w+: ")
_PATH: Final = re.compile(r"[/`\"'()\[\]{}<>=,;:]+|(?<=\w)\.(?=\w)")


def use_score(note: str, prompt: str, answer: str) -> float:
    """How much of what only the note said stands in the answer, 0 to 1."""
    said, asked, told = (_read(text) for text in (_LABEL.sub("", note), prompt, answer[:ANSWER_CHARS]))
    own = {word: weight for word, weight in said.items() if word not in asked}
    whole = sum(own.values())
    return sum(weight for word, weight in own.items() if word in told) / whole if whole else 0.0


def was_used(score: float) -> bool:
    return score >= USED


def _read(text: str) -> dict[str, float]:
    """Words, names and numbers with their weights."""
    found: dict[str, float] = {}
    for part in (text, _PATH.sub(" ", text)):
        statement = read_long(part)
        found |= {word: NAME if word in statement.names else 1.0 for word in statement.meaning}
        found |= dict.fromkeys(statement.numbers, NUMBER)
    return found
