"""Which of the candidates a prompt gets: priors, floors, what the session already has, and the best few. Pure.

Two floors stand beside each other. The relevance floor is on the scale of plain RRF and says "found near the top of
a track"; the best of nothing stands at the top too, so the evidence floor asks whether a candidate has to do with
the prompt at all: cosine + COVERAGE_WEIGHT × coverage, on a scale that belongs to the embedding space.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from argus_memory.rules.ranking import KIND_PRIORS, over_best, recency
from argus_memory.settings import PROJECT_BOOST

Type = Literal["note", "turn"]

# evidence = cosine + weight × coverage. Telling a question's own LoCoMo conversation from another one with the names
# exchanged (257 against 670): area under the curve .811 by cosine alone, .877 at 0.3, .886 at 0.5, .849 by coverage
# alone. Against a conversation of other people: .975, .973, .967. In between: 0.3.
COVERAGE_WEIGHT = 0.3
# Where there is no vector: the part of the prompt's words, by rarity. Kept of a question's own conversation / let in
# from another one: 0.3 .87 / .31, 0.4 .77 / .15, 0.5 .67 / .08.
KEYWORD_EVIDENCE = 0.4
# A candidate may lie so far below the floor that the best one has passed: an answer is often worded otherwise.
EVIDENCE_SLACK = 0.1

VERBATIM_PRIOR = 0.9  # a turn says in more words what a note of it says
MAX_DROPPED = 30  # candidates named in the ledger's row

RELEVANCE, EVIDENCE, SEEN, COVERED, BEYOND, ROOM = (
    "relevance-floor", "evidence-floor", "already-injected", "covered-by-note", "beyond-limit", "no-room",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Option:
    """A note or turn that could be injected. `support` and `coverage`, `cosine` are the best of it and its direct
    neighbours in the session; `rrf_score` is its own. `kind` is the raw item's."""

    type: Type
    id: int
    raw_id: int
    score: float
    rrf_score: float
    support: float
    coverage: float
    cosine: float | None
    project: str | None
    said_at: datetime
    kind: str


@dataclass(frozen=True, slots=True)
class Floors:
    """`relevance` on the RRF scale, `note` and `turn` on the evidence scale of the space; None: by words alone."""

    relevance: float
    note: float | None
    turn: float | None


@dataclass(frozen=True, slots=True)
class Chosen:
    option: Option
    score: float  # with all priors


@dataclass(frozen=True, slots=True)
class Dropped:
    type: Type
    id: int
    score: float
    rrf_score: float
    reason: str


@dataclass(frozen=True, slots=True)
class Choice:
    """`on_record`: whether any candidate passed both floors, shown or not."""

    chosen: tuple[Chosen, ...]
    dropped: tuple[Dropped, ...]
    on_record: bool


def choose(
    options: Sequence[Option],
    floors: Floors,
    *,
    project: str | None,
    now: datetime,
    limit: int,
    seen_notes: Collection[int] = (),
    seen_turns: Collection[int] = (),
    fusion: str = "best",
) -> Choice:
    """The best `limit` of the options with priors applied, and of each other one why not."""
    ranked = weigh(options, project=project, now=now, fusion=fusion)
    anything = any(_evidence_margin(option, floors) >= 0 for option in options)
    chosen: list[Chosen] = []
    dropped: list[Dropped] = []
    on_record = False
    covered: set[int] = set()
    for option, score in ranked:
        reason = None
        if option.support < floors.relevance:
            reason = RELEVANCE
        elif not anything or _evidence_margin(option, floors) < -EVIDENCE_SLACK:
            reason = EVIDENCE
        else:
            on_record = True
            if option.id in (seen_notes if option.type == "note" else seen_turns):
                reason = SEEN
            elif option.raw_id in covered and option.type == "turn":
                reason = COVERED
            elif len(chosen) >= limit:
                reason = BEYOND
        if reason is None:
            chosen.append(Chosen(option, score))
        elif len(dropped) < MAX_DROPPED:
            dropped.append(Dropped(option.type, option.id, score, option.rrf_score, reason))
        if option.type == "note" and reason in (None, SEEN):
            covered.add(option.raw_id)
    return Choice(tuple(chosen), tuple(dropped), on_record)


def weigh(
    options: Sequence[Option], *, project: str | None, now: datetime, fusion: str
) -> list[tuple[Option, float]]:
    """Options with their final scores, best first.

    Notes and turns are ranked apart, each against its own best; so that they can stand in one order, each kind's
    scores are scaled by how much its best has to do with the prompt. With `rrf` the plain scores are comparable.
    """
    weighed: list[tuple[Option, float]] = []
    strongest = max((evidence(option) for option in options), default=0.0)
    for type_ in ("note", "turn"):
        group = [option for option in options if option.type == type_]
        strength = max((evidence(option) for option in group), default=0.0) / strongest if strongest > 0 else 1.0
        scores = [option.score for option in group]
        if fusion != "rrf":
            scores = [score * strength for score in over_best(scores)]
        weighed += [
            (option, score * prior(option, project, now)) for option, score in zip(group, scores, strict=True)
        ]
    return sorted(weighed, key=lambda pair: (-pair[1], -pair[0].rrf_score, pair[0].type, pair[0].id))


def prior(option: Option, project: str | None, now: datetime) -> float:
    """Kind × recency × the same project (a nudge, no filter)."""
    kind = VERBATIM_PRIOR if option.type == "turn" else KIND_PRIORS.get(option.kind, 1.0)
    same = PROJECT_BOOST if project is not None and option.project == project else 1.0
    return kind * recency(option.said_at, now) * same


def evidence(option: Option) -> float:
    """How much an option has to do with the prompt."""
    return (option.cosine or 0.0) + COVERAGE_WEIGHT * option.coverage


def _evidence_margin(option: Option, floors: Floors) -> float:
    floor = floors.note if option.type == "note" else floors.turn
    if floor is None or option.cosine is None:
        return option.coverage - KEYWORD_EVIDENCE
    return evidence(option) - floor
