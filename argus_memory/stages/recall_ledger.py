"""The ledger: every recall is one row of `injections`, an empty or a skipped one too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from psycopg.types.json import Jsonb

from argus_memory.db import Connection, queries
from argus_memory.rules.recall_choice import MAX_DROPPED, Dropped

QUERY_CHARS = 2000  # of a prompt that are kept; the whole is a turn of its own


@dataclass(frozen=True, slots=True)
class Injection:
    """What one recall gave. Scores of notes: salience for context, the final order's and plain RRF for a prompt."""

    prompt_mode: bool
    now: datetime
    session: str | None = None
    query: str | None = None
    cwd: str | None = None
    project: str | None = None
    note_ids: Sequence[int] = ()
    note_scores: Sequence[float] = ()
    rrf_scores: Sequence[float] = ()
    turn_ids: Sequence[int] = ()
    turn_scores: Sequence[float] = ()
    dropped: Sequence[Dropped] = ()
    skipped: str | None = None
    degraded: str | None = None
    floor: float | None = None
    characters: int = 0
    milliseconds: float = 0.0
    host: str | None = None


def record_injection(conn: Connection, injection: Injection) -> int:
    """Write the row and count what was shown; returns the row's id. The query is kept up to QUERY_CHARS."""
    q = queries("recall")
    conn.execute(q.answer_at_once)
    params = {name: getattr(injection, name) for name in Injection.__slots__}
    params |= {name: list(params[name]) for name in _LISTS}
    params["query"] = injection.query[:QUERY_CHARS].replace("\0", "") if injection.query is not None else None
    params["dropped"] = Jsonb([_dropped(each) for each in injection.dropped[:MAX_DROPPED]])
    row = conn.execute(q.insert_injection, params).fetchone()
    assert row is not None
    if injection.note_ids:
        conn.execute(q.count_shown, {"ids": list(injection.note_ids), "now": injection.now})
    return int(row["id"])


def find_seen(conn: Connection, session: str | None) -> tuple[frozenset[int], frozenset[int]]:
    """Notes and turns the session was given since its last compaction, and so has in its context."""
    if not session:
        return frozenset(), frozenset()
    row = conn.execute(queries("recall").seen_in_session, {"session": session}).fetchone()
    assert row is not None
    return frozenset(row["note_ids"]), frozenset(row["turn_ids"])


_LISTS = ("note_ids", "note_scores", "rrf_scores", "turn_ids", "turn_scores")


def _dropped(each: Dropped) -> dict[str, object]:
    return {
        "type": each.type, "id": each.id, "score": round(each.score, 4), "rrf_score": round(each.rrf_score, 5),
        "reason": each.reason,
    }  # fmt: skip
