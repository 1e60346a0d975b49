"""The two search tracks in Postgres: by words (BM25 over rows of the rarest terms) and by meaning (HNSW).

One statement a kind of row finds the candidates of both tracks and scores each of them on both. It is planned anew
each time (`prepare=False`): a plan made for any words reads the whole table, since for all it knows they could be in
every row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, LiteralString

from psycopg import sql
from psycopg.rows import DictRow

from argus_memory.db import LIVE_NOTE, LIVE_THEN, ORDINARY_NOTE, Connection, queries
from argus_memory.models.embedders import Vector
from argus_memory.rules.bm25 import K1, ROW_BUDGET, B, Corpus, Term, count_bounds, pick_rarest, tsquery
from argus_memory.rules.flags import TIME_WORDS
from argus_memory.stages.search_scope import Scope
from argus_memory.stages.spaces import Space, vector_type
from argus_memory.stages.terms import find_terms

Type = Literal["note", "turn"]
# Of notes n: all, what a recall shows unasked, and what `before_you_try` answers with.
Lane = Literal["all", "ordinary", "procedures"]
_LANES: Mapping[Lane, LiteralString] = {
    "all": "",
    "ordinary": f" and {ORDINARY_NOTE}",
    "procedures": f" and not {ORDINARY_NOTE}",
}
# Rows of one project up to which its vectors are compared one by one, exactly; 4,000 take about 10 ms.
EXACT_ROWS = 4000
# Turns that support nothing which was taken away: all that a recall may show.
_SHOWN: LiteralString = "not exists (select from withheld_turns w where w.raw_id = n.raw_id)"
# As of a moment: said and captured by then. What was overruled later stood then; what a person took away does not.
_SHOWN_THEN: LiteralString = """(n.said_at <= %(now)s
    and exists (select from raw_items r where r.id = n.raw_id and r.captured_at <= %(now)s)
    and not exists (select from withheld_turns w where w.raw_id = n.raw_id
                    and (w.reason <> 'superseded' or w.at <= %(now)s)))"""


@dataclass(frozen=True, slots=True)
class Question:
    """What is looked for. `vector` None: by words alone. `names` are lexemes of people named, left out of the words.
    `project` narrows, `session` is left out. `as_of`: what was known and held at `now`, a moment of the past;
    `show_withheld`: also turns that no recall shows. `lane`: which notes. `scope`: what else it is narrowed to."""

    text: str
    now: datetime
    vector: Vector | None = None
    space: Space | None = None
    names: frozenset[str] = frozenset()
    project: str | None = None
    session: str | None = None
    as_of: bool = False
    show_withheld: bool = False
    lane: Lane = "all"
    scope: Scope | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """Candidates of one type: their rows, with `bm25` over all terms and `cosine` (None where there is no vector); id
    → rank (from 1) by words and by meaning; and the terms they were found by."""

    rows: Mapping[int, DictRow]
    lexical: Mapping[int, int]
    semantic: Mapping[int, int]
    corpus: Corpus


def find_candidates(
    conn: Connection, type_: Type, question: Question, limit: int, *, budget: int = ROW_BUDGET
) -> Found:
    """The best `limit` of each track over notes or turns; `budget` as in rules/bm25.pick_rarest."""
    corpus = find_terms(conn, type_, question.text, question.names)
    within = _project_rows(conn, type_, question)
    share = 1.0
    if within is not None and corpus.documents:
        share = min(1.0, within / corpus.documents)
    q = queries("search")
    text = q.notes_found if type_ == "note" else q.turns_found
    query, params = _compose(text, question, corpus, nearest=_nearest(type_, question, within))
    rare = pick_rarest(corpus.terms, share=share, budget=budget)
    params |= {"rare": tsquery(rare), "limit": limit, "bound": EXACT_ROWS}
    rows = conn.execute(query, params, prepare=False).fetchall()
    words = sorted((row for row in rows if row["by_words"]), key=lambda row: (-row["bm25"], row["id"]))
    meaning = sorted((row for row in rows if row["by_meaning"]), key=lambda row: (-row["cosine"], row["id"]))
    return Found(
        {row["id"]: row for row in rows},
        {row["id"]: rank for rank, row in enumerate(words, 1)},
        {row["id"]: rank for rank, row in enumerate(meaning, 1)},
        corpus,
    )


def load_around(
    conn: Connection, question: Question, corpus: Corpus, ids: Sequence[int], reach: int
) -> list[DictRow]:
    """The turns of `ids` with `reach` turns on each side in their sessions, scored as candidates are.

    Ordered by `asked_id` (one of `ids`), then `place` (negative: before it).
    """
    query, params = _compose(queries("search").turns_around, question, corpus)
    return conn.execute(query, {**params, "ids": list(ids), "reach": reach}, prepare=False).fetchall()


def _project_rows(conn: Connection, type_: Type, question: Question) -> int | None:
    """Rows of the project asked for, up to EXACT_ROWS + 1; None without one."""
    if question.project is None:
        return None
    q = queries("search")
    text = q.project_notes if type_ == "note" else q.project_turns
    row = conn.execute(text, {"project": question.project, "bound": EXACT_ROWS + 1}).fetchone()
    assert row is not None
    return int(row["rows"])


def _nearest(type_: Type, question: Question, within: int | None) -> LiteralString:
    """The query of the track by meaning: through the index, or exact within a small project."""
    q = queries("search")
    if question.vector is None or question.space is None:
        return q.nothing_near
    if within is not None and within <= EXACT_ROWS:
        return q.notes_nearest_within if type_ == "note" else q.turns_nearest_within
    return q.notes_nearest if type_ == "note" else q.turns_nearest


def _compose(
    text: LiteralString, question: Question, corpus: Corpus, *, nearest: LiteralString = ""
) -> tuple[sql.Composed, dict[str, Any]]:
    """A named query with {bm25}, {norm}, {space}, {vector}, {cosine} and {semantic} filled in, and its parameters."""
    params: dict[str, Any] = {
        "now": question.now, "project": question.project, "session": question.session, "vector": question.vector,
        "time_words": " | ".join(TIME_WORDS),
    }  # fmt: skip
    score, more = _bm25(corpus.terms)
    average = corpus.average_length
    fixed, slope = (K1 * (1 - B), K1 * B / average) if average else (K1, 0.0)
    norm = sql.SQL("{fixed}::float8 + {slope}::float8 * n.tsv_length").format(
        fixed=sql.Literal(fixed), slope=sql.Literal(slope)
    )
    space = sql.Literal(question.space.id if question.space else 0)
    vector: sql.Composable = sql.SQL("vector")
    cosine: sql.Composable = sql.SQL("null::float8")
    if question.space is not None:
        dim = question.space.dim
        vector = sql.SQL("{kind}({dim})").format(kind=vector_type(dim), dim=sql.Literal(dim))
        if question.vector is not None:
            cosine = sql.SQL("1 - (v.embedding::{v} <=> %(vector)s::{v})").format(v=vector)
    shows: LiteralString = _SHOWN_THEN if question.as_of else "true" if question.show_withheld else _SHOWN
    if (scope := question.scope) is not None:
        text, nearest, shows = scope.narrow_notes(text), scope.narrow_notes(nearest), scope.narrow_turns(shows)
        params |= scope.params()
    shown = sql.SQL(shows)
    live = (LIVE_THEN if question.as_of else LIVE_NOTE) + _LANES[question.lane]
    text, nearest = text.replace(LIVE_NOTE, live), nearest.replace(LIVE_NOTE, live)
    semantic = sql.SQL(nearest).format(space=space, vector=vector, shown_turn=shown)
    query = sql.SQL(text).format(
        bm25=score, norm=norm, space=space, vector=vector, cosine=cosine, semantic=semantic, shown_turn=shown
    )
    return query, {**params, **more}


def _bm25(terms: Sequence[Term]) -> tuple[sql.SQL, dict[str, Any]]:
    """BM25 written out over the terms: idf × (K1 + 1) × (1 - norm / (count + norm)), summed (rules/bm25.py).

    The text holds names of parameters and our own numbers only; lexemes are parameters.
    """
    if not terms:
        return sql.SQL("0.0::float8"), {}
    params: dict[str, Any] = {"bounds": count_bounds()}
    parts = []
    for number, term in enumerate(terms):
        params[f"term{number}"] = tsquery([term])
        count = f"width_bucket(ts_rank(n.tsv, %(term{number})s::tsquery)::float8, %(bounds)s::float8[])"
        parts.append(f"{term.idf!r}::float8 / ({count} + doc.norm)")
    whole = sum(term.idf for term in terms)
    text = f"{K1 + 1!r}::float8 * ({whole!r}::float8 - doc.norm * ({' + '.join(parts)}))"
    return sql.SQL(text), params
