"""Where a conversation breaks: the rule that turns the ordered turns of a session into closed spans and a tail.

Pure. Three questions cut inside a conversation, asked before a turn in this order: a gap in time, the size cap, a
shift of topic. They look at nothing behind that turn, and what a span holds before it, so the same turns always give
the same spans, however they arrived. Three more only say that the last span is over: an end mark, the start of
another session in the same project, and silence. If the conversation goes on all the same, that span is cut anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from argus_memory.rules.answer_blocks import PROMPTS_INSIDE, Blocks, SpanTurn
from argus_memory.settings import SIZE_CAP, TIME_GAP, TOPIC_MIN_TURNS

SIZE, GAP, TOPIC = "size-cap", "time-gap", "topic-shift"
IDLE, END, NEXT = "idle", "session-end", "next-session"

OK, UNAVAILABLE, TOO_FEW, TOO_SHORT, INSIDE = "ok", "unavailable", "too-few-turns", "too-short", "inside-answer"

TOPIC_WINDOW = 4  # turns before the prompt that it is compared with
# A prompt of fewer terms ("go on", "yes, do it") is near to nothing by its vector, whatever it is about.
TOPIC_MIN_TERMS = 3


@dataclass(frozen=True, slots=True)
class Limits:
    """The thresholds; `topic` is a cosine of the active embedding space, None where there is none."""

    idle: timedelta
    topic: float | None = None
    size: int = SIZE_CAP
    gap: timedelta = TIME_GAP
    min_turns: int = TOPIC_MIN_TURNS


@dataclass(frozen=True, slots=True)
class Signs:
    """What besides silence may end the tail: the latest end mark at or after its last turn, and the first start of
    another session in its project after that turn."""

    ended_at: datetime | None = None
    next_session_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """One question, fired or not. Scores: prompts and answers, seconds, cosine. `before_raw_id` None: the end."""

    reason: str
    after_raw_id: int
    before_raw_id: int | None
    score: float | None
    threshold: float | None
    fired: bool
    status: str = OK


@dataclass(frozen=True, slots=True)
class Span:
    """Turns `start` up to, not including, `end`; `reason` None: the live tail."""

    start: int
    end: int
    blocks: int
    reason: str | None
    score: float | None
    checks: tuple[Check, ...]


@dataclass(frozen=True, slots=True)
class _Cut:
    index: int
    reason: str
    score: float | None


def decide(
    turns: Sequence[SpanTurn],
    now: datetime,
    limits: Limits,
    signs: Signs,
    *,
    join_answers: bool = False,
    frozen: frozenset[int] = frozenset(),
) -> tuple[Span, ...]:
    """The spans of `turns`, in the order said, which start where a span starts; only the last may be live.

    join_answers: assistant turns without message id that follow each other are one answer (Codex).
    frozen: ids of turns before which the topic was once decided without vectors; that is not asked again.
    """
    blocks = Blocks(turns, join_answers)
    spans: list[Span] = []
    start = 0
    while start < len(turns):
        cut, checks = _find_cut(turns, blocks, start, limits, frozen)
        if cut is None:
            reason, score, ends = judge_end(turns[-1], now, limits, signs)
            spans.append(
                Span(start, len(turns), blocks.count(start, len(turns)), reason, score, (*checks, *ends))
            )
            break
        spans.append(
            Span(start, cut.index, blocks.count(start, cut.index), cut.reason, cut.score, tuple(checks))
        )
        start = cut.index
    return tuple(spans)


def judge_end(
    last: SpanTurn, now: datetime, limits: Limits, signs: Signs
) -> tuple[str | None, float | None, list[Check]]:
    """Whether a span that ends at `last` is over: (reason, score, checks); the sign that came first decides."""
    silence = now - last.said_at
    moments = {
        END: signs.ended_at,
        NEXT: signs.next_session_at,
        IDLE: last.said_at + limits.idle if silence > limits.idle else None,
    }
    fired = {reason: at for reason, at in moments.items() if at is not None}
    first = min(fired, key=lambda reason: fired[reason]) if fired else None
    scores = {
        reason: (fired[reason] - last.said_at).total_seconds() if reason in fired else None for reason in moments
    }
    scores[IDLE] = silence.total_seconds()
    checks = [
        Check(
            reason,
            last.raw_id,
            None,
            scores[reason],
            limits.idle.total_seconds() if reason == IDLE else None,
            reason in fired,
        )
        for reason in moments
    ]
    return first, scores[first] if first else None, checks


def find_restart(turns: Sequence[SpanTurn], changed: int, limits: Limits, *, join_answers: bool) -> int | None:
    """How far back a turn new at index `changed` can matter: the first index of a span that may come out otherwise.

    Every decision looks from its span's start over at most one prompt or answer more than the cap and the prompts
    inside that answer, and never across a gap that cuts. None: further back than `turns` reaches.
    """
    blocks = Blocks(turns, join_answers)
    reach = limits.size + 1 + PROMPTS_INSIDE
    for index in range(changed, 0, -1):
        if blocks.count(index - 1, changed + 1) > reach:
            return index
        if not blocks.inside(index) and turns[index].said_at - turns[index - 1].said_at > limits.gap:
            return index
    return None


def topic_score(window: Sequence[NDArray[np.float32]], prompt: NDArray[np.float32]) -> float:
    """Cosine of a prompt with the mean direction of the turns before it; -1 to 1."""
    mean = np.mean([_unit(vector) for vector in window], axis=0)
    return float(np.dot(_unit(mean), _unit(prompt)))


def _unit(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    length = float(np.linalg.norm(vector))
    return vector / length if length else vector


def _find_cut(
    turns: Sequence[SpanTurn], blocks: Blocks, start: int, limits: Limits, frozen: frozenset[int]
) -> tuple[_Cut | None, list[Check]]:
    """The first boundary after `start`, and the checks of the span that it ends."""
    checks: list[tuple[int, Check]] = []

    def note(
        at: int, reason: str, score: float | None, threshold: float | None, fired: bool, status: str = OK
    ) -> None:
        before, after = turns[at].raw_id, turns[at - 1].raw_id
        checks.append((at, Check(reason, after, before, score, threshold, fired, status)))

    for index in range(start + 1, len(turns)):
        gap = (turns[index].said_at - turns[index - 1].said_at).total_seconds()
        most = limits.gap.total_seconds()
        inside = blocks.inside(index)
        if not inside or gap > most:
            note(index, GAP, gap, most, not inside and gap > most, INSIDE if inside else OK)
        if not inside and gap > most:
            return _Cut(index, GAP, gap), [check for _, check in checks]
        size = blocks.count(start, index + 1)
        if size > limits.size:
            at = _move_back(turns, blocks, start, index)
            # What was asked behind the cut is asked again in the next span.
            checks = [
                (place, check) for place, check in checks if place < at or (place == at and check.reason != SIZE)
            ]
            note(at, SIZE, size, limits.size, True)
            return _Cut(at, SIZE, size), [check for _, check in checks]
        if inside:
            continue
        note(index, SIZE, size, limits.size, False)
        if turns[index].role == "user":
            score, status = _ask_topic(turns, start, index, limits, frozen)
            shifted = score is not None and limits.topic is not None and score < limits.topic
            note(index, TOPIC, score, limits.topic, shifted, status)
            if shifted:
                return _Cut(index, TOPIC, score), [check for _, check in checks]
    return None, [check for _, check in checks]


def _move_back(turns: Sequence[SpanTurn], blocks: Blocks, start: int, index: int) -> int:
    """Where a span that exceeds the cap at `index` is cut: before its last prompt, else before its last answer."""
    legal = [at for at in range(index, start, -1) if not blocks.inside(at)]
    return next((at for at in legal if turns[at].role == "user"), legal[0])


def _ask_topic(
    turns: Sequence[SpanTurn], start: int, index: int, limits: Limits, frozen: frozenset[int]
) -> tuple[float | None, str]:
    if index - start < limits.min_turns:
        return None, TOO_FEW
    prompt = turns[index]
    if prompt.terms < TOPIC_MIN_TERMS:
        return None, TOO_SHORT
    window = [turn.vector for turn in turns[max(start, index - TOPIC_WINDOW) : index]]
    known = [vector for vector in window if vector is not None]
    if limits.topic is None or prompt.vector is None or len(known) < len(window) or prompt.raw_id in frozen:
        return None, UNAVAILABLE
    return topic_score(known, prompt.vector), OK
