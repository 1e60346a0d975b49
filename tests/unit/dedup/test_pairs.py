"""Labelled pairs of notes through both tests that stand before a merge: closeness, and the same fact."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from argus_memory.models.embedders import MINILM, find_named_embedder
from argus_memory.models.space_thresholds import MINILM as COSINES
from argus_memory.records import Verdict
from argus_memory.rules.dedup_judgement import Judgement, NoteView, judge_by_rules, plan, restrain
from tests.unit.dedup.later_pairs import LATER
from tests.unit.dedup.pairs import DEV, HELD_OUT, Kind, Pair

DAY = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
HALVES = [DEV, HELD_OUT, LATER]
FOUND = 0.9  # of the true repeats
# A judge that takes whatever differs in one small thing for a repeat, as models do; contradictions it knows.
CARELESS: dict[Kind, Verdict] = {
    "same": "duplicate", "reworded": "duplicate", "number": "duplicate", "name": "duplicate", "negation": "refine",
    "unit": "duplicate", "version": "refine", "contradiction": "supersede",
}  # fmt: skip


def note(note_id: int, content: str) -> NoteView:
    said = DAY + timedelta(minutes=note_id)
    return NoteView(note_id, f"u{note_id}", content, "fact", "yard", "user", 0.5, note_id, said, said, None)


@pytest.fixture(scope="module")
def cosines() -> dict[Pair, float]:
    """Of every pair, by the embedded model."""
    pairs = tuple(dict.fromkeys((*DEV, *HELD_OUT, *LATER)))
    embedder = find_named_embedder(MINILM)
    ones = np.asarray(embedder.embed([pair.one for pair in pairs]))
    others = np.asarray(embedder.embed([pair.other for pair in pairs]))
    lengths = np.linalg.norm(ones, axis=1) * np.linalg.norm(others, axis=1)
    return dict(zip(pairs, ((ones * others).sum(axis=1) / lengths).tolist(), strict=True))


def by_rules(pair: Pair, cosine: float) -> Judgement:
    other = replace(note(1, pair.one), similarity=cosine)
    return judge_by_rules(note(2, pair.other), other, COSINES["dedup_same"], COSINES["dedup_floor"])


def by_judge(pair: Pair, cosine: float) -> Judgement:
    other = replace(note(1, pair.one), similarity=cosine)
    return restrain(note(2, pair.other), other, Judgement(CARELESS[pair.kind], "scripted"))


def test_the_set_is_large_and_holds_every_kind_in_both_halves() -> None:
    """At least 60 pairs, none twice, and each half has every kind."""
    assert len({*DEV, *HELD_OUT, *LATER}) == len(DEV) + len(HELD_OUT) + len(LATER) >= 60
    for half in HALVES:
        assert {pair.kind for pair in half} == set(CARELESS)


@pytest.mark.parametrize("half", HALVES, ids=["dev", "held-out", "later"])
def test_rules_alone_merge_nothing_wrong_and_find_repeats(half: tuple[Pair, ...], cosines: dict[Pair, float]) -> None:
    """No pair of different facts is merged; nine of ten repeats are found, by the embedded model and the rules."""
    merged = {pair for pair in half if by_rules(pair, cosines[pair]).verdict != "distinct"}
    repeats = {pair for pair in half if pair.is_repeat}
    assert merged - repeats == set()
    assert len(merged) >= FOUND * len(repeats)


@pytest.mark.parametrize("half", HALVES, ids=["dev", "held-out", "later"])
def test_a_careless_judge_is_restrained(half: tuple[Pair, ...], cosines: dict[Pair, float]) -> None:
    """What a model takes for a repeat though a number, name, negation, unit or version differs stays two notes; its
    supersede of a contradiction stands, and nine of ten repeats are merged."""
    verdicts = {pair: by_judge(pair, cosines[pair]).verdict for pair in half}
    merged = {pair for pair, verdict in verdicts.items() if verdict in ("duplicate", "refine")}
    repeats = {pair for pair in half if pair.is_repeat}
    assert merged - repeats == set()
    assert len(merged) >= FOUND * len(repeats)
    assert {verdicts[pair] for pair in half if pair.kind == "contradiction"} == {"supersede"}


@pytest.mark.parametrize("verdict", ["duplicate", "refine", "supersede"])
def test_nothing_takes_a_pinned_note_away_by_itself(verdict: Verdict) -> None:
    """Of a pinned note and its repeat the repeat goes; where the pinned one would go, a person is asked."""
    older, newer = replace(note(1, "The tank is big."), pinned=True), note(2, "The tank is big.")
    made = plan(newer, older, Judgement(verdict, "why"))
    assert made.gone != older.id
    assert made.status == ("applied" if verdict == "duplicate" else "pending")
    swapped = plan(older, newer, Judgement("duplicate", "why"))
    assert (swapped.gone, swapped.stays, swapped.note_id, swapped.other_id) == (2, 1, 2, 1)
    both = plan(replace(newer, pinned=True), older, Judgement("duplicate", "why"))
    assert (both.status, both.gone) == ("pending", None)
