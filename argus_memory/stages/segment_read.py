"""What segmentation reads of a session: its turns from as far back as needed, their vectors, the signs of an end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from argus_memory.db import Connection, queries
from argus_memory.rules.answer_blocks import SpanTurn
from argus_memory.rules.boundaries import Limits, Signs, find_restart

PAGE = 256  # turns before the first pending one, to begin with


@dataclass(frozen=True, slots=True)
class TurnRow:
    """A row of `turns`; `terms` counts its distinct indexed words."""

    raw_id: int
    role: str
    message_id: str | None
    said_at: datetime
    position: int
    source: str
    project: str | None
    terms: int
    episode_id: int | None

    def span_turn(self, vectors: Mapping[int, NDArray[np.float32]] | None = None) -> SpanTurn:
        vector = vectors.get(self.raw_id) if vectors else None
        role = "assistant" if self.role == "assistant" else "user"
        return SpanTurn(self.raw_id, role, self.said_at, self.message_id, self.terms, vector)


@dataclass(frozen=True, slots=True)
class TopicSpace:
    """The active embedding space and its topic threshold (cosine), None when it has none."""

    id: int
    threshold: float | None


def load_session(conn: Connection, session: str, limits: Limits) -> list[TurnRow]:
    """The session's turns in the order said, from the start of the earliest span that its pending turns can change;
    empty when nothing is pending."""
    first = conn.execute(queries("segment").first_pending, {"session": session}).fetchone()
    if first is None:
        return []
    key = {"session": session, **first}
    after = [TurnRow(**row) for row in conn.execute(queries("segment").turns_from, key)]
    page = PAGE
    while True:
        found = conn.execute(queries("segment").turns_before, {**key, "limit": page}).fetchall()
        before = [TurnRow(**row) for row in reversed(found)]
        rows = before + after
        whole = len(before) < page
        start = find_restart(
            [row.span_turn() for row in rows], len(before), limits, join_answers=after[0].source == "codex"
        )
        if start is None and whole:
            start = 0
        if start is not None:
            start = first_of_episodes(rows, start)
            if start > 0 or whole:
                return rows[start:]
        page *= 4


def first_of_episodes(rows: Sequence[TurnRow], start: int) -> int:
    """Back to where the earliest episode begins that has turns from `start` on."""
    affected = {row.episode_id for row in rows[start:] if row.episode_id is not None}
    while start > 0 and rows[start - 1].episode_id in affected:
        start -= 1
    return start


def find_topic_space(conn: Connection) -> TopicSpace | None:
    row = conn.execute(queries("segment").topic_space).fetchone()
    return TopicSpace(**row) if row else None


def load_vectors(
    conn: Connection, space: TopicSpace | None, rows: Sequence[TurnRow]
) -> dict[int, NDArray[np.float32]]:
    """Turn vectors of the active space by raw id; those that are missing are left out."""
    if space is None:
        return {}
    found = conn.execute(
        queries("segment").turn_vectors, {"space_id": space.id, "raw_ids": [row.raw_id for row in rows]}
    )
    return {row["raw_id"]: row["embedding"].to_numpy() for row in found}


def find_wait(conn: Connection, space: TopicSpace, raw_ids: Sequence[int]) -> datetime | None:
    """Since when the oldest of these turns has waited to be embedded; None when none is in the queue."""
    row = conn.execute(
        queries("segment").waiting_since, {"space_id": space.id, "raw_ids": list(raw_ids)}
    ).fetchone()
    return row["since"] if row else None


def load_frozen(conn: Connection, session: str, rows: Sequence[TurnRow]) -> frozenset[int]:
    """Turns before which the topic was decided without vectors: vectors that came later change no closed episode."""
    found = conn.execute(
        queries("segment").topics_decided_blind,
        {"session": session, "raw_ids": [row.raw_id for row in rows if row.episode_id is not None]},
    )
    return frozenset(row["before_raw_id"] for row in found)


def load_signs(conn: Connection, session: str, last: TurnRow, idle: timedelta) -> Signs:
    row = conn.execute(
        queries("segment").end_signs,
        {"session": session, "last_at": last.said_at, "project": last.project, "idle": idle},
    ).fetchone()
    return Signs(**row) if row else Signs()
