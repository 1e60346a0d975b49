"""Episodes replayed from raw turns by the present rules, and the switch to those that would be cut otherwise.

The same turns under the same rules give the same episodes, so most days have nothing here. After a change of the
rules or of the embedding space some spans differ: each is made anew as one unit, and the switch replaces the old
episodes in its own transaction. A session with turns still to be closed, or to be embedded, is left to segmentation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from psycopg.rows import DictRow

from argus_memory.db import Connection, Database, queries
from argus_memory.records import EpisodeTurn, Unit
from argus_memory.rules.boundaries import Limits, Span, decide, find_restart
from argus_memory.settings import Settings
from argus_memory.stages.distill_units import PassedOver
from argus_memory.stages.segment_read import (
    PAGE,
    TurnRow,
    find_topic_space,
    first_of_episodes,
    load_frozen,
    load_signs,
    load_vectors,
)
from argus_memory.stages.segment_write import write_spans
from argus_memory.upkeep.regenerate_read import Days, Replay


@dataclass(frozen=True, slots=True)
class Recut:
    """A stretch of one session that would be cut otherwise: its turns and its spans, and the units they make."""

    session: str
    rows: tuple[TurnRow, ...]
    spans: tuple[Span, ...]
    replays: tuple[Replay, ...]


@dataclass(frozen=True, slots=True)
class Replayed:
    """left: sessions that segmentation has work with."""

    recuts: tuple[Recut, ...]
    left: int = 0


def replay_episodes(conn: Connection, settings: Settings, days: Days, *, now: datetime) -> Replayed:
    """Cut the turns of these days again, session by session."""
    recuts: list[Recut] = []
    left = 0
    for row in conn.execute(queries("regeneration").sessions_of_days, days.params).fetchall():
        recut = replay_session(conn, settings, days, row["session"], now=now)
        if isinstance(recut, Recut):
            recuts.append(recut)
        left += recut == "left"
    return Replayed(tuple(recuts), left)


def replay_session(
    conn: Connection, settings: Settings, days: Days, session: str, *, now: datetime
) -> Recut | str | None:
    """The stretch that differs; None where none does; "left" where segmentation has work with the session."""
    limits = Limits(idle=settings.idle_close)
    rows, whole = _load_stretch(conn, session, days, limits)
    closed = [row.episode_id is not None for row in rows]
    if not rows or not any(closed):
        return None
    if not all(closed[: max(n for n, is_closed in enumerate(closed) if is_closed)]):
        return "left"
    space = find_topic_space(conn)
    vectors = load_vectors(conn, space, rows)
    if space and space.threshold is not None and any(row.raw_id not in vectors for row in rows):
        return "left"
    spans = decide(
        [row.span_turn(vectors) for row in rows],
        now,
        replace(limits, topic=space.threshold if space else None),
        load_signs(conn, session, rows[-1], settings.idle_close),
        join_answers=rows[0].source == "codex",
        frozen=load_frozen(conn, session, rows),
    )
    return _compare(session, rows, spans if whole else spans[:-1], days)


def _load_stretch(
    conn: Connection, session: str, days: Days, limits: Limits
) -> tuple[list[TurnRow], bool]:
    """The days' turns with what came before as far as it matters and a page behind; and whether that is the end."""
    q = queries("regeneration")
    first = conn.execute(q.first_of_days, {**days.params, "session": session}).fetchone()
    if first is None:
        return [], True
    key = {**days.params, "session": session, **first}
    found = conn.execute(q.turns_to, {**key, "page": PAGE}).fetchall()
    whole = len(found) <= first["turns"] + PAGE
    after = [TurnRow(**row) for row in found[: first["turns"] + PAGE]]
    page = PAGE
    while True:
        earlier = conn.execute(queries("segment").turns_before, {**key, "limit": page}).fetchall()
        before = [TurnRow(**row) for row in reversed(earlier)]
        rows = before + after
        start = find_restart(
            [row.span_turn() for row in rows], len(before), limits, join_answers=after[0].source == "codex"
        )
        if start is None and len(before) < page:
            start = 0
        if start is not None:
            start = first_of_episodes(rows, start)
            if start > 0 or len(before) < page:
                return rows[start:], whole
        page *= 4


