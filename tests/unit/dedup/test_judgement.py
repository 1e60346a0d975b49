"""What a verdict does to two notes."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from argus_memory.rules.dedup_judgement import (
    Judgement,
    NoteView,
    corroborate,
    judge_by_rules,
    plan,
    restrain,
)

DAY = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def note(note_id: int, content: str = "The tank holds 200 l.", **more: object) -> NoteView:
    said = DAY + timedelta(hours=note_id)
    base = NoteView(note_id, f"u{note_id}", content, "fact", "garden", "user", 0.5, note_id, said, said, None)
    return replace(base, **more)


def test_three_sources_make_a_note_that_is_not_overruled_alone() -> None:
    """Confidence grows by less each time and crosses 0.70 with the third corroboration."""
    steps = [0.5]
    for _ in range(3):
        steps.append(corroborate(steps[-1]))
    assert steps == pytest.approx([0.5, 0.6, 0.68, 0.744])


def test_duplicate_takes_the_repeat_away_and_corroborates_the_other() -> None:
    """The note already there stays, whichever was said first."""
    made = plan(note(2), note(1), Judgement("duplicate", "why"))
    assert (made.gone, made.stays, made.confidence) == (2, 1, (0.5, pytest.approx(0.6)))
    assert plan(note(1), note(2), Judgement("duplicate", "why")).gone == 1


def test_the_same_turn_is_no_second_source() -> None:
    """A repeat made of one raw item corroborates nothing."""
    made = plan(note(2, raw_id=1), note(1), Judgement("duplicate", "why"))
    assert made.confidence == (0.5, 0.5)


def test_refine_keeps_what_was_said_later() -> None:
    """The older goes, and the newer takes over its confidence and gains."""
    made = plan(note(2), note(1, confidence=0.9), Judgement("refine", "why"))
    assert (made.gone, made.stays, made.note_id, made.other_id) == (1, 2, 2, 1)
    assert made.confidence == (0.5, pytest.approx(0.92))


def test_an_import_of_older_words_never_overrules_newer_ones() -> None:
    """When the note that is looked at was said earlier, it is the one that goes."""
    made = plan(note(1), note(2), Judgement("supersede", "why"))
    assert (made.gone, made.stays, made.note_id, made.other_id) == (1, 2, 2, 1)


def test_supersede_ends_validity_when_the_newer_begins() -> None:
    """The older note's validity ends where the newer one's starts."""
    made = plan(note(2), note(1), Judgement("supersede", "why"))
    assert (made.status, made.gone, made.valid_to) == ("applied", 1, note(2).valid_from)


@pytest.mark.parametrize(("confidence", "status"), [(0.69, "applied"), (0.70, "pending"), (0.95, "pending")])
def test_a_confident_note_is_not_overruled_without_a_person(confidence: float, status: str) -> None:
    """From 0.70 on a supersede is held, and nothing goes."""
    made = plan(note(2), note(1, confidence=confidence), Judgement("supersede", "why"))
    assert (made.status, made.gone is None) == (status, status == "pending")


def test_distinct_changes_nothing() -> None:
    """Both notes stay, and the verdict is logged on the pair."""
    made = plan(note(2), note(1), Judgement("distinct", "why"))
    assert (made.gone, made.stays, made.confidence, made.status) == (None, None, None, "applied")


@pytest.mark.parametrize(
    ("other", "verdict"),
    [
        ({"similarity": 0.96}, "duplicate"),
        ({"similarity": 0.94}, "distinct"),
        ({"similarity": None}, "distinct"),
        ({"similarity": 0.99, "category": "decision"}, "distinct"),
        ({"similarity": 0.99, "content": "The tank holds 300 l."}, "distinct"),
    ],
)
def test_the_rules_merge_on_two_tests_only(other: dict[str, object], verdict: str) -> None:
    """Close enough and the same fact: either alone leaves both notes."""
    assert judge_by_rules(note(2), note(1, **other), 0.95).verdict == verdict


def test_a_model_cannot_merge_a_number_away() -> None:
    """`duplicate` on notes that differ in a number is kept as distinct, and the log says what was judged."""
    judged = restrain(note(2, "The tank holds 300 l."), note(1), Judgement("duplicate", "same tank"))
    assert judged.verdict == "distinct"
    assert "300" in judged.reasoning
    assert "same tank" in judged.reasoning


def test_a_model_may_merge_a_paraphrase() -> None:
    """Other words with the same numbers are the model's to judge."""
    judged = Judgement("duplicate", "same")
    assert restrain(note(2, "200 l fit into the tank."), note(1), judged) == judged


@pytest.mark.parametrize("verdict", ["refine", "supersede"])
def test_one_project_does_not_overrule_what_holds_for_all(verdict: str) -> None:
    """A note of a project against a global one leaves both."""
    judged = Judgement(verdict, "why")  # type: ignore[arg-type]
    assert restrain(note(2), note(1, project="global"), judged).verdict == "distinct"
    assert restrain(note(2, project="global"), note(1, project="global"), judged) == judged
