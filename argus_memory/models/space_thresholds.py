"""Every threshold on a cosine, by embedding space: a number that is right for one model is wrong for the next.

    topic_shift      a boundary where a prompt's cosine with the turns before it is below this
    dedup_floor      neighbours from here on are shown to the judge
    dedup_same       from here on two notes say nearly the same (number-safe rules may merge them)
    related          cosine distance up to which a note is listed as related
    cluster          cosine distance up to which two notes share a hub page
    evidence_note    cosine from which a note is evidence for a prompt by itself
    evidence_turn    the same for a turn
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

NAMES = ("topic_shift", "dedup_floor", "dedup_same", "related", "cluster", "evidence_note", "evidence_turn")


@dataclass(frozen=True, slots=True)
class SpaceDefaults:
    """`thresholds` by name, and `calibration`: how each was found, with its figure."""

    thresholds: Mapping[str, float]
    calibration: Mapping[str, Any]


def defaults_for(model: str, dim: int) -> SpaceDefaults:
    return SpaceDefaults({}, {})
