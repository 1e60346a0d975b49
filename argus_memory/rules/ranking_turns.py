"""Ranking of verbatim turns: each leg is averaged over a turn's neighbours before the legs are joined.

An answer is often in the turn after the words of the question, so a turn is judged with what stands around it. The
weight falls with the characters between two turns, not with their number: one width serves short chat and long
technical messages. Figures: share of LoCoMo's evidence in the first ten that is lost without (conversations 1-5).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from argus_memory.rules.flags import NamedTime
from argus_memory.rules.ranking import DATE_BOOST, fill_missing, join_legs

# Without neighbours .071 is lost, and .041 of long technical chats.
REACH = 4  # turns to each side
WIDTH = 400.0  # characters over which the weight falls to 1/e
EARLIER, LATER = 0.6, 0.4
LEAST_NEXT, LEAST_PREVIOUS = 0.4, 0.1  # however long they are

USER_BOOST = 0.40  # the person's own words, where an assistant talks at length; without it .095 of long chats is lost
SPEAKER_BOOST = 0.30  # the question names who spoke; more hurts questions that name the wrong person; .025
WHEN_BOOST = 0.30  # asked when, a turn that holds a time word; .006
ASKS_MALUS = 0.10  # a turn that ends in a question seldom answers one; .003


@dataclass(frozen=True, slots=True)
class TurnScores:
    """A turn in the window around the candidates. `lexical` is BM25, `dense` a cosine (None: no vector)."""

    raw_id: int
    lexical: float
    dense: float | None
    chars: int
    said_at: datetime
    by_user: bool  # the person's own message in a session with an assistant, no speaker named
    speaker: str | None
    asks: bool
    has_time: bool


@dataclass(frozen=True, slots=True)
class Asked:
    """What the question says besides its words; `speakers` in small letters."""

    time: NamedTime
    wants_time: bool
    speakers: frozenset[str]


def rank_turns(runs: Sequence[Sequence[TurnScores]], asked: Asked, near: Collection[int]) -> dict[int, float]:
    """Joined score of the turns `near`, by raw id, each averaged with the turns around it in its run.

    `runs` are stretches of turns that follow on each other in one session; what is not near only lends its scores.
    """
    every = [turn for run in runs for turn in run]
    filled = iter(fill_missing([turn.lexical for turn in every], [turn.dense for turn in every]))
    judged: list[TurnScores] = []
    lexical: list[float] = []
    dense: list[float] = []
    for run in runs:
        words = [turn.lexical for turn in run]
        cosines = list(islice(filled, len(run)))
        middles = find_middles([turn.chars for turn in run])
        for place, turn in enumerate(run):
            if turn.raw_id in near:
                weights = neighbour_weights(middles, place)
                whole = sum(weight for _, weight in weights)
                judged.append(turn)
                lexical.append(sum(weight * words[other] for other, weight in weights) / whole)
                dense.append(sum(weight * cosines[other] for other, weight in weights) / whole)
    joined = join_legs(lexical, dense)
    return {turn.raw_id: score + boosts(turn, asked) for turn, score in zip(judged, joined, strict=True)}


def find_middles(chars: Sequence[int]) -> list[float]:
    """Where the middle of each turn of a run lies, in characters from the run's start."""
    middles: list[float] = []
    start = 0
    for length in chars:
        middles.append(start + length / 2)
        start += length
    return middles


def neighbour_weights(middles: Sequence[float], place: int) -> list[tuple[int, float]]:
    """The turns around the one at `place` with their weights, by their place in the run; its own is 1."""
    weights = []
    for other in range(max(0, place - REACH), min(len(middles), place + REACH + 1)):
        weight = 1.0
        if other != place:
            side = EARLIER if other < place else LATER
            weight = side * math.exp(-abs(middles[other] - middles[place]) / WIDTH)
        if other == place + 1:
            weight = max(weight, LEAST_NEXT)
        elif other == place - 1:
            weight = max(weight, LEAST_PREVIOUS)
        weights.append((other, weight))
    return weights


def boosts(turn: TurnScores, asked: Asked) -> float:
    """What speaks for a turn besides its words and meaning."""
    score = USER_BOOST * turn.by_user + DATE_BOOST * asked.time.match(turn.said_at) - ASKS_MALUS * turn.asks
    if turn.speaker is not None and turn.speaker.lower().split(" ")[0] in asked.speakers:
        score += SPEAKER_BOOST
    if asked.wants_time and turn.has_time:
        score += WHEN_BOOST
    return score


def split_runs(order: Sequence[int], follows: Mapping[int, int]) -> list[list[int]]:
    """Stretches of ids in `order` where each follows directly on the one before (`follows`: id → the one before)."""
    runs: list[list[int]] = []
    for raw_id in order:
        if runs and follows.get(raw_id) == runs[-1][-1]:
            runs[-1].append(raw_id)
        else:
            runs.append([raw_id])
    return runs
