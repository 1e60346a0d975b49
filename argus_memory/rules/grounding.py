"""Where in what was said a note's `source_ref` stands."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from argus_memory.records import EpisodeTurn

MIN_LETTERS: Final = 4  # a shorter quotation stands in any text; a whole turn may be shorter


@dataclass(frozen=True, slots=True)
class Span:
    """A place in one turn: `turn.text[start:end]` is the quotation up to white space."""

    turn: EpisodeTurn
    start: int
    end: int


def find_in_text(quotation: str, text: str) -> tuple[int, int] | None:
    """(start, end) of the first place where the quotation stands, white space counted as equal; else None."""
    words = quotation.split()
    if not words:
        return None
    if sum(c.isalnum() for c in quotation) < MIN_LETTERS and text.split() != words:
        return None
    match = re.search(r"\s+".join(map(re.escape, words)), text)
    return match.span() if match else None


def find_span(
    quotation: str,
    turns: Iterable[EpisodeTurn],
    *,
    role: str | None = None,
    raw_id: int | None = None,
    at: int | None = None,
) -> Span | None:
    """The quotation's place within a single turn, None where it is in no turn whole.

    Of several places the one in the turn `raw_id` comes first (at the character `at`, where it stands there),
    then one said by `role`, then the earliest.
    """
    for turn in sorted(turns, key=lambda t: (t.raw_id != raw_id, role is not None and t.role != role)):
        if at is not None and turn.raw_id == raw_id and turn.text.startswith(quotation, at):
            return Span(turn, at, at + len(quotation))
        if place := find_in_text(quotation, turn.text):
            return Span(turn, *place)
    return None
