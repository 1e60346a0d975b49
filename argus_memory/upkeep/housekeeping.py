"""What is tidied up daily in the memory itself: term frequencies, vectors of retired spaces, planner figures, and
what the watchers measured more than a year ago."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

import psycopg

from argus_memory.db import Database, queries
from argus_memory.stages.centroids import rebuild_centroids
from argus_memory.stages.spaces import drop_retired_vectors
from argus_memory.stages.terms import refresh_terms
from argus_memory.upkeep.redacting import sweep

# A year and a month: so that this month can be held against the same one of last year.
MEASURED_KEPT = timedelta(days=400)


@dataclass(frozen=True, slots=True)
class HousekeepingReport:
    """Documents whose terms were counted, by track; vectors taken away with their spaces; measurements forgotten;
    tables rewritten that a redaction had left dead rows in; episodes that read as if they were of another project,
    by centroids made anew."""

    turn_documents: int
    note_documents: int
    turn_vectors_dropped: int
    note_vectors_dropped: int
    audit_results_forgotten: int
    slo_measurements_forgotten: int
    health_samples_forgotten: int
    tables_swept: int = 0
    project_mismatches: int = 0


def keep_house(db: Database, *, now: datetime) -> HousekeepingReport:
    """Count the terms again, drop the vectors of retired spaces, and let the planner look at the tables anew."""
    terms = refresh_terms(db, now=now)
    dropped = drop_retired_vectors(db)
    audits, slos, samples = forget_measured(db, before=now - MEASURED_KEPT)
    swept, _ = sweep(db, now=now)
    _analyze(db)
    return HousekeepingReport(
        terms.documents.get("turn", 0), terms.documents.get("note", 0), dropped.turns, dropped.notes, audits, slos,
        samples, len(swept), rebuild_centroids(db, now=now),
    )  # fmt: skip


def forget_measured(db: Database, *, before: datetime) -> tuple[int, int, int]:
    """Delete answers of audits, service levels and health from before a moment; returns how many of each."""
    q = queries("audit_history")
    with db.transaction() as conn:
        audits = conn.execute(q.forget_results, {"before": before}).rowcount
        slos = conn.execute(q.forget_measurements, {"before": before}).rowcount
        return audits, slos, conn.execute(q.forget_samples, {"before": before}).rowcount


def _analyze(db: Database) -> None:
    """Autovacuum may be off on a server that is not ours; a table of another owner is passed over by Postgres."""
    with psycopg.connect(db.dsn, autocommit=True) as connection:
        connection.execute("analyze (skip_locked) raw_items, turns, episodes, distilled_notes, distill_state")
