"""How search tracks are joined into one order. Pure; scores in, scores out.

    best    L / best L + 1.3 × D / best D, then the boosts: what measured best (docs/decisions/0002, facts in
            benchmarks/retrieval.py). Dividing by the best of the candidates needs no mean or deviation, so the order
            hardly depends on how many candidates there are.
    rrf     plain reciprocal rank fusion, k = 60. Always computed beside: ARGUS_RECALL_FLOOR stands on its scale.

L is BM25, D the cosine. On LoCoMo plain RRF finds less of the evidence in the first ten than BM25 alone (.61 against
.62); the sum above finds .82 with the neighbours of ranking_turns.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import datetime

from argus_memory.settings import RRF_K

DENSE_WEIGHT = 1.3
DATE_BOOST = 0.75  # without it .022 of recall@10 is lost on LoCoMo, nothing elsewhere

# A thing said as such, a page that was read, something that happened, a summary of others.
KIND_PRIORS = {"turn": 1.0, "document": 0.9, "event": 0.9, "synthesis": 1.0}
RECENCY_HALF_LIFE_DAYS = 90.0
RECENCY_SHARE = 0.15  # at most so much is lost by age: an old decision still stands


def rrf(ranks: Iterable[int | None], k: int = RRF_K) -> float:
    """Sum of 1 / (k + rank) over the tracks that found it; ranks count from 1."""
    return sum(1 / (k + rank) for rank in ranks if rank is not None)


def rank_by(scores: Sequence[float | None]) -> list[int | None]:
    """Ranks from 1, best first; None stays None, ties keep their order."""
    order = sorted((i for i, s in enumerate(scores) if s is not None), key=lambda i: -(scores[i] or 0.0))
    ranks: list[int | None] = [None] * len(scores)
    for rank, index in enumerate(order, 1):
        ranks[index] = rank
    return ranks


def over_best(scores: Sequence[float]) -> list[float]:
    """Each divided by the best; all 0 when the best is not above 0. What is below 0 counts as 0."""
    best = max(scores, default=0.0)
    if best <= 0:
        return [0.0] * len(scores)
    return [max(score, 0.0) / best for score in scores]


def fill_missing(lexical: Sequence[float], dense: Sequence[float | None]) -> list[float]:
    """Cosines, where a row without vector gets the share of the best cosine that its words have of the best words.

    What was just captured is not embedded yet. With 0 in its place it would lose to any row of the store, since the
    best cosine of foreign rows counts as much as that of an answer.
    """
    best_words = max(lexical, default=0.0)
    best = max((cosine for cosine in dense if cosine is not None), default=0.0)
    share = best / best_words if best_words > 0 else 0.0
    return [share * words if cosine is None else cosine for words, cosine in zip(lexical, dense, strict=True)]


def join_legs(lexical: Sequence[float], dense: Sequence[float]) -> list[float]:
    """L / best L + DENSE_WEIGHT × D / best D."""
    return [
        left + DENSE_WEIGHT * right for left, right in zip(over_best(lexical), over_best(dense), strict=True)
    ]


def recency(said_at: datetime, now: datetime) -> float:
    """1 for now, falling towards 1 - RECENCY_SHARE; the future counts as now."""
    days = max((now - said_at).total_seconds() / 86400, 0.0)
    return 1 - RECENCY_SHARE * (1 - math.pow(0.5, days / RECENCY_HALF_LIFE_DAYS))
