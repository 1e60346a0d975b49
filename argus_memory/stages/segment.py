"""Segment: turns → episodes. Every boundary check is a row of `segment_checks`, every change one of `episode_events`.

One session at a time, in one transaction, under an advisory lock of its own, so that two runs never work on one:

1. Load its turns from as far back as its pending turns can matter (segment_read.py).
2. Wait for missing turn vectors, up to TURN_VECTOR_PATIENCE; then size and gap decide without them.
3. Let rules/boundaries.py cut.
4. Keep the episodes that come out as they were, replace the others, close the new ones (segment_write.py).

The last span stays open unless a sign ended it: the live tail is never distilled.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime

import psycopg

from argus_memory.db import Connection, Database, queries
from argus_memory.rules.boundaries import UNAVAILABLE, Limits, decide
from argus_memory.settings import SIZE_CAP, TIME_GAP, TURN_VECTOR_PATIENCE, Settings
from argus_memory.stages.passes import describe_error, stage_pass
from argus_memory.stages.segment_read import (
    TopicSpace,
    find_topic_space,
    find_wait,
    load_frozen,
    load_session,
    load_signs,
    load_vectors,
)
from argus_memory.stages.segment_write import write_spans

SESSIONS_A_PASS = 200

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Due:
    """A session whose tail should close, and why.

    vectors_missing_since: the oldest of its turns that still waits to be embedded, None when none does. `last_raw_id`
    changes with every new turn, so (session, last_raw_id) names this work.
    """

    session: str
    project: str | None
    reason: str
    turns: int
    first_at: datetime
    last_at: datetime
    last_raw_id: int
    vectors_missing_since: datetime | None

    @property
    def day(self) -> date:
        """The partition of the tail's first turn (UTC)."""
        return self.first_at.date()


@dataclass(frozen=True, slots=True)
class SegmentReport:
    """Counts of one pass. `waiting`: sessions left for turn vectors; `busy`: worked on elsewhere; `left`: beyond the
    limit; `failed`: sessions whose transaction was rolled back. `fired` counts closed episodes by reason."""

    sessions: int = 0
    episodes_closed: int = 0
    episodes_replaced: int = 0
    turns_closed: int = 0
    checks: int = 0
    unavailable: int = 0
    waiting: int = 0
    busy: int = 0
    failed: int = 0
    left: int = 0
    fired: Mapping[str, int] = field(default_factory=dict)

    def counts(self) -> dict[str, object]:
        return {name: getattr(self, name) for name in SegmentReport.__slots__ if name != "fired"} | {
            "fired": dict(self.fired)
        }


def find_due(
    db: Database, settings: Settings, now: datetime, sessions: Sequence[str] | None = None
) -> list[Due]:
    """The tails that are due to close, newest first; one query, its time grows with the open tails alone."""
    rows = db.fetch_all(
        queries("segment").find_due,
        {
            "now": now,
            "gap": TIME_GAP,
            "size": SIZE_CAP,
            "idle": settings.idle_close,
            "sessions": None if sessions is None else list(sessions),
        },
    )
    return [Due(**row) for row in rows]


def segment_pending(
    db: Database,
    settings: Settings,
    *,
    now: datetime,
    sessions: Sequence[str] | None = None,
    limit: int = SESSIONS_A_PASS,
    run_id: str | None = None,
) -> SegmentReport:
    """Close what is due, at most `limit` sessions, newest first; `sessions` narrows it down.

    A session that fails is rolled back, logged and counted, and the others go on; the pass is then recorded as
    failed. Raises Unreachable without a database.
    """
    with stage_pass(db, "segment", run_id=run_id) as trace:
        due = find_due(db, settings, now, sessions)
        counts: Counter[str] = Counter(left=max(0, len(due) - limit))
        fired: Counter[str] = Counter()
        for each in due[:limit]:
            try:
                with db.transaction() as conn:
                    outcome = _segment_session(conn, each, now, settings, fired)
                counts.update(outcome)
            except psycopg.errors.LockNotAvailable:
                counts["busy"] += 1
            except psycopg.Error as error:
                counts["failed"] += 1
                log.error("session %s could not be segmented: %s", each.session, describe_error(error))
                trace.error = trace.error or f"session {each.session}: {describe_error(error)}"
        report = SegmentReport(**counts, fired=dict(fired))
        trace.counts.update(report.counts())
        log.info("segment: %s", trace.counts)
    return report


def _segment_session(
    conn: Connection, due: Due, now: datetime, settings: Settings, fired: Counter[str]
) -> Counter[str]:
    row = conn.execute(queries("segment").claim_session, {"session": due.session}).fetchone()
    if row is None or not row["claimed"]:
        return Counter(busy=1)
    rows = load_session(conn, due.session, Limits(idle=settings.idle_close))
    if not rows:  # closed by another run since the question was asked
        return Counter()
    space = find_topic_space(conn)
    vectors = load_vectors(conn, space, rows)
    if space and _must_wait(conn, space, [row.raw_id for row in rows if row.raw_id not in vectors], now):
        return Counter(waiting=1)
    spans = decide(
        [row.span_turn(vectors) for row in rows],
        now,
        Limits(idle=settings.idle_close, topic=space.threshold if space else None),
        load_signs(conn, due.session, rows[-1], settings.idle_close),
        join_answers=rows[0].source == "codex",
        frozen=load_frozen(conn, due.session, rows),
    )
    written = write_spans(conn, due.session, rows, spans, now=now, late=due.reason == "late-turn")
    fired.update(written.reasons)
    checks = [check for span in spans for check in span.checks]
    return Counter(
        sessions=1,
        episodes_closed=len(written.closed),
        episodes_replaced=len(written.replaced),
        turns_closed=written.turns,
        checks=len(checks),
        unavailable=sum(check.status == UNAVAILABLE for check in checks),
    )


def _must_wait(conn: Connection, space: TopicSpace, missing: list[int], now: datetime) -> bool:
    """Whether vectors that the topic question needs may still come."""
    since = find_wait(conn, space, missing) if missing else None
    return since is not None and now - since < TURN_VECTOR_PATIENCE
