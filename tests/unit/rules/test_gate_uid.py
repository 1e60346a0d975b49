"""A note's identity, and the folding it is made of."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus_memory.rules.same_text import fold
from argus_memory.rules.uid import note_uid


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("We use Postgres 16.", "we use  postgres 16"),
        ("Use **tabs**, not spaces!", "use tabs not spaces"),
        ("“Quoted” – text…", '"quoted" text'),
        ("ＦＵＬＬ width", "full width"),
        ("Straße", "STRASSE"),
        ("don’t touch it", "don't touch it"),
        ("我们决定用 Postgres。", "我们决定用 Postgres"),
    ],
)
def test_the_same_words_set_differently_fold_to_one_text(one: str, other: str) -> None:
    """Case, white space, emphasis, quotes and stops do not make another fact."""
    assert fold(one) == fold(other)
    assert note_uid("fact", one, "p") == note_uid("fact", other, "p")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("port 8484", "port 8485"),
        ("version 3.5", "version 35"),
        ("offset -1", "offset 1"),
        ("50% of them", "50 of them"),
        ("costs $5", "costs 5"),
        ("written in C++", "written in C"),
        ("written in C#", "written in C"),
        ("a.b is set", "ab is set"),
        ("x > 5", "x < 5"),
        ("use it", "do not use it"),
        ("🎉", "🚀"),
    ],
)
def test_what_differs_in_meaning_stays_apart(one: str, other: str) -> None:
    """Numbers, signs, units, language names and negations are part of the fact."""
    assert note_uid("fact", one, "p") != note_uid("fact", other, "p")


def test_category_and_project_are_part_of_the_identity() -> None:
    """The same sentence as a preference, or in another project, is another note."""
    base = note_uid("fact", "use tabs", "one")
    assert base != note_uid("preference", "use tabs", "one")
    assert base != note_uid("fact", "use tabs", "two")
    assert note_uid("fact", "use tabs", None) == note_uid("fact", "use tabs", "")


def test_the_identity_is_written_in_stone() -> None:
    """A known note keeps its known uid: a change of the recipe would orphan every decision made on notes."""
    assert note_uid("decision", "User: We use Postgres 16.", "ledger") == "0739d4394e1fe63edcc20d0079fc95e8"


@given(st.text(max_size=120))
def test_folding_twice_changes_nothing_more(text: str) -> None:
    """fold(fold(x)) == fold(x) for every text."""
    assert fold(fold(text)) == fold(text)


@given(st.text(min_size=1, max_size=80))
def test_only_blank_text_folds_to_nothing(text: str) -> None:
    """A text with any visible character keeps something of itself."""
    assert bool(fold(text)) == bool(text.split())
