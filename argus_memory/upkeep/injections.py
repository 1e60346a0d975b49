"""The ledger of recalls, newest first: what was shown, and whether the answer used it. Reading changes nothing."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from argus_memory.db import Database, queries
from argus_memory.errors import UsageError

LIMIT: Final = 20
LIMIT_MAX: Final = 500


@dataclass(frozen=True, slots=True)
class Injections:
    """`injections`: each with `notes` of id, used (None: not judged), score and content (None: no longer live), and
    `outcome`: scored, no-answer, or None while its answer is waited for. `next`: `before` of the next page."""

    injections: tuple[dict[str, Any], ...]
    next: int | None


def list_injections(
    db: Database,
    *,
    now: datetime,
    before: int | None = None,
    session: str | None = None,
    project: str | None = None,
    note: int | None = None,
    limit: int = LIMIT,
) -> Injections:
    """At most `limit` recalls with an id below `before`. Raises UsageError on a limit out of range."""
    if not 1 <= limit <= LIMIT_MAX:
        raise UsageError(f"limit: {limit} is outside 1 to {LIMIT_MAX}")
    asked = {"before": before, "session": session, "project": project, "note": note, "limit": limit + 1}
    rows = db.fetch_all(queries("injections").newest, {**asked, "now": now})
    page = tuple(dict(row) for row in rows[:limit])
    return Injections(page, page[-1]["id"] if len(rows) > limit else None)
