"""Bring the store's search terms to the text-search configuration that is set (ARGUS_TEXT_SEARCH)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from argus_memory.db import Database, queries
from argus_memory.errors import SettingError
from argus_memory.stages.terms import refresh_terms

q = queries("text_search")


@dataclass(frozen=True, slots=True)
class Reindexed:
    """`before` is the configuration the terms were made with; both counts are of rows."""

    before: str
    turns: int
    notes: int


def apply_text_search(db: Database, configuration: str, *, now: datetime) -> Reindexed | None:
    """Make all terms anew in one transaction when the setting differs from the store's; None: nothing to do.

    Raises SettingError, naming what the server has, for a configuration it does not know.
    """
    with db.transaction() as conn:
        row = conn.execute(q.lock_setting).fetchone()
        assert row is not None
        if row["value"] == configuration:
            return None
        if conn.execute(q.find_configuration, {"name": configuration}).fetchone() is None:
            known = ", ".join(found["name"] for found in conn.execute(q.find_configurations))
            raise SettingError("ARGUS_TEXT_SEARCH", f"the database has no configuration {configuration!r}", known)
        conn.execute(q.change_setting, {"name": configuration, "now": now})
        turns = conn.execute(q.reindex_turns).rowcount
        notes = conn.execute(q.reindex_notes).rowcount
    refresh_terms(db, now=now)
    return Reindexed(row["value"], turns, notes)
