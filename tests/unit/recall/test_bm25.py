"""BM25: terms, budget, and the text form of a query."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus_memory.rules.bm25 import (
    MAX_COUNT,
    MAX_TERMS,
    Corpus,
    count_bounds,
    idf,
    make_terms,
    pick_rarest,
    score,
    tsquery,
)

frequencies = st.dictionaries(st.text(min_size=1, max_size=8), st.integers(0, 5000), max_size=60)


@given(frequencies)
def test_terms_come_rarest_first_and_are_bounded(known: dict[str, int]) -> None:
    """The rarest terms are kept, at most MAX_TERMS, and a rarer one never weighs less."""
    terms = make_terms(known, 5000)
    assert len(terms) == min(len(known), MAX_TERMS)
    assert [term.documents for term in terms] == sorted(known.values())[: len(terms)]
    weights = [term.idf for term in terms]
    assert weights == sorted(weights, reverse=True)


@given(frequencies, st.integers(1, 3000))
def test_the_rarest_fit_the_budget_or_stand_alone(known: dict[str, int], budget: int) -> None:
    """What is picked brings no more rows than the budget, except a single term that is too frequent by itself."""
    terms = make_terms(known, 5000)
    picked = pick_rarest(terms, budget=budget)
    assert picked == terms[: len(picked)]
    assert bool(picked) == bool(terms)
    assert len(picked) <= 1 or sum(max(term.documents, 1) for term in picked) <= budget


def test_a_small_project_allows_more_frequent_terms() -> None:
    """Within a tenth of the store a term brings a tenth of its rows, so more terms fit."""
    terms = make_terms({"a": 900, "b": 1000, "c": 1500}, 10_000)
    assert len(pick_rarest(terms, budget=2000)) == 2
    assert len(pick_rarest(terms, share=0.1, budget=2000)) == 3


def test_idf_falls_with_frequency_and_stays_positive() -> None:
    """A term in every document still weighs a little; one in none of the counted ones weighs most."""
    assert idf(1, 1000) > idf(10, 1000) > idf(1000, 1000) > 0
    assert idf(2000, 1000) == idf(1000, 1000)


def test_quotes_and_backslashes_are_escaped() -> None:
    """A lexeme is data: its quote or backslash does not end the quoted word."""
    terms = make_terms({"o'neil": 1, "c:\\temp": 2}, 10)
    assert tsquery(terms) == r"'o''neil' | 'c:\\temp'"


def test_score_rewards_rare_terms_repetition_and_short_rows() -> None:
    """The reference formula orders as BM25 should."""
    corpus = Corpus(make_terms({"rare": 2, "common": 800}, 1000), 1000, 10.0)
    assert score({"rare": 1}, 10, corpus) > score({"common": 1}, 10, corpus)
    assert score({"rare": 2}, 10, corpus) > score({"rare": 1}, 10, corpus)
    assert score({"rare": 1}, 5, corpus) > score({"rare": 1}, 50, corpus)
    assert score({}, 10, corpus) == 0


def test_bounds_tell_counts_apart() -> None:
    """There is one bound for each count, rising."""
    bounds = count_bounds()
    assert len(bounds) == MAX_COUNT
    assert bounds == sorted(bounds)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_unknown_average_length_means_length_does_not_count(count: int) -> None:
    """Before the first count of the store a long row is not punished."""
    corpus = Corpus(make_terms({"word": 3}, 100), 100, 0.0)
    assert score({"word": count}, 5, corpus) == score({"word": count}, 500, corpus)
