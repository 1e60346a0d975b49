"""Joining the tracks."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus_memory.rules.flags import find_named_time
from argus_memory.rules.ranking import RECENCY_SHARE, fill_missing, join_legs, over_best, rank_by, recency, rrf
from argus_memory.rules.ranking_turns import (
    Asked,
    TurnScores,
    find_middles,
    neighbour_weights,
    rank_turns,
    split_runs,
)

NOW = datetime(2026, 5, 20, tzinfo=UTC)
ASKED = Asked(find_named_time("", NOW), False, frozenset())


def turn(raw_id: int, lexical: float = 0.0, dense: float = 0.0, **more: object) -> TurnScores:
    values: dict[str, object] = {
        "chars": 80, "said_at": NOW, "by_user": False, "speaker": None, "asks": False, "has_time": False,
    } | more  # fmt: skip
    return TurnScores(raw_id, lexical, dense, **values)  # type: ignore[arg-type]


def test_two_first_places_give_the_highest_rrf() -> None:
    """1/61 a track: two first places are 0.0328, one is 0.0164, none is nothing."""
    assert rrf((1, 1)) == pytest.approx(0.0328, abs=1e-4)
    assert rrf((1, None)) == pytest.approx(0.0164, abs=1e-4)
    assert rrf((None, None)) == 0


@given(st.lists(st.one_of(st.none(), st.floats(0, 1)), max_size=30))
def test_ranks_follow_scores(scores: list[float | None]) -> None:
    """Ranks are 1 to n over what has a score, and a better score never ranks lower."""
    ranks = rank_by(scores)
    ranked = [(score, rank) for score, rank in zip(scores, ranks, strict=True) if score is not None]
    assert sorted(rank for _, rank in ranked if rank) == list(range(1, len(ranked) + 1))
    for score, rank in ranked:
        for other, worse in ranked:
            assert not (score > other and rank is not None and worse is not None and rank > worse)


@given(st.lists(st.floats(-1, 50), min_size=1, max_size=30))
def test_dividing_by_the_best_gives_one_to_the_best(scores: list[float]) -> None:
    """The best is 1 unless nothing is above 0, and nothing leaves 0 to 1."""
    scaled = over_best(scores)
    assert all(0 <= value <= 1 for value in scaled)
    assert max(scaled) == (1 if max(scores) > 0 else 0)


def test_meaning_weighs_more_than_words() -> None:
    """First by meaning alone stands before first by words alone."""
    words, meaning = join_legs([10, 0], [0, 0.8])
    assert meaning > words


def test_a_row_without_vector_is_judged_by_its_words() -> None:
    """What was just captured stands where its words put it, and does not lose to the best of foreign rows."""
    assert fill_missing([8.0, 4.0, 0.0], [None, None, 0.1]) == pytest.approx([0.1, 0.05, 0.1])
    assert fill_missing([0.0], [None]) == [0.0]


def test_age_costs_little_and_never_more_than_its_share() -> None:
    """Old decisions stand: a year costs at most RECENCY_SHARE; the future counts as now."""
    assert recency(NOW, NOW) == 1
    assert recency(NOW + timedelta(days=3), NOW) == 1
    assert 1 - RECENCY_SHARE <= recency(NOW - timedelta(days=900), NOW) < recency(NOW - timedelta(days=9), NOW)


def test_the_turn_after_the_question_gains_from_it() -> None:
    """A turn beside a match stands before a turn beside nothing."""
    ranked = rank_turns([[turn(1, 5.0, 0.8), turn(2)], [turn(3), turn(4)]], ASKED, {1, 2, 3, 4})
    assert ranked[1] > ranked[2] > ranked[3] == ranked[4]


def test_long_turns_shut_their_neighbours_out() -> None:
    """The weight falls with the characters between, but the next turn keeps its least."""
    short = dict(neighbour_weights(find_middles([40, 40, 40]), 0))
    long = dict(neighbour_weights(find_middles([4000, 4000, 4000]), 0))
    assert short[0] == long[0] == 1
    assert short[2] > long[2]
    assert long[1] == 0.4


def test_boosts_prefer_the_named_speaker_the_user_and_a_told_time() -> None:
    """Each flag lifts a turn over the same turn without it; a question at the end lowers it."""
    asked = Asked(find_named_time("", NOW), True, frozenset({"kim"}))
    plain, *lifted, question = (
        rank_turns([[turn(1, 1, 0.5, **flags)]], asked, {1})[1]
        for flags in ({}, {"speaker": "Kim Lee"}, {"by_user": True}, {"has_time": True}, {"asks": True})
    )
    assert all(score > plain for score in lifted)
    assert question < plain


def test_runs_end_where_a_turn_does_not_follow() -> None:
    """Ids that follow on each other stay together; a gap or another session starts a new run."""
    assert split_runs([1, 2, 5, 6, 9], {1: 0, 2: 1, 5: 4, 6: 5, 9: 0}) == [[1, 2], [5, 6], [9]]
