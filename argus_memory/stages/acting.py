"""Who changes a note, and when: the triggers that write history read both from the transaction."""

from __future__ import annotations

from datetime import datetime

from argus_memory.db import Connection

MACHINE = "argus"  # who does what no person and no agent asked for


def as_actor(conn: Connection, actor: str, *, now: datetime) -> None:
    """Until this transaction ends its changes are `actor`'s and happen at `now`; a later call overrides."""
    conn.execute(
        "select set_config('argus.actor', %s, true), set_config('argus.now', %s, true)", (actor, now.isoformat())
    )
