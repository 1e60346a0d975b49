"""Which candidates a prompt gets."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from argus_memory.rules.recall_choice import (
    BEYOND,
    COVERED,
    EVIDENCE,
    MAX_DROPPED,
    RELEVANCE,
    SEEN,
    Floors,
    Option,
    choose,
    weigh,
)

NOW = datetime(2026, 5, 20, tzinfo=UTC)
FLOORS = Floors(0.015, 0.5, 0.55)


def option(id_: int, **more: object) -> Option:
    plain = Option("note", id_, id_, 2.0, 0.03, 0.03, 0.5, 0.7, "garden", NOW, "turn")
    return replace(plain, **more)  # type: ignore[arg-type]


def chosen(options: list[Option], **more: object) -> list[int]:
    values: dict[str, object] = {"project": "garden", "now": NOW, "limit": 5} | more
    return [each.option.id for each in choose(options, FLOORS, **values).chosen]  # type: ignore[arg-type]


def reasons(options: list[Option], **more: object) -> dict[int, str]:
    values: dict[str, object] = {"project": "garden", "now": NOW, "limit": 5} | more
    return {each.id: each.reason for each in choose(options, FLOORS, **values).dropped}  # type: ignore[arg-type]


def test_the_best_few_are_chosen_and_the_rest_said_to_be_beyond() -> None:
    """At most `limit` come through; the others are named with the reason."""
    options = [option(n, score=10.0 - n) for n in range(8)]
    assert chosen(options) == [0, 1, 2, 3, 4]
    assert reasons(options) == {5: BEYOND, 6: BEYOND, 7: BEYOND}


def test_the_relevance_floor_drops_what_stands_low_in_every_track() -> None:
    """Support below the floor on the RRF scale is dropped, and only that."""
    assert reasons([option(1), option(2, support=0.0149)]) == {2: RELEVANCE}


def test_nothing_is_chosen_when_nothing_has_to_do_with_the_prompt() -> None:
    """The best of nothing stands at the top of a track too; the evidence floor keeps it out."""
    options = [option(n, cosine=0.2, coverage=0.1) for n in range(3)]
    choice = choose(options, FLOORS, project="garden", now=NOW, limit=5)
    assert choice.chosen == ()
    assert not choice.on_record
    assert {each.reason for each in choice.dropped} == {EVIDENCE}


def test_a_strong_candidate_carries_a_slightly_weaker_one() -> None:
    """Once one passes the evidence floor, another may lie a little below it, but not far."""
    options = [option(1), option(2, cosine=0.3, coverage=0.35), option(3, cosine=0.1, coverage=0.1)]
    assert chosen(options) == [1, 2]
    assert reasons(options) == {3: EVIDENCE}


def test_words_alone_are_evidence_where_there_is_no_vector() -> None:
    """Without a cosine the part of the prompt's words decides."""
    assert chosen([option(1, cosine=None, coverage=0.45)]) == [1]
    assert chosen([option(1, cosine=None, coverage=0.2)]) == []


def test_what_the_session_was_given_is_not_given_again() -> None:
    """A seen note is dropped with its reason, and it still counts as being on record."""
    choice = choose([option(7)], FLOORS, project="garden", now=NOW, limit=5, seen_notes={7})
    assert choice.chosen == ()
    assert choice.dropped[0].reason == SEEN
    assert choice.on_record


def test_a_turn_that_a_chosen_note_was_made_of_is_covered() -> None:
    """The same words are not injected twice."""
    turn = option(30, type="turn", raw_id=1, score=1.0)
    assert reasons([option(1), turn]) == {30: COVERED}


def test_the_own_project_is_preferred_and_no_filter() -> None:
    """Equal candidates: the own project's first, the other's still there."""
    assert chosen([option(1, project="other"), option(2)]) == [2, 1]


def test_newer_stands_before_older_when_all_else_is_equal() -> None:
    """Recency breaks what would be a tie."""
    assert chosen([option(1, said_at=NOW - timedelta(days=200)), option(2)]) == [2, 1]


@given(st.lists(st.tuples(st.floats(0, 3), st.floats(0, 1), st.floats(0, 0.033)), max_size=50), st.integers(0, 6))
def test_every_candidate_is_chosen_or_named_up_to_the_bound(rows: list[tuple[float, ...]], limit: int) -> None:
    """None is both, none is lost below the bound, and scores fall."""
    options = [option(n, score=s, cosine=c, support=r) for n, (s, c, r) in enumerate(rows)]
    choice = choose(options, FLOORS, project=None, now=NOW, limit=limit)
    taken = {each.option.id for each in choice.chosen}
    named = {each.id for each in choice.dropped}
    assert not taken & named
    assert len(taken) <= limit
    assert len(named) == min(len(options) - len(taken), MAX_DROPPED)
    scores = [each.score for each in choice.chosen]
    assert scores == sorted(scores, reverse=True)


def test_plain_rrf_scores_are_not_scaled() -> None:
    """With the plain fusion, priors multiply the plain score itself."""
    ranked = weigh([option(1, score=0.03)], project=None, now=NOW, fusion="rrf")
    assert ranked[0][1] == 0.03
