"""Notes and turns for a question, each with its score, its plain RRF score, and what it was found by.

Shared by search, which narrows to a project, and by recall, which only prefers one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg.rows import DictRow

from argus_memory.db import Connection, queries
from argus_memory.rules.flags import asks_for_time, find_name_words, find_named_time
from argus_memory.rules.ranking import DATE_BOOST, fill_missing, join_legs, rrf
from argus_memory.rules.ranking_turns import REACH, Asked, TurnScores, rank_turns, split_runs
from argus_memory.stages.recall_tracks import Found, Question, Type, find_candidates, load_around

AROUND = 1  # turns to each side of a candidate that are candidates too


@dataclass(frozen=True, slots=True)
class Depth:
    """How far a search looks: candidates of each track, and how many of them are judged with their surroundings."""

    candidates: int
    surrounded: int
    # HNSW gives no more than this many rows before it has to go on with its scan.
    ef_search: int


# Search: nothing is lost. Recall: before every prompt, so a third of the time; benchmarks/retrieval.py prints both.
DEEP = Depth(candidates=100, surrounded=60, ef_search=100)
QUICK = Depth(candidates=30, surrounded=12, ef_search=40)


@dataclass(frozen=True, slots=True)
class Scored:
    """A note or turn that was found. `score` is on the scale of the fusion chosen, before any prior.

    `support` (plain RRF), `coverage` (the part of the question's words, weighed by rarity, that it holds: about 0 to
    1) and `cosine` (None without vector) are the best of a turn and the turns right beside it, since it was judged
    with them; of a note they are its own.
    """

    type: Type
    id: int
    raw_id: int
    score: float
    rrf_score: float
    support: float
    coverage: float
    cosine: float | None
    why: Mapping[str, int]
    project: str | None
    said_at: datetime
    kind: str = "turn"
    title: str = ""
    text: str = ""
    session: str = ""


def prepare(conn: Connection, depth: Depth) -> None:
    """Settings of this transaction for the vector index: go on scanning where live rows are few."""
    conn.execute(queries("search").index_settings, {"ef_search": str(depth.ef_search)})


def name_people(conn: Connection, text: str, project: str | None) -> tuple[frozenset[str], frozenset[str]]:
    """Who speaks here and is named in the question: names in small letters, and their lexemes."""
    words = list(find_name_words(text))
    rows = conn.execute(queries("search").known_speakers, {"words": words, "project": project}).fetchall()
    names = frozenset(str(row["name"]) for row in rows)
    if not names:
        return names, names
    found = conn.execute(queries("search").name_lexemes, {"names": " ".join(sorted(names))}).fetchall()
    return names, frozenset(str(row["lexeme"]) for row in found)


def find_notes(
    conn: Connection, question: Question, depth: Depth, *, fusion: str
) -> tuple[list[Scored], list[str]]:
    """Live notes, best first, and the lexemes they were looked up by, rarest first."""
    found = find_candidates(conn, "note", question, depth.candidates)
    stems = [term.lexeme for term in found.corpus.terms]
    rows = list(found.rows.values())
    words = [row["bm25"] for row in rows]
    joined = join_legs(words, fill_missing(words, [row["cosine"] for row in rows]))
    time = find_named_time(question.text, question.now)
    notes = []
    for row, score in zip(rows, joined, strict=True):
        plain = _rrf(found, row["id"])
        notes.append(
            Scored(
                type="note",
                id=row["id"],
                raw_id=row["raw_id"],
                score=plain if fusion == "rrf" else score + DATE_BOOST * time.match(row["said_at"]),
                rrf_score=plain,
                support=plain,
                coverage=_coverage(row, found),
                cosine=row["cosine"],
                why=_why(found, row["id"]),
                project=row["project"],
                said_at=row["said_at"],
                kind=row["kind"],
                title=row["title"],
                text=row["content"],
            )
        )
    return sorted(notes, key=lambda note: (-note.score, -note.rrf_score, note.id)), stems


def find_turns(
    conn: Connection, question: Question, depth: Depth, speakers: frozenset[str], *, fusion: str
) -> tuple[list[Scored], list[str]]:
    """Verbatim turns, best first, each judged with the turns around it (rules/ranking_turns.py); and the lexemes they
    were looked up by, rarest first."""
    found = find_candidates(conn, "turn", question, depth.candidates)
    stems = [term.lexeme for term in found.corpus.terms]
    asked = Asked(find_named_time(question.text, question.now), asks_for_time(question.text), speakers)
    seeds = _shortlist(found, asked, depth.surrounded)
    if not seeds:
        return [], stems
    around = _read_around(conn, question, found, seeds)
    rows, near = around.rows, around.near
    runs = split_runs(around.order, around.follows)
    joined = rank_turns([[_turn_scores(rows[raw_id]) for raw_id in run] for run in runs], asked, near)
    beside = {run[at]: run[max(0, at - AROUND) : at + AROUND + 1] for run in runs for at in range(len(run))}
    scored = [_turn(rows, found, raw_id, beside[raw_id], joined[raw_id], fusion) for raw_id in near]
    return sorted(scored, key=lambda turn: (-turn.score, -turn.rrf_score, turn.id)), stems


@dataclass(frozen=True, slots=True)
class _Around:
    """Candidates with their surroundings: rows by id; `near`: the candidates with AROUND turns on each side; `order`:
    all ids, those of one run together and in the order said; `follows`: id → the one said before it."""

    rows: Mapping[int, DictRow]
    near: Mapping[int, None]
    order: Sequence[int]
    follows: Mapping[int, int]


def _shortlist(found: Found, asked: Asked, count: int) -> list[int]:
    """The `count` of the candidates that are best without their neighbours: only theirs are worth reading."""
    if len(found.rows) <= count:
        return list(found.rows)
    alone = rank_turns([[_turn_scores(row)] for row in found.rows.values()], asked, found.rows)
    return sorted(found.rows, key=lambda raw_id: (-alone[raw_id], raw_id))[:count]


def _read_around(conn: Connection, question: Question, found: Found, seeds: Sequence[int]) -> _Around:
    rows: dict[int, DictRow] = {}
    near: dict[int, None] = {}
    follows: dict[int, int] = {}
    starts: dict[int, None] = {}
    previous = None
    for row in load_around(conn, question, found.corpus, seeds, AROUND + REACH):
        rows[row["id"]] = row
        if abs(row["place"]) <= AROUND and row["shown"]:
            near[row["id"]] = None
        if previous is not None and previous["asked_id"] == row["asked_id"]:
            follows[row["id"]] = previous["id"]
        else:
            starts[row["id"]] = None
        previous = row
    after = {before: id_ for id_, before in follows.items()}
    order: list[int] = []
    for start in starts:
        id_ = start if start not in follows else None  # else another window reaches further back
        while id_ is not None:
            order.append(id_)
            id_ = after.get(id_)
    return _Around(rows, near, order, follows)


def _turn(
    rows: Mapping[int, DictRow], found: Found, raw_id: int, beside: Sequence[int], joined: float, fusion: str
) -> Scored:
    row, plain = rows[raw_id], _rrf(found, raw_id)
    cosines = [rows[other]["cosine"] for other in beside if rows[other]["cosine"] is not None]
    return Scored(
        type="turn",
        id=raw_id,
        raw_id=raw_id,
        score=plain if fusion == "rrf" else joined,
        rrf_score=plain,
        support=max(_rrf(found, other) for other in beside),
        coverage=max(_coverage(rows[other], found) for other in beside),
        # A turn that still waits for its vector is judged by its words, whatever stands beside it.
        cosine=max(cosines) if row["cosine"] is not None else None,
        why=_why(found, raw_id),
        project=row["project"],
        said_at=row["said_at"],
        session=row["session"],
    )


def _turn_scores(row: DictRow) -> TurnScores:
    return TurnScores(
        raw_id=row["id"],
        lexical=row["bm25"],
        dense=row["cosine"],
        chars=row["chars"],
        said_at=row["said_at"],
        by_user=row["role"] == "user" and row["speaker"] is None,
        speaker=row["speaker"],
        asks=row["asks"],
        has_time=row["has_time"],
    )


def _coverage(row: Mapping[str, Any], found: Found) -> float:
    whole = sum(term.idf for term in found.corpus.terms)
    return float(row["bm25"]) / whole if whole else 0.0


def _rrf(found: Found, id_: int) -> float:
    return rrf((found.lexical.get(id_), found.semantic.get(id_)))


def _why(found: Found, id_: int) -> dict[str, int]:
    """The tracks that found it, with its rank in each."""
    ranks = {"lexical": found.lexical.get(id_), "semantic": found.semantic.get(id_)}
    return {track: rank for track, rank in ranks.items() if rank is not None}
