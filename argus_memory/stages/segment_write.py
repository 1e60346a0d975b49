"""What segmentation writes for one session: episodes kept, replaced and closed, with their events and checks."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg.types.json import Jsonb

from argus_memory.db import Connection, queries
from argus_memory.rules.boundaries import Span
from argus_memory.stages.segment_read import TurnRow

LATE, CONTINUED = "late-turn", "continued"  # why an episode is replaced


@dataclass(frozen=True, slots=True)
class Written:
    """Ids of the episodes closed and replaced, the turns of the closed ones, and why each was closed."""

    closed: tuple[int, ...]
    replaced: tuple[int, ...]
    turns: int
    reasons: tuple[str, ...]


def write_spans(
    conn: Connection, session: str, rows: Sequence[TurnRow], spans: Sequence[Span], *, now: datetime, late: bool
) -> Written:
    """Make the session's episodes from `rows[0]` on equal to the closed `spans`.

    Raises psycopg LockNotAvailable when an episode that must be replaced is being distilled at this moment.
    """
    members = [[row.raw_id for row in rows[span.start : span.end]] for span in spans]
    keys = [content_key(ids) if span.reason else None for span, ids in zip(spans, members, strict=True)]
    known = sorted({row.episode_id for row in rows if row.episode_id is not None})
    existing = conn.execute(queries("segment").episodes_of, {"ids": known}).fetchall()
    kept = {row["content_key"]: row["id"] for row in existing if row["content_key"] in keys}
    stale = [row["id"] for row in existing if row["content_key"] not in kept]
    _replace(conn, stale, now, LATE if late else CONTINUED)
    ids: list[int | None] = []
    closed: list[tuple[int, Span]] = []
    for span, key, raw_ids in zip(spans, keys, members, strict=True):
        episode_id = kept.get(key) if key else None
        if key and episode_id is None:
            episode_id = _close(conn, session, rows, span, raw_ids, key, now)
            closed.append((episode_id, span))
        ids.append(episode_id)
    _record_replacements(conn, rows, spans, ids, stale, LATE if late else CONTINUED)
    _record_checks(conn, session, spans, ids)
    return Written(
        closed=tuple(episode_id for episode_id, _ in closed),
        replaced=tuple(stale),
        turns=sum(span.end - span.start for _, span in closed),
        reasons=tuple(str(span.reason) for _, span in closed),
    )


def content_key(raw_ids: Sequence[int]) -> str:
    """md5 over the raw ids in the order said."""
    return hashlib.md5(",".join(map(str, raw_ids)).encode(), usedforsecurity=False).hexdigest()


def _replace(conn: Connection, stale: Sequence[int], now: datetime, reason: str) -> None:
    if not stale:
        return
    params = {"ids": list(stale), "now": now, "reason": reason}
    conn.execute(queries("segment").lock_distill_state, params)
    conn.execute(queries("segment").replace_episodes, params)
    conn.execute(queries("segment").skip_replaced_units, params)
    conn.execute(queries("segment").release_turns, params)


def _close(
    conn: Connection,
    session: str,
    rows: Sequence[TurnRow],
    span: Span,
    raw_ids: list[int],
    key: str,
    now: datetime,
) -> int:
    first, last = rows[span.start], rows[span.end - 1]
    episode = conn.execute(
        queries("segment").insert_episode,
        {
            "session": session,
            "source": first.source,
            "raw_ids": raw_ids,
            "first_raw_id": first.raw_id,
            "last_raw_id": last.raw_id,
            "blocks": span.blocks,
            "started_at": first.said_at,
            "ended_at": last.said_at,
            "reason": span.reason,
            "score": span.score,
            "content_key": key,
            "now": now,
        },
    ).fetchone()
    assert episode is not None
    params = {
        "episode_id": episode["id"],
        "project": episode["project"],
        "raw_ids": raw_ids,
        "started_at": first.said_at,
    }
    conn.execute(queries("segment").attach_turns, params)
    conn.execute(queries("segment").move_notes, params)
    conn.execute(queries("segment").queue_unit, params)
    _record_event(conn, episode["id"], "closed", {"reason": span.reason, "score": span.score})
    return int(episode["id"])


def _record_replacements(
    conn: Connection,
    rows: Sequence[TurnRow],
    spans: Sequence[Span],
    ids: Sequence[int | None],
    stale: Sequence[int],
    reason: str,
) -> None:
    """For each replaced episode: the turns that reopened it, and the episodes that hold its turns now."""
    new_turns = [row.raw_id for row in rows if row.episode_id is None]
    for old in stale:
        by = sorted(
            {
                episode_id
                for span, episode_id in zip(spans, ids, strict=True)
                if episode_id is not None and any(row.episode_id == old for row in rows[span.start : span.end])
            }
        )
        _record_event(conn, old, "reopened", {"reason": reason, "new_turns": new_turns[:50]})
        _record_event(conn, old, "replaced", {"reason": reason, "by": by})


def _record_event(conn: Connection, episode_id: int, event: str, detail: dict[str, Any]) -> None:
    conn.execute(
        queries("segment").insert_event, {"episode_id": episode_id, "event": event, "detail": Jsonb(detail)}
    )


def _record_checks(conn: Connection, session: str, spans: Sequence[Span], ids: Sequence[int | None]) -> None:
    """Every check once: a boundary that was asked about before, with the same outcome, is no new row."""
    params = [
        {
            "session": session,
            "episode_id": episode_id,
            "before_raw_id": check.before_raw_id,
            "after_raw_id": check.after_raw_id,
            "reason": check.reason,
            "score": check.score,
            "threshold": check.threshold,
            "fired": check.fired,
            "status": check.status,
        }
        for span, episode_id in zip(spans, ids, strict=True)
        for check in span.checks
    ]
    with conn.cursor() as cursor:
        cursor.executemany(queries("segment").insert_check, params)
