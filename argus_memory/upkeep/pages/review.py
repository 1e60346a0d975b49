"""What waits for a person, of all kinds in one list, and merges that were settled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from psycopg.rows import DictRow

from argus_memory.db import Database, queries
from argus_memory.upkeep.pages.keyset import Slice, Sort, Wanted, fetch_page
from argus_memory.upkeep.review_queue import SinceLooked

WAITING_SORTS: Final = (
    Sort("newest", "Asked", "s.at"),
    Sort("oldest", "Asked", "s.at", descending=False),
    Sort("closest", "Closeness", "coalesce(s.similarity, -1)::float8", "number"),
)
SETTLED_SORTS: Final = (
    Sort("newest", "Settled", "coalesce(s.decided_at, s.at)"),
    Sort("closest", "Closeness", "coalesce(s.similarity, -1)::float8", "number"),
)
SETTLED: Final = ("applied", "approved", "rejected", "undone")
ROWS: Final = 20  # each is two texts


@dataclass(frozen=True, slots=True)
class Reviews:
    """`counts` of all that wait, by kind; `since`: what is new since a person last looked."""

    rows: Slice[DictRow]
    counts: dict[str, int]
    since: SinceLooked


def find_reviews(db: Database, filters: dict[str, Any], *, settled: bool, wanted: Wanted) -> Reviews:
    """`filters`: kind and project of what waits, status and project of what is settled; None where not narrowed."""
    q = queries("pages_review")
    with db.transaction() as conn:
        query, count = (q.settled, q.count_settled) if settled else (q.waiting, q.count_waiting)
        rows = fetch_page(conn, query, count, filters, wanted)
        counts = conn.execute(q.kinds).fetchone()
        since = conn.execute(queries("review").counts_since).fetchone()
    assert counts is not None
    assert since is not None
    return Reviews(rows, dict(counts), SinceLooked(**since))
