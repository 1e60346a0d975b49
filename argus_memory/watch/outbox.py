"""The rows of the outbox, as a sender moves them: claimed with a lease, a part at a time, let go or finished.

Every change of a claimed row asks whether the lease is still one's own; a sender that was away for longer than LEASE
finds another's name there and leaves the message to it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Literal

from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from argus_memory.db import Connection, Database, queries
from argus_memory.rules.send_answers import Answer
from argus_memory.rules.send_pace import GROUP_WINDOW

# Longer than the longest request (a file: 5 + 40 + 15 s), and renewed before each.
LEASE: Final = timedelta(minutes=2)
# No wait of a message is longer, and no lease: what lies further off was written while the clock was ahead.
FAR: Final = timedelta(minutes=75)
Outcome = Literal["sent", "retry", "plain-text", "main-chat", "refused", "unknown"]
LOST_SENDER: Final = "the sender ended before it noted the answer"


@dataclass(frozen=True, slots=True)
class Open:
    """Which channels may be claimed from: those with a free target, all configured ones, and whether main is free."""

    channels: Collection[str]
    known: Collection[str]
    main: bool


def claim(db: Database, holder: str, open_: Open, *, now: datetime) -> DictRow | None:
    """The next message, now leased to `holder`. One taken over from a sender that died has that on record."""
    q = queries("deliveries")
    params = {
        "now": now,
        "until": now + LEASE,
        "holder": holder,
        "far": now + FAR,
        "open": list(open_.channels),
        "known": list(open_.known),
        "open_main": open_.main,
    }
    with db.transaction() as conn:
        conn.execute(q.lock_claims)
        row = conn.execute(q.claim_delivery, params).fetchone()
        if row is not None and row["taken_over"]:
            part = row["parts_sent"] + 1
            note_attempt(conn, row["id"], part, "unknown", Answer("unknown", error=LOST_SENDER), at=now)
        return row


def note_attempt(
    conn: Connection, id_: int, part: int, outcome: Outcome, answer: Answer, *, at: datetime,
    seconds: float | None = None,
) -> None:  # fmt: skip
    conn.execute(
        queries("deliveries").insert_attempt,
        {
            "id": id_,
            "at": at,
            "part": part,
            "outcome": outcome,
            "status": answer.status,
            "error": answer.error,
            "seconds": seconds,
        },
    )


def renew(db: Database, id_: int, holder: str, target: str, *, now: datetime) -> bool:
    """Before a request: is the message still ours? Where it is about to go is noted first, for the chat's pace."""
    q = queries("deliveries")
    params = {"id": id_, "holder": holder, "until": now + LEASE, "target": target}
    with db.transaction() as conn:
        if conn.execute(q.renew_lease, params).fetchone() is None:
            return False
        conn.execute(q.set_target, params)
        return True


def was_lost(db: Database, id_: int, part: int) -> bool:
    """Whether the last try of this part ended without an answer."""
    row = db.fetch_one(queries("deliveries").last_attempt, {"id": id_, "part": part})
    return row is not None and row["outcome"] == "unknown"


def record_part(
    db: Database, id_: int, holder: str, part: int, total: int, target: str, message: dict[str, Any] | None,
    answer: Answer, *, at: datetime, seconds: float,
) -> bool:  # fmt: skip
    """The part has arrived. False: the message is another's by now, and the part is on record all the same."""
    params = {
        "id": id_,
        "holder": holder,
        "part": part,
        "total": total,
        "target": target,
        "message": Jsonb([message] if message else []),
        "until": at + LEASE,
    }
    with db.transaction() as conn:
        note_attempt(conn, id_, part, "sent", answer, at=at, seconds=seconds)
        return conn.execute(queries("deliveries").record_part, params).fetchone() is not None


def release(
    db: Database, id_: int, holder: str, *, next_try_at: datetime, tried: bool, error: str | None = None,
    give_up: bool = False, attempt: tuple[int, Outcome, Answer, datetime, float] | None = None,
) -> None:  # fmt: skip
    """Let go of the message: again at `next_try_at`, or never. `attempt` is what is noted with it."""
    params = {
        "id": id_,
        "holder": holder,
        "next": next_try_at,
        "tried": int(tried),
        "error": error,
        "status": "gave-up" if give_up else "pending",
    }
    with db.transaction() as conn:
        if attempt is not None:
            part, outcome, answer, at, seconds = attempt
            note_attempt(conn, id_, part, outcome, answer, at=at, seconds=seconds)
        conn.execute(queries("deliveries").release_delivery, params)


def finish(db: Database, id_: int, holder: str, *, at: datetime, note: str | None) -> bool:
    params = {"id": id_, "holder": holder, "at": at, "note": note}
    return db.fetch_one(queries("deliveries").finish_delivery, params) is not None


def sent_to_chat(db: Database, chat: str, *, since: datetime) -> list[datetime]:
    """When this Telegram chat got something after `since`, whoever sent it."""
    params = {"chat": f"telegram:{chat}", "since": since, "until": since + 2 * GROUP_WINDOW}
    return [row["at"] for row in db.fetch_all(queries("deliveries").sent_to_chat, params)]
