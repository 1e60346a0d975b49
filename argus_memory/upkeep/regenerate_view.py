"""Earlier regenerations, as a person looks at them."""

from __future__ import annotations

from typing import Any

from argus_memory.db import Database, queries
from argus_memory.errors import NotFound

LISTED = 30


def list_regenerations(db: Database, *, limit: int = LISTED) -> list[dict[str, Any]]:
    """The latest first, with counts and how each ended."""
    return list(db.fetch_all(queries("regeneration").list, {"id": None, "limit": limit}))


def get_regeneration(db: Database, regeneration_id: int) -> dict[str, Any]:
    """One of them; raises NotFound."""
    row = db.fetch_one(queries("regeneration").list, {"id": regeneration_id, "limit": 1})
    if row is None:
        raise NotFound(f"there is no regeneration {regeneration_id}; `argus regenerate list` shows them")
    return row


def list_units(db: Database, regeneration_id: int) -> list[dict[str, Any]]:
    """What was replayed, and what became of each unit."""
    return list(db.fetch_all(queries("regeneration").units, {"id": regeneration_id}))


def list_changes(db: Database, regeneration_id: int) -> list[dict[str, Any]]:
    """The diff, one row a note on either side, without what only a switch needs."""
    rows = db.fetch_all(queries("regeneration").lines, {"id": regeneration_id})
    return [{name: value for name, value in row.items() if name != "candidate"} for row in rows]
