"""BM25 inside Postgres without an extension: what is computed here, and what is written into the query.

The score of a row is the sum over the query's terms of

    idf × tf × (K1 + 1) / (tf + K1 × (1 - B + B × length / average length))

Postgres has no function that counts a term in a tsvector except `unnest`, which unpacks the whole vector. But
`ts_rank` of one term depends on its count alone: 0.1 / 1.64493 × (1 + 1/4 + 1/9 + … + 1/tf²). It is turned back into
the count with `width_bucket`: two binary searches a term and row instead of an unpacked vector.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

K1 = 0.6  # low: in short text the second occurrence says little
B = 0.75
MAX_TERMS = 24  # of a long prompt the rarest so many count
# Rows the index may bring for the rarest terms. 500 loses nothing on LoCoMo; the figure for 100,000 notes is printed
# by benchmarks/recall_latency.py.
ROW_BUDGET = 2000
MAX_COUNT = 12  # occurrences told apart; at K1 = 0.6 the thirteenth adds 0.2 %


@dataclass(frozen=True, slots=True)
class Term:
    """A lexeme of the query; `documents` 0 when it is rarer than the kept statistics."""

    lexeme: str
    documents: int
    idf: float


@dataclass(frozen=True, slots=True)
class Corpus:
    """The query's terms, rarest first, in a corpus of `documents` rows of `average_length` distinct lexemes (0:
    unknown, then length does not count)."""

    terms: tuple[Term, ...]
    documents: int
    average_length: float


def idf(documents_with: int, documents: int) -> float:
    """Always positive: ln(1 + (N - n + 0.5) / (n + 0.5))."""
    n = min(documents_with, documents)
    return math.log(1 + (documents - n + 0.5) / (n + 0.5))


def make_terms(frequencies: Mapping[str, int], documents: int) -> tuple[Term, ...]:
    """At most MAX_TERMS terms, rarest first, ties by the lexeme."""
    terms = [Term(lexeme, n, idf(max(n, 1), documents)) for lexeme, n in frequencies.items()]
    return tuple(sorted(terms, key=lambda term: (term.documents, term.lexeme))[:MAX_TERMS])


def pick_rarest(terms: Sequence[Term], *, share: float = 1.0, budget: int = ROW_BUDGET) -> tuple[Term, ...]:
    """The rarest terms whose rows fit the budget together, at least one.

    `share` is the part of the corpus that is searched (one project among many), by which each term's rows shrink.
    """
    picked: list[Term] = []
    rows = 0.0
    for term in terms:
        rows += max(term.documents, 1) * share
        if picked and rows > budget:
            break
        picked.append(term)
    return tuple(picked)


def tsquery(terms: Sequence[Term]) -> str:
    """An OR of quoted lexemes, as the text form of a tsquery; no terms give the empty query."""
    quoted = (term.lexeme.replace("\\", "\\\\").replace("'", "''") for term in terms)
    return " | ".join(f"'{lexeme}'" for lexeme in quoted)


def count_bounds() -> list[float]:
    """Lower bounds of ts_rank for counts 1, 2, … MAX_COUNT, halfway between neighbours."""
    sums = [0.0]
    for count in range(1, MAX_COUNT + 1):
        sums.append(sums[-1] + 1 / count**2)
    return [0.1 / 1.64493406685 * (low + high) / 2 for low, high in pairwise(sums)]


def score(counts: Mapping[str, int], length: int, corpus: Corpus) -> float:
    """BM25 of one row by the counts of its terms: the reference that the query is tested against."""
    norm = 1 - B + B * (length / corpus.average_length if corpus.average_length else 1.0)
    total = 0.0
    for term in corpus.terms:
        count = min(counts.get(term.lexeme, 0), MAX_COUNT)
        total += term.idf * count * (K1 + 1) / (count + K1 * norm) if count else 0.0
    return total
