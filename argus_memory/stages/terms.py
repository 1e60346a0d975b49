"""How rare each term is: document frequencies for BM25, kept apart from the rows they are counted over.

They may be somewhat behind: a term that is not in the table counts as rare. They are counted again when a track has
grown by GROWTH since (by the pass of embed) and by housekeeping.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from argus_memory.db import Connection, Database, queries
from argus_memory.rules.bm25 import Corpus, Term, make_terms

Track = Literal["turn", "note"]
TRACKS: tuple[Track, ...] = ("turn", "note")
GROWTH = 0.2  # idf moves by at most log(1.2) = 0.18 of about 5 until the next count
LEAST_DOCUMENTS = 3  # terms of fewer are not kept
COUNT_BOUND = 5000  # rows looked at for one term where there are no statistics yet


@dataclass(frozen=True, slots=True)
class TermsReport:
    """Documents counted by track; a track that was not counted is absent."""

    documents: dict[str, int]


def refresh_terms(db: Database, *, now: datetime, tracks: Sequence[Track] = TRACKS) -> TermsReport:
    """Count every term again, one transaction a track; a track that another process counts just now is left to it."""
    counted: dict[str, int] = {}
    for track in tracks:
        with db.transaction() as conn:
            row = conn.execute(queries("terms").lock_terms).fetchone()
            if row is None or not row["got"]:
                continue
            measured = conn.execute(
                queries("terms").measure_turns if track == "turn" else queries("terms").measure_notes
            ).fetchone()
            assert measured is not None
            conn.execute(queries("terms").clear_terms, {"track": track})
            fill = queries("terms").fill_turns if track == "turn" else queries("terms").fill_notes
            conn.execute(fill, {"least": LEAST_DOCUMENTS})
            conn.execute(queries("terms").set_statistics, {"track": track, "now": now, **measured})
            counted[track] = int(measured["documents"])
    return TermsReport(counted)


def refresh_terms_if_grown(db: Database, *, now: datetime) -> TermsReport:
    """Count again the tracks that grew by GROWTH, or were never counted."""
    known = {row["track"]: row for row in db.fetch_all(queries("terms").growth)}
    due: list[Track] = [
        track
        for track in TRACKS
        if track not in known or known[track]["since"] > GROWTH * known[track]["documents"]
    ]
    return refresh_terms(db, now=now, tracks=due)


def find_terms(conn: Connection, track: Track, query: str, skip: frozenset[str] = frozenset()) -> Corpus:
    """The terms of a query, rarest first, with the corpus figures BM25 needs; `skip` are lexemes to leave out."""
    rows = conn.execute(queries("terms").find_terms, {"track": track, "query": query}).fetchall()
    if rows:
        documents, average = int(rows[0]["whole"]), float(rows[0]["average_length"])
    else:
        count = queries("terms").count_turn_terms if track == "turn" else queries("terms").count_note_terms
        rows = conn.execute(count, {"query": query, "bound": COUNT_BOUND}).fetchall()
        documents, average = COUNT_BOUND, 0.0
    frequencies = {row["lexeme"]: int(row["documents"]) for row in rows if row["lexeme"] not in skip}
    return Corpus(make_terms(frequencies, documents), documents, average)


__all__ = ["Corpus", "Term", "TermsReport", "find_terms", "refresh_terms", "refresh_terms_if_grown"]
