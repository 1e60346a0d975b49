"""What the page of the outbox shows: messages and every try to send them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from psycopg.rows import DictRow

from argus_memory.db import Database, queries
from argus_memory.errors import NotFound
from argus_memory.settings import Settings
from argus_memory.upkeep.pages.keyset import Slice, Sort, Wanted, fetch_page
from argus_memory.watch.channels import MAIN, describe_lack, find_channels

SORTS: Final = (
    Sort("newest", "Written", "s.created_at"),
    Sort("oldest", "Written", "s.created_at", descending=False),
    Sort("attempts", "Tries", "s.attempts::float8", "number"),
)
STATUSES: Final = ("pending", "sending", "sent", "folded", "gave-up")
KINDS: Final = ("alert", "recovery", "reminder", "digest", "deliver", "answer")
ATTEMPTS_SHOWN: Final = 100


@dataclass(frozen=True, slots=True)
class Outbox:
    """`channels`: those that are configured; `lack`: why nothing can be sent at all, None where a target is."""

    messages: Slice[DictRow]
    channels: Sequence[str]
    lack: str | None


@dataclass(frozen=True, slots=True)
class Message:
    row: DictRow
    attempts: Sequence[DictRow]
    lack: str | None


def read_outbox(db: Database, settings: Settings, filters: dict[str, Any], *, wanted: Wanted) -> Outbox:
    """`filters`: status, channel and kind, None where not narrowed."""
    q = queries("pages_deliveries")
    with db.transaction() as conn:
        messages = fetch_page(conn, q.deliveries, q.count_deliveries, filters, wanted)
    return Outbox(messages, sorted({MAIN, *find_channels(settings).by_name}), _lack(settings))


def find_message(db: Database, settings: Settings, id_: int) -> Message:
    """Raises NotFound."""
    q = queries("pages_deliveries")
    with db.transaction() as conn:
        row = conn.execute(q.delivery, {"id": id_}).fetchone()
        if row is None:
            raise NotFound(f"there is no message {id_}")
        attempts = conn.execute(q.attempts, {"id": id_, "limit": ATTEMPTS_SHOWN}).fetchall()
    return Message(row, attempts, _lack(settings))


def _lack(settings: Settings) -> str | None:
    return describe_lack(settings) if find_channels(settings).is_empty else None
