"""How present a note is at a moment: it fades by half in HALF_LIFE since it last showed that it matters. Pure.

    salience = importance × 0.5 ^ (days since the last sign ÷ (HALF_LIFE × lift))
    lift     = 1 + LIFT × log2(1 + uses)                     uses: answers that used the note

The last sign is the latest of: said, reconfirmed by a person, used by an answer. Being shown is none. A pinned note
does not fade. Computed whenever it is asked for and never written back, so that no pass can wear a note away.
"""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from typing import Final, Literal

HALF_LIFE: Final = timedelta(days=90)
LIFT: Final = 0.5  # of the half-life, for each doubling of the uses
FADING: Final = 0.35  # of its importance left: 136 days without a sign
STALE: Final = 0.10  # 299 days

Standing = Literal["present", "fading", "stale"]


def retention(*, last_sign: datetime, now: datetime, uses: int = 0, pinned: bool = False) -> float:
    """What is left of a note's importance, 0 to 1; 1 for a pinned one and for a sign that lies ahead."""
    age = max(timedelta(0), now - last_sign)
    if pinned:
        return 1.0
    return math.exp2(-(age / (HALF_LIFE * (1 + LIFT * math.log2(1 + max(0, uses))))))


def salience(
    importance: float, *, last_sign: datetime, now: datetime, uses: int = 0, pinned: bool = False
) -> float:
    """0 to 1."""
    return importance * retention(last_sign=last_sign, now=now, uses=uses, pinned=pinned)


def standing(left: float) -> Standing:
    """What a retention means: `fading` and `stale` notes are asked about, "still wanted?"."""
    if left < STALE:
        return "stale"
    return "fading" if left < FADING else "present"
