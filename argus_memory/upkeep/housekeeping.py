"""What is tidied up daily in the memory itself: term frequencies, vectors of retired spaces, planner figures."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import psycopg

from argus_memory.db import Database
from argus_memory.stages.spaces import drop_retired_vectors
from argus_memory.stages.terms import refresh_terms


@dataclass(frozen=True, slots=True)
class HousekeepingReport:
    """Documents whose terms were counted, by track; vectors taken away with their spaces."""

    turn_documents: int
    note_documents: int
    turn_vectors_dropped: int
    note_vectors_dropped: int


def keep_house(db: Database, *, now: datetime) -> HousekeepingReport:
    """Count the terms again, drop the vectors of retired spaces, and let the planner look at the tables anew."""
    terms = refresh_terms(db, now=now)
    dropped = drop_retired_vectors(db)
    _analyze(db)
    return HousekeepingReport(
        terms.documents.get("turn", 0), terms.documents.get("note", 0), dropped.turns, dropped.notes
    )


def _analyze(db: Database) -> None:
    """Autovacuum may be off on a server that is not ours; a table of another owner is passed over by Postgres."""
    with psycopg.connect(db.dsn, autocommit=True) as connection:
        connection.execute("analyze (skip_locked) raw_items, turns, episodes, distilled_notes, distill_state")
