"""Units waiting to be distilled, as segmentation and capture leave them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime
from itertools import count

from argus_memory.db import Database
from tests.memory_rows import add_turn, at

_numbers = count(1)


def add_episode(
    db: Database,
    said: Sequence[tuple[str, str]],
    *,
    start: float = 0,
    project: str | None = "garden",
    session: str | None = None,
) -> tuple[int, list[int]]:
    """A closed, pending episode of (role, text) turns a minute apart; returns its id and the raw ids."""
    session = session or f"d{next(_numbers)}"
    raw_ids = [
        add_turn(db, text, at(start + n), role=role, session=session, project=project)
        for n, (role, text) in enumerate(said)
    ]
    episode = db.fetch_one(
        """insert into episodes (session, source, project, first_raw_id, last_raw_id, turn_count, block_count,
                                 started_at, ended_at, boundary_reason, content_key)
           values (%(session)s, 'claude-code', %(project)s, %(first)s, %(last)s, %(turns)s, %(turns)s, %(started)s,
                   %(ended)s, 'idle', %(key)s)
           returning id""",
        {
            "session": session,
            "project": project,
            "first": raw_ids[0],
            "last": raw_ids[-1],
            "turns": len(raw_ids),
            "started": at(start),
            "ended": at(start + len(raw_ids) - 1),
            "key": hashlib.md5(str(raw_ids).encode()).hexdigest(),
        },
    )
    assert episode
    with db.transaction() as conn:
        conn.execute(
            """update turns t set episode_id = %(id)s, ordinal = u.n
               from unnest(%(raw_ids)s::bigint[]) with ordinality as u (raw_id, n) where t.raw_id = u.raw_id""",
            {"id": episode["id"], "raw_ids": raw_ids},
        )
        conn.execute(
            "insert into distill_state (unit_kind, unit_id, project, said_at) values ('episode', %s, %s, %s)",
            (episode["id"], project, at(start)),
        )
    return int(episode["id"]), raw_ids


def add_item(
    db: Database,
    text: str,
    *,
    kind: str = "document",
    said_at: datetime | None = None,
    project: str | None = "garden",
) -> int:
    """A captured document, event or synthesis; capture's trigger makes it a pending unit."""
    row = db.fetch_one(
        """insert into raw_items (source, kind, body, project, dedup_key, said_at, captured_at)
           values ('feed', %s, %s, %s, %s, %s, %s) returning id""",
        (kind, text, project, f"item {next(_numbers)}", said_at or at(0), said_at or at(0)),  # type: ignore[arg-type]
    )
    assert row
    return int(row["id"])


def requeue(db: Database, kind: str, unit_id: int) -> None:
    """Make a distilled unit pending again, as a regeneration does."""
    with db.transaction() as conn:
        conn.execute(
            "update distill_state set status = 'pending' where unit_kind = %s and unit_id = %s", (kind, unit_id)
        )
