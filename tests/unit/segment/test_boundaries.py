"""Where a conversation is cut, by the rule alone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus_memory.rules.answer_blocks import Blocks, SpanTurn
from argus_memory.rules.boundaries import Check, Limits, Signs, Span, decide, find_restart, topic_score

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
LATER = START + timedelta(days=30)
LIMITS = Limits(idle=timedelta(minutes=30), topic=0.5)
NORTH, EAST = np.array([0, 1], np.float32), np.array([1, 0], np.float32)


def turn(number: int, role: str, minute: float, **more: Any) -> SpanTurn:
    return SpanTurn(number, role, START + timedelta(minutes=minute), **({"terms": 9} | more))


def dialog(exchanges: int, **more: Any) -> list[SpanTurn]:
    """Prompt and answer in turn, a minute apart, ids from 1."""
    return [turn(n + 1, ("user", "assistant")[n % 2], n, **more) for n in range(2 * exchanges)]


def ranges(spans: tuple[Span, ...]) -> list[tuple[int, int, str | None]]:
    return [(span.start, span.end, span.reason) for span in spans]


def checks_of(spans: tuple[Span, ...], reason: str) -> list[Check]:
    return [check for span in spans for check in span.checks if check.reason == reason]


def test_twenty_prompts_and_answers_fit() -> None:
    """A conversation of exactly the size cap is one span, closed by silence."""
    assert ranges(decide(dialog(10), LATER, LIMITS, Signs())) == [(0, 20, "idle")]


def test_the_size_cap_cuts_before_the_prompt_that_exceeds_it() -> None:
    """The twenty-first prompt or answer starts the next span when it is a prompt."""
    spans = decide(dialog(11), LATER, LIMITS, Signs())
    assert ranges(spans) == [(0, 20, "size-cap"), (20, 22, "idle")]
    assert spans[0].score == 21


def test_the_size_cap_moves_back_to_the_last_prompt() -> None:
    """When an answer exceeds the cap, the cut stands before the prompt it answers."""
    turns = [turn(0, "user", -1), *dialog(11)]
    spans = decide(turns, LATER, LIMITS, Signs())
    assert ranges(spans)[0] == (0, 19, "size-cap")


def test_the_size_cap_holds_without_any_prompt() -> None:
    """Answers alone are cut at the cap, before the one that exceeds it."""
    turns = [turn(n, "assistant", n, message_id=f"m{n}") for n in range(45)]
    assert [span.blocks for span in decide(turns, LATER, LIMITS, Signs())] == [20, 20, 5]


def test_pieces_of_one_answer_count_once() -> None:
    """An answer of thirty pieces is one of the twenty, and stays whole."""
    turns = [
        turn(1, "user", 0),
        *[turn(n, "assistant", n / 60, message_id="m1") for n in range(2, 32)],
        turn(40, "user", 2),
    ]
    assert ranges(decide(turns, LATER, LIMITS, Signs())) == [(0, 32, "idle")]


def test_no_cut_between_pieces_with_a_prompt_typed_meanwhile() -> None:
    """A long pause inside an answer, with a prompt queued in it, is noted but cuts nothing."""
    turns = [
        turn(1, "user", 0),
        turn(2, "assistant", 1, message_id="m1"),
        turn(3, "user", 50),
        turn(4, "assistant", 51, message_id="m1"),
    ]
    spans = decide(turns, LATER, LIMITS, Signs())
    assert ranges(spans) == [(0, 4, "idle")]
    assert [(c.before_raw_id, c.fired, c.status) for c in checks_of(spans, "time-gap")] == [
        (2, False, "ok"),
        (3, False, "inside-answer"),
    ]


def test_codex_answers_without_ids_are_joined() -> None:
    """Consecutive assistant items of Codex are one answer; for another source each is its own."""
    turns = [turn(0, "user", 0), *[turn(n, "assistant", n) for n in range(1, 41)]]
    assert len(decide(turns, LATER, LIMITS, Signs(), join_answers=True)) == 1
    assert len(decide(turns, LATER, LIMITS, Signs())) > 1


def test_a_gap_of_more_than_half_an_hour_cuts() -> None:
    """Thirty minutes to the second do not cut, one second more does."""
    exact = [turn(1, "user", 0), turn(2, "assistant", 30)]
    longer = [turn(1, "user", 0), turn(2, "assistant", 30 + 1 / 60)]
    assert ranges(decide(exact, LATER, LIMITS, Signs())) == [(0, 2, "idle")]
    spans = decide(longer, LATER, LIMITS, Signs())
    assert ranges(spans) == [(0, 1, "time-gap"), (1, 2, "idle")]
    assert spans[0].score == 1801


def test_a_new_topic_cuts_before_the_prompt() -> None:
    """A prompt that points elsewhere than the turns before it starts a span; its score and threshold are kept."""
    turns = [turn(n + 1, ("user", "assistant")[n % 2], n, vector=NORTH if n < 4 else EAST) for n in range(6)]
    spans = decide(turns, LATER, LIMITS, Signs())
    assert ranges(spans) == [(0, 4, "topic-shift"), (4, 6, "idle")]
    assert checks_of(spans, "topic-shift")[-1] == Check("topic-shift", 4, 5, 0.0, 0.5, True, "ok")


def test_an_answer_never_starts_a_topic() -> None:
    """The topic is asked about before prompts only."""
    turns = [turn(n + 1, ("user", "assistant")[n % 2], n, vector=NORTH if n % 2 == 0 else EAST) for n in range(4)]
    assert {check.before_raw_id for check in checks_of(decide(turns, LATER, LIMITS, Signs()), "topic-shift")} == {3}


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"turns": 3}, "too-few-turns"),
        ({"terms": 1}, "too-short"),
        ({"vector": None}, "unavailable"),
        ({"window": None}, "unavailable"),
        ({"frozen": True}, "unavailable"),
        ({"limits": Limits(idle=timedelta(minutes=30))}, "unavailable"),
    ],
)
def test_a_topic_that_cannot_be_judged_does_not_cut(change: dict[str, Any], status: str) -> None:
    """Too few turns, a prompt of a word, missing vectors or no space: the check says which, and nothing is cut."""
    length = change.get("turns", 4)
    turns = [turn(n, "assistant", n, message_id=f"m{n}", vector=NORTH) for n in range(length)]
    if "window" in change:
        turns[1] = turn(1, "assistant", 1, message_id="m1")
    turns.append(turn(99, "user", length, terms=change.get("terms", 9), vector=change.get("vector", EAST)))
    frozen = frozenset({99}) if "frozen" in change else frozenset()
    spans = decide(turns, LATER, change.get("limits", LIMITS), Signs(), frozen=frozen)
    assert [span.reason for span in spans] == ["idle"]
    assert [check.status for check in checks_of(spans, "topic-shift")] == [status]


def test_the_live_tail_stays_open() -> None:
    """Before the silence is long enough and without a sign the last span has no reason."""
    turns = dialog(2)
    spans = decide(turns, turns[-1].said_at + timedelta(minutes=30), LIMITS, Signs())
    assert ranges(spans) == [(0, 4, None)]
    assert [(check.reason, check.fired) for check in spans[0].checks[-3:]] == [
        ("session-end", False),
        ("next-session", False),
        ("idle", False),
    ]


@pytest.mark.parametrize(
    ("ended", "started", "reason"),
    [(5, None, "session-end"), (None, 6, "next-session"), (5, 6, "session-end"), (7, 6, "next-session"),
     (45, None, "idle")],
)  # fmt: skip
def test_the_sign_that_came_first_closes_the_tail(ended: int | None, started: int | None, reason: str) -> None:
    """An end mark, another session and silence compete by their moment."""
    moments = [None if minute is None else START + timedelta(minutes=minute) for minute in (ended, started)]
    assert decide(dialog(2), LATER, LIMITS, Signs(*moments))[-1].reason == reason


def test_a_gap_goes_before_the_cap() -> None:
    """Where a gap and the cap meet, the gap is the reason and nothing moves back."""
    turns = [*dialog(10), turn(30, "assistant", 90)]
    assert ranges(decide(turns, LATER, LIMITS, Signs()))[0] == (0, 20, "time-gap")


def test_topic_score_is_a_cosine() -> None:
    """Directions count, lengths do not, and a vector of zeros scores zero."""
    assert topic_score([NORTH * 5, EAST], NORTH) == pytest.approx(0.7071, abs=1e-4)
    assert topic_score([NORTH], NORTH * 0) == 0


# --- properties ----------------------------------------------------------------------------------------------

MOMENTS = st.one_of(st.integers(1, 10), st.integers(25, 40))
PIECES = st.tuples(
    st.sampled_from(["user", "assistant", "assistant"]),
    MOMENTS,
    st.sampled_from([None, "a", "b", "c"]),
    st.sampled_from([NORTH, EAST, None]),
)


@st.composite
def conversations(draw: st.DrawFn) -> list[SpanTurn]:
    turns, minute = [], 0
    for number, (role, step, message, vector) in enumerate(draw(st.lists(PIECES, min_size=1, max_size=60))):
        minute += step
        message_id = f"{message}{number // 6}" if role == "assistant" and message else None
        turns.append(turn(number, role, minute, message_id=message_id, vector=vector))
    return turns


@given(conversations(), st.booleans())
def test_spans_cover_every_turn_once_and_keep_the_guarantees(turns: list[SpanTurn], join: bool) -> None:
    """Spans follow each other without a hole, none exceeds the cap, and no cut goes through an answer."""
    spans = decide(turns, LATER, LIMITS, Signs(), join_answers=join)
    blocks = Blocks(turns, join)
    assert [span.start for span in spans] == [0, *[span.end for span in spans[:-1]]]
    assert spans[-1].end == len(turns)
    assert all(span.end > span.start and 1 <= span.blocks <= 20 for span in spans)
    assert not any(blocks.inside(span.start) for span in spans)


@given(conversations(), st.booleans(), st.data())
def test_a_turn_matters_no_further_back_than_find_restart_says(
    turns: list[SpanTurn], join: bool, data: st.DataObject
) -> None:
    """Spans made without a turn, and wholly before the restart for it, are made with it as well."""
    changed = data.draw(st.integers(0, len(turns) - 1))
    fewer = turns[:changed] + turns[changed + 1 :]
    earlier = decide(fewer, LATER, LIMITS, Signs(), join_answers=join)
    restart = find_restart(turns, changed, LIMITS, join_answers=join) or 0
    # Before `changed` both have the same places; a span that reaches over the restart is cut anew whole.
    kept = [(span.start, span.end) for span in earlier if span.end <= restart]
    whole = decide(turns, LATER, LIMITS, Signs(), join_answers=join)
    assert kept == [(span.start, span.end) for span in whole][: len(kept)]


@given(conversations(), st.booleans())
def test_cutting_may_begin_at_any_span(turns: list[SpanTurn], join: bool) -> None:
    """From the start of a span on, the rest comes out as in one go."""
    whole = decide(turns, LATER, LIMITS, Signs(), join_answers=join)
    for number, span in enumerate(whole):
        rest = decide(turns[span.start :], LATER, LIMITS, Signs(), join_answers=join)
        assert [(s.start + span.start, s.end + span.start, s.reason) for s in rest] == ranges(whole[number:])
