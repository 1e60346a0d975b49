"""What a person sees and decides of the to-dos noticed in memory; a decision is an event like any other evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from argus_memory.db import Database, queries
from argus_memory.errors import Conflict, NotFound

Decision = Literal["verified", "dropped", "open"]
UNSETTLED = ("open", "claimed-done", "stale")
EVERY = ("open", "claimed-done", "stale", "verified", "dropped")


@dataclass(frozen=True, slots=True)
class TaskItems:
    """To-dos with their status; `total`: of the chosen statuses, `counts`: of every status."""

    items: tuple[Mapping[str, Any], ...]
    total: int
    counts: Mapping[str, int]


def list_task_items(
    db: Database, *, statuses: Sequence[str] = UNSETTLED, project: str | None = None, limit: int = 50
) -> TaskItems:
    """Soonest due first, then the newest."""
    q = queries("task_items")
    rows = db.fetch_all(q.list_items, {"statuses": list(statuses), "project": project, "limit": limit})
    counts = {row["status"]: row["n"] for row in db.fetch_all(q.count_items)}
    return TaskItems(tuple(rows), rows[0]["total"] if rows else 0, counts)


def get_task_item(db: Database, item_id: int) -> Mapping[str, Any]:
    """The to-do with its `events`, oldest first; raises NotFound."""
    q = queries("task_items")
    row = db.fetch_one(q.get_item, {"id": item_id})
    if row is None:
        raise NotFound(f"there is no to-do {item_id}: `argus todo list --all` shows every one")
    return {**row, "events": db.fetch_all(q.list_events, {"id": item_id})}


def decide_task_item(db: Database, item_id: int, to: Decision, *, actor: str, now: datetime) -> str:
    """Set a to-do's status and return the one it had; raises NotFound, and Conflict where it has that status."""
    q = queries("task_items")
    with db.transaction() as conn:
        row = conn.execute(q.get_item, {"id": item_id}).fetchone()
        if row is None:
            raise NotFound(f"there is no to-do {item_id}: `argus todo list --all` shows every one")
        before = str(row["status"])
        if before == to:
            raise Conflict(f"to-do {item_id} is {to} already")
        moved = {"id": item_id, "from": before, "to": to, "at": now}
        if conn.execute(q.move_item, moved).fetchone() is None:
            raise Conflict(f"to-do {item_id} changed at this moment: look at it again")
        conn.execute(
            q.insert_event,
            {
                "id": item_id, "at": now, "from": before, "to": to, "evidence": "person", "evidence_id": actor,
                "source": f"person {actor}", "quote": None, "method": "person", "score": None,
            },
        )  # fmt: skip
    return before
