"""The two search tracks in Postgres: by words (BM25 over rows of the rarest terms) and by meaning (HNSW).

A query goes through three steps for each kind of row: candidates by words, candidates by meaning, then every one of
them (and for turns the turns around it) scored in full on both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, LiteralString

from psycopg import sql
from psycopg.rows import DictRow

from argus_memory.db import Connection, queries
from argus_memory.models.embedders import Vector
from argus_memory.rules.bm25 import K1, B, Corpus, Term, count_bounds, pick_rarest, tsquery
from argus_memory.stages.spaces import Space, vector_type
from argus_memory.stages.terms import find_terms

Type = Literal["note", "turn"]
# Rows of one project up to which its vectors are compared one by one, exactly; 4,000 take about 10 ms.
EXACT_ROWS = 4000


@dataclass(frozen=True, slots=True)
class Question:
    """What is looked for. `vector` None: by words alone. `names` are lexemes of people named, left out of the words.
    `project` narrows, `session` is left out."""

    text: str
    now: datetime
    vector: Vector | None = None
    space: Space | None = None
    names: frozenset[str] = frozenset()
    project: str | None = None
    session: str | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """Candidates of one type: id → rank (from 1) by words and by meaning, and the terms they were found by."""

    lexical: Mapping[int, int]
    semantic: Mapping[int, int]
    corpus: Corpus
    ids: tuple[int, ...] = field(default=())


def find_candidates(conn: Connection, type_: Type, question: Question, limit: int) -> Found:
    """The best `limit` of each track over notes or turns."""
    corpus = find_terms(conn, type_, question.text, question.names)
    rows = _project_rows(conn, type_, question)
    lexical = _by_words(conn, type_, question, corpus, rows, limit)
    semantic = _by_meaning(conn, type_, question, rows, limit)
    ids = tuple(dict.fromkeys([*lexical, *semantic]))
    return Found(lexical, semantic, corpus, ids)


def load_details(
    conn: Connection, type_: Type, question: Question, corpus: Corpus, ids: Sequence[int], **more: Any
) -> list[DictRow]:
    """The rows of `ids` with `bm25` over all terms and `cosine` (None where there is no vector)."""
    q = queries("search")
    text = q.notes_details if type_ == "note" else q.turns_details
    query, params = _compose(text, question, corpus.terms, corpus)
    return conn.execute(query, {**params, **more, "ids": list(ids)}).fetchall()


def _project_rows(conn: Connection, type_: Type, question: Question) -> int | None:
    """Rows of the project asked for, up to EXACT_ROWS + 1; None without one."""
    if question.project is None:
        return None
    q = queries("search")
    text = q.project_notes if type_ == "note" else q.project_turns
    row = conn.execute(text, {"project": question.project, "bound": EXACT_ROWS + 1}).fetchone()
    assert row is not None
    return int(row["rows"])


def _by_words(
    conn: Connection, type_: Type, question: Question, corpus: Corpus, rows: int | None, limit: int
) -> dict[int, int]:
    if not corpus.terms:
        return {}
    share = 1.0
    if rows is not None and corpus.documents:
        share = min(1.0, rows / corpus.documents)
    rare = pick_rarest(corpus.terms, share=share)
    q = queries("search")
    text = q.notes_lexical if type_ == "note" else q.turns_lexical
    query, params = _compose(text, question, corpus.terms, corpus)
    found = conn.execute(query, {**params, "rare": tsquery(rare), "limit": limit})
    return {int(row["id"]): rank for rank, row in enumerate(found, 1)}


def _by_meaning(
    conn: Connection, type_: Type, question: Question, rows: int | None, limit: int
) -> dict[int, int]:
    if question.vector is None or question.space is None:
        return {}
    q = queries("search")
    within = rows is not None and rows <= EXACT_ROWS
    if type_ == "note":
        text = q.notes_semantic_within if within else q.notes_semantic
    else:
        text = q.turns_semantic_within if within else q.turns_semantic
    query, params = _compose(text, question, (), None)
    found = conn.execute(query, {**params, "limit": limit, "bound": EXACT_ROWS}).fetchall()
    # An iterative scan gives nearly sorted rows.
    found.sort(key=lambda row: -row["cosine"])
    return {int(row["id"]): rank for rank, row in enumerate(found, 1)}


def _compose(
    text: LiteralString, question: Question, terms: Sequence[Term], corpus: Corpus | None
) -> tuple[sql.Composed, dict[str, Any]]:
    """A named query with {bm25}, {norm}, {space}, {vector} and {cosine} filled in, and its parameters."""
    params: dict[str, Any] = {
        "now": question.now, "project": question.project, "session": question.session, "vector": question.vector,
    }  # fmt: skip
    score, more = _bm25(terms)
    params |= more
    average = corpus.average_length if corpus else 0.0
    fixed, slope = (K1 * (1 - B), K1 * B / average) if average else (K1, 0.0)
    norm = sql.SQL("{fixed}::float8 + {slope}::float8 * n.tsv_length").format(
        fixed=sql.Literal(fixed), slope=sql.Literal(slope)
    )
    space = question.space
    vector: sql.Composable = sql.SQL("vector")
    cosine: sql.Composable = sql.SQL("null::float8")
    if space is not None:
        vector = sql.SQL("{kind}({dim})").format(kind=vector_type(space.dim), dim=sql.Literal(space.dim))
        if question.vector is not None:
            cosine = sql.SQL("1 - (v.embedding::{v} <=> %(vector)s::{v})").format(v=vector)
    query = sql.SQL(text).format(
        bm25=score, norm=norm, space=sql.Literal(space.id if space else 0), vector=vector, cosine=cosine
    )
    return query, params


def _bm25(terms: Sequence[Term]) -> tuple[sql.Composable, dict[str, Any]]:
    """BM25 written out over the terms: idf × (K1 + 1) × (1 - norm / (count + norm)), summed (rules/bm25.py)."""
    if not terms:
        return sql.SQL("0.0::float8"), {}
    params: dict[str, Any] = {"bounds": count_bounds(), "whole": sum(term.idf for term in terms)}
    parts = []
    for number, term in enumerate(terms):
        params[f"term{number}"], params[f"idf{number}"] = tsquery([term]), term.idf
        parts.append(
            sql.SQL(
                "{idf} / (width_bucket(ts_rank(n.tsv, {term}::tsquery)::float8, %(bounds)s::float8[]) + doc.norm)"
            ).format(idf=sql.Placeholder(f"idf{number}"), term=sql.Placeholder(f"term{number}"))
        )
    score = sql.SQL("{scale}::float8 * (%(whole)s - doc.norm * ({parts}))").format(
        scale=sql.Literal(K1 + 1), parts=sql.SQL(" + ").join(parts)
    )
    return score, params
