"""When two documents are nearly one."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus_memory.rules.shingles import BANDS, HASHES, MIN_CHARS, NEAR, Fingerprint, fingerprint, similarity


def words(seed: int, count: int) -> str:
    chance = random.Random(seed)
    letters = "abcdefghijklmnopqrstuvwxyz"
    return " ".join("".join(chance.choices(letters, k=chance.randint(2, 9))) for _ in range(count))


def take(text: str) -> Fingerprint:
    found = fingerprint(text)
    assert found is not None
    return found


def near(one: str, other: str) -> bool:
    """As the stage judges: a band in common, and alike enough."""
    left, right = take(one), take(other)
    return bool(set(left.bands) & set(right.bands)) and similarity(left.signature, right.signature) >= NEAR


def test_a_fingerprint_has_its_size_and_fits_a_bigint() -> None:
    """128 hashes and 16 bands, all of them storable as they are."""
    found = take(words(1, 100))
    assert (len(found.signature), len(found.bands)) == (HASHES, BANDS)
    assert all(0 <= number < 2**63 for number in (*found.signature, *found.bands))


def test_stored_fingerprints_keep_their_meaning() -> None:
    """A change of the hashes would make every stored signature worthless."""
    found = take("The gorse by the old gate is mossy. " * 8)
    assert (found.signature[0], found.signature[127], found.bands[0]) == PINNED


PINNED = (7621513, 7808056, 1888641942974650838)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(60, 400), st.data())
def test_one_changed_letter_is_near(seed: int, count: int, data: st.DataObject) -> None:
    """Anywhere in a text of 300 to 3,000 characters."""
    text = words(seed, count)
    place = data.draw(st.integers(0, len(text) - 1))
    assert near(text, f"{text[:place]}ß{text[place + 1 :]}")


@pytest.mark.parametrize("text", ["a page " * 100, "Lorem ipsum dolor sit amet. " * 40, "x" * 400])
def test_a_text_of_repetitions_is_no_exception(text: str) -> None:
    """A run counts as often as it stands there: one more letter is near, twice the text is not."""
    assert near(text, text + "z")
    assert not near(text, text * 2)


def test_white_space_and_case_make_no_difference() -> None:
    """A page set in another way is the same page."""
    text = words(2, 100)
    assert take(text) == take("\n  ".join(text.upper().split()))


def test_other_texts_are_not_near() -> None:
    """Another text, and one that shares half."""
    text = words(3, 200)
    assert not near(text, words(4, 200))
    assert not near(text, text[: len(text) // 2] + words(5, 100))


def test_other_numbers_are_never_near() -> None:
    """Next week's report differs in its numbers alone, and that is what it reports."""
    text = words(6, 200)
    assert near(f"{text} 12 {text}", f"{text} 12 {text}!")
    assert not near(f"{text} 12 {text}", f"{text} 13 {text}")
    assert not near(f"{text} 12", f"{text} 12 12")


def test_a_short_text_has_no_fingerprint() -> None:
    """In a sentence each letter may matter."""
    assert fingerprint("x" * (MIN_CHARS - 1)) is None
    assert fingerprint(" " * 1000 + "x") is None
    assert fingerprint("x" * MIN_CHARS) is not None


def test_a_megabyte_takes_less_than_a_second() -> None:
    """Long documents are sampled."""
    text = words(7, 1000) * 160
    began = time.process_time()
    assert near(text, text[:500_000] + "ß" + text[500_001:])
    assert time.process_time() - began < 2.0