def _compare(session: str, rows: Sequence[TurnRow], spans: Sequence[Span], days: Days) -> Recut | None:
    sizes: dict[int, int] = {}
    for row in rows:
        if row.episode_id is not None:
            sizes[row.episode_id] = sizes.get(row.episode_id, 0) + 1
    differing = [n for n, span in enumerate(spans) if _differs(rows, span, sizes) and _is_of(days, rows, span)]
    if not differing:
        return None
    part = spans[differing[0] : differing[-1] + 1]
    offset = part[0].start
    return Recut(
        session,
        tuple(rows[offset : part[-1].end]),
        tuple(replace(span, start=span.start - offset, end=span.end - offset) for span in part),
        tuple(_replay_of(session, rows, span) for span in part if _differs(rows, span, sizes)),
    )


def _differs(rows: Sequence[TurnRow], span: Span, sizes: Mapping[int, int]) -> bool:
    """Whether a closed span holds other turns than one episode; what is not closed yet is no difference."""
    episodes = {row.episode_id for row in rows[span.start : span.end]}
    if span.reason is None or None in episodes:
        return False
    return len(episodes) > 1 or sizes[next(e for e in episodes if e is not None)] != span.end - span.start


def _is_of(days: Days, rows: Sequence[TurnRow], span: Span) -> bool:
    return days.first <= rows[span.start].said_at.astimezone(UTC).date() <= days.last


def _replay_of(session: str, rows: Sequence[TurnRow], span: Span) -> Replay:
    turns = rows[span.start : span.end]
    episodes = tuple(sorted({row.episode_id for row in turns if row.episode_id is not None}))
    raw_ids = tuple(row.raw_id for row in turns)
    return Replay("span", raw_ids[0], _project_of(turns), turns[0].said_at, session, raw_ids, episodes)


def _project_of(turns: Sequence[TurnRow]) -> str | None:
    """The project most of its turns are in; of several, the one named first."""
    names = [row.project for row in turns]
    return max(dict.fromkeys(names), key=names.count)


def read_span(db: Database, replay: Replay) -> Unit | PassedOver:
    """A span as a unit; its id, negative, is the raw id of its first turn: it is no episode yet."""
    rows = db.fetch_all(queries("regeneration").turns_of_span, {"raw_ids": list(replay.raw_ids)})
    if len(rows) != len(replay.raw_ids):
        return PassedOver("turns of the span are missing")
    turns = tuple(map(_turn, rows))
    return Unit("episode", -replay.id, replay.project, turns, source=rows[0]["source"])


def _turn(row: DictRow) -> EpisodeTurn:
    return EpisodeTurn(
        raw_id=row["raw_id"],
        role="assistant" if row["role"] == "assistant" else "user",
        text=row["text"],
        said_at=row["said_at"],
        message_id=row["message_id"],
        position=row["position"],
    )


def switch_episodes(
    conn: Connection, settings: Settings, session: str, replays: Sequence[Replay], *, now: datetime
) -> dict[int, int] | None:
    """Make the session's episodes as they were replayed; returns the episode of each span by its first raw id.

    None, and nothing changed, where the session is at work elsewhere or would be cut in yet another way by now.
    """
    claimed = conn.execute(queries("segment").claim_session, {"session": session}).fetchone()
    if claimed is None or not claimed["claimed"]:
        return None
    moments = [replay.said_at.astimezone(UTC).date() for replay in replays]
    recut = replay_session(conn, settings, Days(min(moments), max(moments)), session, now=now)
    if not isinstance(recut, Recut) or {r.raw_ids for r in recut.replays} != {r.raw_ids for r in replays}:
        return None
    write_spans(conn, session, recut.rows, recut.spans, now=now, late=False)
    found = conn.execute(
        queries("regeneration").episodes_at, {"raw_ids": [replay.id for replay in replays]}
    ).fetchall()
    return {row["raw_id"]: row["episode_id"] for row in found}
