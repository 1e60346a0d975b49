"""Sentences that were meant as words, each at its exact place."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus_memory.models.extractive_sentences import split_sentences


def texts(text: str, *, quotes: bool = True) -> list[str]:
    return [sentence.text for sentence in split_sentences(text, quotes=quotes)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("We use v1.2.3 on host db.example.org now. Fine.", ["We use v1.2.3 on host db.example.org now.", "Fine."]),
        ("See e.g. the docs, i.e. the README. Then go.", ["See e.g. the docs, i.e. the README.", "Then go."]),
        ("Dr. Brown and J. Smith met. They talked.", ["Dr. Brown and J. Smith met.", "They talked."]),
        ("It is in /srv/app/main.py. It runs.", ["It is in /srv/app/main.py.", "It runs."]),
        ("Read https://example.org/a?b=c. Then stop.", ["Read https://example.org/a?b=c.", "Then stop."]),
        ("Run `make. all`. Then wait.", ["Run `make. all`.", "Then wait."]),
        ("Well... that was it. Yes.", ["Well... that was it.", "Yes."]),
        ("It returns \"??\" as a fallback. Good.", ["It returns \"??\" as a fallback.", "Good."]),
        ("我们用 Postgres。端口是 5433！好吗？", ["我们用 Postgres。", "端口是 5433！", "好吗？"]),
        ("「はい。」と言った。次へ。", ["「はい。」", "と言った。", "次へ。"]),
        ("I said no. He left.", ["I said no.", "He left."]),
        ("Issue no. 5 is open. Next.", ["Issue no. 5 is open.", "Next."]),
    ],
)  # fmt: skip
def test_sentence_ends(text: str, expected: list[str]) -> None:
    """Stops end sentences, except in versions, hosts, paths, addresses, code spans, abbreviations and initials."""
    assert texts(text) == expected


def test_lists_and_headings_are_units_of_their_own() -> None:
    """Items lose their marks, keep their words, and know the heading and the line that led to them."""
    found = split_sentences("## Stack\n\nWe run:\n- Postgres 16\n2. [x] Redis\n   with TLS\n")
    assert [(s.text, s.kind, s.section, s.lead) for s in found] == [
        ("Stack", "heading", "", ""),
        ("We run:", "prose", "Stack", ""),
        ("Postgres 16", "item", "Stack", "We run:"),
        ("Redis", "item", "Stack", "We run:"),
        ("with TLS", "item", "Stack", "We run:"),
    ]


@pytest.mark.parametrize(
    "code",
    [
        "```python\nx = 1. Not words.\n```",
        "~~~\nnever closed. Still code.",
        "    indented = code()\n    more()",
        "| a | b |\n|---|---|\n| c | d. |",
        "<options>\n<option>One.</option>\n</options>",
        "import os\nfrom sys import path\nconst x = { y: 1 };\nfoo(bar);\n} else {\n",
        "---",
        "$ make test",
        "{\n  \"name\": \"x\",\n  \"version\": \"1.0\"\n}",
    ],
)  # fmt: skip
def test_code_tables_and_tags_are_left_out(code: str) -> None:
    """What is no prose gives no sentence, and the words around it stay."""
    assert texts(f"Before it.\n\n{code}") == ["Before it."]


def test_a_closed_fence_lets_the_words_after_it_through() -> None:
    """Only what is fenced is left out."""
    assert texts("Look:\n```\ncode\n```\nIt works.") == ["Look:", "It works."]


def test_quoted_lines_are_words_only_where_asked() -> None:
    """In a person's turn `> ` lines are somebody else's; in a plan of the assistant they are its text."""
    assert texts("> Old words.\n\nMine.", quotes=False) == ["Mine."]
    assert texts("> Old words.\n\nMine.") == ["Old words.", "Mine."]


def test_wrapped_lines_are_one_sentence_and_short_lines_are_several() -> None:
    """A line that was cut at the margin goes on; one that was ended by hand does not."""
    wrapped = "The migration moved every row of the ledger into its own schema and\nkept the old ids."
    assert texts(wrapped) == [wrapped]
    assert texts("use tabs\nuse UTF-8") == ["use tabs", "use UTF-8"]


@given(st.text(max_size=300) | st.text(alphabet="ab.!?`>#-|*\n 。：\\\t1", max_size=200))
def test_every_sentence_stands_where_it_says(text: str) -> None:
    """text[start:end] is the sentence; sentences are in order, do not overlap, and are not blank."""
    for quotes in (True, False):
        end = 0
        for sentence in split_sentences(text, quotes=quotes):
            assert text[sentence.start : sentence.end] == sentence.text
            assert sentence.text.strip() == sentence.text != ""
            assert sentence.start >= end
            end = sentence.end


@pytest.mark.parametrize("text", ["a. " * 100_000, "`" * 300_000, "http://" * 50_000, "* " * 150_000, "x" * 300_000])
def test_a_huge_turn_is_split_in_linear_time(text: str) -> None:
    """A third of a megabyte of anything takes a moment, not a minute."""
    started = time.perf_counter()
    split_sentences(text)
    assert time.perf_counter() - started < 5
