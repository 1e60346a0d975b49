"""Is a share or a mix of the last day unlike its own past? Pure: counts in, judgement out.

A fixed threshold fits nobody: one distiller has a third of its candidates refused, another none. So the last day is
held against the two weeks before it, and only where both are large enough to tell chance from change.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

# Below these counts a share is chance: of 50, one in seven is one to three in fifteen.
LEAST_RECENT = 50
LEAST_BEFORE = 200
# Both must be passed: the first keeps a large store from alarming on what nobody would notice, the second a small
# one from alarming on chance (one day in 370).
LEAST_CHANGE = 0.10
DEVIATIONS = 3.0
# Of two mixes, half the sum of the differences of their shares: 0 alike, 1 nothing in common.
LEAST_MIX_CHANGE = 0.25
MIX_MARGIN = 0.10  # above the most unlike day of the past

Direction = Literal["up", "both"]


@dataclass(frozen=True, slots=True)
class Judgement:
    """changed None: too few to judge by. `now` and `before` are shares."""

    changed: bool | None
    detail: str
    now: float | None = None
    before: float | None = None


def judge_share(hits: int, of: int, hits_before: int, of_before: int, *, direction: Direction = "both") -> Judgement:
    """`hits` of `of` in the last day beside those of the days before."""
    if of < LEAST_RECENT or of_before < LEAST_BEFORE:
        return Judgement(None, too_few(of, of_before))
    now, before = hits / of, hits_before / of_before
    # The spread of a difference of two shares; half a hit keeps a past without any from having no spread at all.
    pooled = (hits + hits_before + 0.5) / (of + of_before + 1)
    spread = math.sqrt(pooled * (1 - pooled) * (1 / of + 1 / of_before))
    change = now - before if direction == "up" else abs(now - before)
    detail = f"{now:.1%} of {of} in the last day, {before:.1%} of {of_before} in the two weeks before"
    return Judgement(change > LEAST_CHANGE and change > DEVIATIONS * spread, detail, now, before)


def too_few(recent: int, before: int) -> str:
    return f"{recent} in the last day, {before} before it: {LEAST_RECENT} and {LEAST_BEFORE} are needed to judge by"


def judge_mix(distance: float, past: float) -> bool:
    """Distances are half the sum of the differences of shares: 0 alike, 1 nothing in common.

    distance: of the last day from all days before it; past: of the most unlike of those days from the others.
    """
    return distance > max(LEAST_MIX_CHANGE, past + MIX_MARGIN)
