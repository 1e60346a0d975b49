"""Which turns are one prompt or one answer. Pure.

A model's answer is often several turns: pieces with one message id, with prompts typed meanwhile between them, or for
Codex a row of assistant turns without any id. Such an answer counts once, and nothing cuts through it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

# Prompts that may stand between the pieces of one answer; more, and a repeated id is taken for another answer, so
# that an answer can never outgrow the size cap.
PROMPTS_INSIDE = 5


@dataclass(frozen=True, slots=True)
class SpanTurn:
    """A turn as the boundary rule sees it; `terms` counts its meaningful words, `vector` is None when missing."""

    raw_id: int
    role: str
    said_at: datetime
    message_id: str | None = None
    terms: int = 0
    vector: NDArray[np.float32] | None = None


class Blocks:
    """The prompts and answers of turns in the order said."""

    def __init__(self, turns: Sequence[SpanTurn], join_answers: bool) -> None:
        self._numbers: list[int] = []
        self._inside = [False] * len(turns)
        last = -1
        open_id: str | None = None  # the answer that may go on
        open_number, open_end, prompts = -1, -1, 0
        for index, turn in enumerate(turns):
            if turn.role == "assistant" and turn.message_id is not None and turn.message_id == open_id:
                number = open_number
                self._inside[open_end + 1 : index + 1] = [True] * (index - open_end)
                open_end = index
            elif join_answers and _goes_on(turns, index):
                number = self._numbers[-1]
                self._inside[index] = True
            else:
                last += 1
                number = last
                if turn.role == "assistant":
                    open_id, open_number, open_end, prompts = turn.message_id, number, index, 0
                else:
                    prompts += 1
                    open_id = open_id if prompts <= PROMPTS_INSIDE else None
            self._numbers.append(number)

    def inside(self, index: int) -> bool:
        """Whether a cut before this turn would go through an answer."""
        return self._inside[index]

    def count(self, start: int, end: int) -> int:
        """Prompts and answers among the turns from `start` up to, not including, `end`."""
        return len(set(self._numbers[start:end]))


def _goes_on(turns: Sequence[SpanTurn], index: int) -> bool:
    turn = turns[index]
    return (
        turn.role == "assistant"
        and turn.message_id is None
        and index > 0
        and turns[index - 1].role == "assistant"
    )
