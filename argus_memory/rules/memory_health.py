"""The score of a memory's health, from its parts. Pure.

    goodness of a part = 1 - min(1, share ÷ bad)        share: of the notes (or pairs, or notes shown) it is about
    score = 100 × Σ weight × goodness ÷ Σ weight        over the parts that are known

`bad` is the share from which a part counts as wholly bad. A part that nobody could measure is unknown: it is shown as
that and does not count, neither for nor against.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class PartRule:
    """What a part means, its weight and its bad share; `act`: what a person can do."""

    name: str
    meaning: str
    weight: float
    bad: float
    act: str


RULES: Final[tuple[PartRule, ...]] = (
    PartRule("near-duplicates", "pairs of live notes that nearly say the same", 2, 0.20,
             "argus review list, argus note forget ID"),
    PartRule("contradictions", "pairs of live notes that dispute each other", 3, 0.05, "argus note correct ID TEXT"),
    PartRule("ungrounded", "notes whose quotation its redacted source no longer holds", 3, 0.01,
             "argus note show ID, argus note forget ID"),
    PartRule("unembedded", "notes without a vector: found by their words alone", 2, 0.10, "argus process"),
    PartRule("stale", "notes without any sign for some ten months: still wanted?", 1, 0.50, "argus memory stale"),
    PartRule("fading", "notes without any sign for some five months: still wanted?", 1, 0.50, "argus memory fading"),
    PartRule("low-confidence", "notes that are hardly vouched for", 1, 0.30, "argus note show ID"),
    PartRule("orphans", "notes with nothing near them that no recall ever showed", 1, 0.60, "argus note show ID"),
    PartRule("unused", "notes shown in the last 30 days that the answer did not use", 2, 1.0, "argus memory uses"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Part:
    """`count` of `total`; None: unknown, and `detail` says why. `examples`: the first of what was counted."""

    rule: PartRule
    count: int | None
    total: int
    detail: str = ""
    examples: tuple[dict[str, Any], ...] = ()

    @property
    def share(self) -> float | None:
        if self.count is None:
            return None
        return min(1.0, self.count / self.total) if self.total else 0.0

    @property
    def goodness(self) -> float | None:
        share = self.share
        return None if share is None else 1 - min(1.0, share / self.rule.bad)


def score(parts: Iterable[Part]) -> float | None:
    """0 to 100, None where no part is known."""
    known = [(part.rule.weight, part.goodness) for part in parts if part.goodness is not None]
    weights = sum(weight for weight, _ in known)
    return round(100 * sum(weight * (good or 0.0) for weight, good in known) / weights, 1) if weights else None
