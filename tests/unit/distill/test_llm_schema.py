"""Answers are held against a schema here, whatever the server promised."""

from __future__ import annotations

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus_memory.models.llm_distill import ACCEPTED, ASKED
from argus_memory.models.llm_schema import find_problem

NOTE = {
    "title": "t", "content": "c", "category": "fact", "importance": 0.5, "keywords": [], "tags": ["x"],
    "context": "", "source_ref": "s", "speaker": "user",
}  # fmt: skip
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*NOTE, "notes"]), inner, max_size=9),
    max_leaves=25,
)


def test_a_full_note_fits() -> None:
    """What was asked for is accepted."""
    assert find_problem({"notes": [NOTE]}, ASKED) is None
    assert find_problem({"notes": []}, ACCEPTED) is None


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ([], "answer: not of type object"),
        ({}, "answer: no 'notes'"),
        ({"notes": [{**NOTE, "title": 5}]}, "answer.notes[0].title: not of type string"),
        ({"notes": [NOTE, {"title": "t"}]}, "answer.notes[1]: no 'content'"),
        ({"notes": [{**NOTE, "importance": True}]}, "answer.notes[0].importance: not of type number"),
        ({"notes": [{**NOTE, "tags": ["a", None]}]}, "answer.notes[0].tags[1]: not of type string"),
    ],
)
def test_the_first_problem_is_named_with_its_place(value: object, problem: str) -> None:
    """The message says where and what, so that the repair can quote it."""
    assert find_problem(value, ACCEPTED) == problem


def test_a_category_out_of_range_is_left_to_the_gate() -> None:
    """One odd note must not cost the others: ranges are the gate's to judge, with a rejection on record."""
    assert find_problem({"notes": [{**NOTE, "category": "gossip", "importance": 7}]}, ACCEPTED) is None
    assert find_problem({"notes": [{**NOTE, "category": "gossip"}]}, ASKED) is not None


@given(
    JSON
    | st.fixed_dictionaries(
        {"notes": st.lists(st.fixed_dictionaries({}, optional=dict.fromkeys(NOTE, JSON)), max_size=2)}
    )
)
def test_it_agrees_with_a_full_validator(value: object) -> None:
    """On any JSON it says yes and no where the jsonschema library does."""
    assert (find_problem(value, ACCEPTED) is None) == jsonschema.Draft202012Validator(ACCEPTED).is_valid(value)
