"""Rows that tests of the stages start from: turns, spaces, vectors, notes, as capture and distill write them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from psycopg.types.json import Jsonb

from argus_memory.db import Database
from argus_memory.rules.uid import text_key

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
_numbers = count(1)


def at(minutes: float) -> datetime:
    """A moment that many minutes after START."""
    return START + timedelta(minutes=minutes)


def add_turn(
    db: Database,
    text: str,
    said_at: datetime,
    *,
    role: str = "user",
    session: str = "s1",
    project: str | None = "garden",
    source: str = "claude-code",
    message_id: str | None = None,
    position: int = 0,
) -> int:
    """One captured turn; returns its raw id."""
    metadata = {"role": role} | ({"message_id": message_id} if message_id else {})
    row = db.fetch_one(
        """insert into raw_items (source, kind, body, session, project, project_method, project_confidence, cwd,
                                  metadata, dedup_key, said_at, position, captured_at)
           values (%(source)s, 'turn', %(text)s, %(session)s, %(project)s, 'cwd', 0.6, '/home/kim/' || %(project)s,
                   %(metadata)s, %(key)s, %(said_at)s, %(position)s, %(said_at)s)
           returning id""",
        {
            "source": source,
            "text": text,
            "session": session,
            "project": project,
            "metadata": Jsonb(metadata),
            "key": hashlib.md5(f"{next(_numbers)}".encode()).hexdigest(),
            "said_at": said_at,
            "position": position,
        },
    )
    assert row
    return int(row["id"])


def add_dialog(db: Database, exchanges: int, *, start: float = 0, session: str = "s1", **more: Any) -> list[int]:
    """That many prompts and answers, a minute apart; returns the raw ids in order."""
    ids = []
    for number in range(exchanges):
        for role in ("user", "assistant"):
            moment = at(start + len(ids))
            text = f"{role} number {number} of {session} from minute {start:g}"
            ids.append(add_turn(db, text, moment, role=role, session=session, **more))
    return ids


def add_space(db: Database, *, dim: int = 2, **thresholds: float) -> int:
    """An active embedding space with these thresholds; returns its id."""
    row = db.fetch_one(
        """insert into embedding_spaces (model, dim, checksum, status, thresholds, calibration)
           values ('test', %s, 'c', 'active', %s, '{}') returning id""",
        (dim, Jsonb(thresholds)),  # type: ignore[arg-type]
    )
    assert row
    return int(row["id"])


def add_vector(db: Database, space: int, target: str, target_id: int, vector: Sequence[float]) -> None:
    """A vector for a turn or a note, taken off the queue as the embed stage does."""
    column = {"turn": "raw_id", "note": "note_id"}[target]
    with db.transaction() as conn:
        conn.execute(
            f"insert into {target}_vectors (space_id, {column}, dim, embedding) values (%s, %s, %s, %s::vector)",
            (space, target_id, len(vector), str(list(vector))),
        )
        conn.execute(
            "delete from embed_queue where space_id = %s and target = %s and target_id = %s",
            (space, target, target_id),
        )


def add_note(
    db: Database,
    content: str,
    *,
    raw_id: int | None = None,
    episode_id: int | None = None,
    project: str | None = "garden",
    category: str = "fact",
    confidence: float = 0.5,
    role: str | None = "user",
    said_at: datetime = START,
    uid: str | None = None,
) -> int:
    """A live note; without `raw_id` on a turn of its own with the same text. Returns its id."""
    raw = raw_id if raw_id is not None else add_turn(db, content, said_at, session=f"n{next(_numbers)}")
    row = db.fetch_one(
        """insert into distilled_notes (uid, text_key, raw_id, episode_id, title, content, category, importance, confidence,
                                        project, source_ref, role, said_at, model, valid_from)
           values (%(uid)s, %(key)s, %(raw)s, %(episode)s, left(%(content)s, 80), %(content)s, %(category)s, 0.5,
                   %(confidence)s, %(project)s, %(content)s, %(role)s, %(said_at)s, 'test', %(said_at)s)
           returning id""",
        {
            "uid": uid or f"uid-{next(_numbers)}",
            "key": text_key(content),
            "raw": raw,
            "episode": episode_id,
            "content": content,
            "category": category,
            "confidence": confidence,
            "project": project,
            "role": role,
            "said_at": said_at,
        },
    )
    assert row
    return int(row["id"])
