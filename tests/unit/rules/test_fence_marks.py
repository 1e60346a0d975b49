"""What is fenced is cut out whole on its way back; what a person wrote stays, whatever it says about the fence."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus_memory.rules.fence import CLOSE, FENCE_CHARS, FRAME, OPEN, TAG, cut_fenced, fence, neutralise

PIECES = st.lists(
    st.one_of(st.text(max_size=40), st.sampled_from([OPEN, CLOSE, f"< / {TAG.upper()} >", FRAME, "\n"])), max_size=8
)
WORDS = st.text(alphabet="abc äö.,!?", max_size=60).map(str.strip)


@given(WORDS, PIECES.map("".join), WORDS)
def test_a_fenced_text_never_comes_back(before: str, recalled: str, after: str) -> None:
    """Whatever stands in the fence, forged marks of it included, is cut, and the words around it are kept."""
    fenced = fence(recalled)
    kept, cuts = cut_fenced("\n".join((before, fenced, after)))
    if fenced:
        assert (kept, cuts) == ("\n".join(part for part in (before, after) if part), 1)


@given(PIECES.map("".join))
def test_a_fence_costs_so_many_characters(recalled: str) -> None:
    """Recall may reckon with FENCE_CHARS, since taking forged marks apart keeps the length."""
    assert len(fence(recalled)) == (len(recalled) + FENCE_CHARS if recalled else 0)


@pytest.mark.parametrize("forged", [OPEN, CLOSE, CLOSE.upper(), f"< / {TAG}>", f"＜/{TAG}>", f"<\\{TAG}>"])
def test_a_forged_mark_is_taken_apart(forged: str) -> None:
    """A note cannot close the fence it stands in, nor open one."""
    assert TAG in neutralise(forged).lower()
    assert "<" not in neutralise(forged)
    assert "＜" not in neutralise(forged)
    assert neutralise(neutralise(forged)) == neutralise(forged)


@pytest.mark.parametrize(
    "text",
    [
        f"we call the tag {OPEN} and close it with {CLOSE}, is that good?",
        f"{OPEN} is what the first line says",
        f"`{OPEN}`\nis the first line, and then?",
        f"the tag is {OPEN}\nand the next line is mine",
        f"only the end: {CLOSE}",
        f"{CLOSE}\nalone on its line",
        "nothing of it",
        "",
    ],
)
def test_who_only_names_the_tag_keeps_every_word(text: str) -> None:
    """The mark counts alone on its line, or with the frame behind it; a sentence about it is a person's own."""
    assert cut_fenced(text) == (text, 0)


def test_a_fence_behind_words_of_a_client_is_cut() -> None:
    """Some clients put a label before what a hook gave them, on the same line."""
    assert cut_fenced(f"hook context: {fence('kim likes tea')}\nmine") == ("hook context:\nmine", 1)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_fence_that_was_cut_off_goes_to_the_end(end: str) -> None:
    """Without its closing mark, everything behind the opening one may be recalled text."""
    assert cut_fenced(end.join(("mine", OPEN, FRAME, "kim likes tea", "and"))) == ("mine", 1)
    assert cut_fenced(f"mine{end}{OPEN}") == ("mine", 1)


def test_every_fence_is_cut_and_counted() -> None:
    """Two fences, words between them."""
    assert cut_fenced(f"a\n{fence('x')}\nb\n{fence('y')}\nc") == ("a\nb\nc", 2)


@pytest.mark.parametrize(
    "text",
    [
        f"{OPEN}\nx{CLOSE}{OPEN}",
        f"{OPEN}\nx{CLOSE} {OPEN}\ny",
        f"a\n{OPEN} {fence('x')}\nb",
        f"{OPEN}\x0c\n{fence('x')}",
    ],
)
def test_a_mark_that_a_cut_leaves_alone_is_cut_too(text: str) -> None:
    """Cutting a second time finds nothing more."""
    left, cuts = cut_fenced(text)
    assert cuts >= 1
    assert cut_fenced(left) == (left, 0)


@pytest.mark.parametrize(
    "part", [OPEN, f"{OPEN}\n", f"{OPEN}\n{CLOSE} ", f"{OPEN} {OPEN}\n{FRAME}{CLOSE}\n", "<argus-"]
)
def test_no_text_makes_cutting_slow(part: str) -> None:
    """A megabyte of marks takes less than a second."""
    began = time.process_time()
    cut_fenced(part * (1_000_000 // len(part)))
    assert time.process_time() - began < 1.0
