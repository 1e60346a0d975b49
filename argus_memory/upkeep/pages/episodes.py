"""Episodes as pages: the list, and one with its turns, its boundaries, and what was and was not made of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from psycopg.rows import DictRow

from argus_memory.db import Database, queries
from argus_memory.errors import NotFound
from argus_memory.upkeep.pages.keyset import Slice, Sort, Wanted, fetch_page

SORTS: Final = (
    Sort("newest", "Began", "s.started_at"),
    Sort("oldest", "Began", "s.started_at", descending=False),
    Sort("longest", "Turns", "s.turn_count::float8", "number"),
)
STATES: Final = ("pending", "done", "parked", "skipped", "replaced")
TURNS_SHOWN: Final = 200
ROWS_SHOWN: Final = 300


@dataclass(frozen=True, slots=True)
class Episode:
    """`checks`: boundaries that were asked about, in the order of the turns; `accepted` and `rejected`: notes, and
    candidates that the gate refused; `calls` of models."""

    row: DictRow
    turns: Sequence[DictRow]
    checks: Sequence[DictRow]
    accepted: Sequence[DictRow]
    rejected: Sequence[DictRow]
    calls: Sequence[DictRow]

    def span_in(self, turn: DictRow) -> list[str]:
        """The words that candidates quote of this turn."""
        found = [*self.accepted, *self.rejected]
        return [each["source_ref"] for each in found if each["raw_id"] == turn["raw_id"] and each["source_ref"]]


def find_episodes(db: Database, filters: dict[str, Any], *, wanted: Wanted) -> Slice[DictRow]:
    """`filters`: project, session and state, None where not narrowed."""
    q = queries("pages_episodes")
    with db.transaction() as conn:
        return fetch_page(conn, q.episodes, q.count_episodes, filters, wanted)


def find_episode(db: Database, id_: int) -> Episode:
    """Raises NotFound."""
    q = queries("pages_episodes")
    with db.transaction() as conn:
        row = conn.execute(q.episode, {"id": id_}).fetchone()
        if row is None:
            raise NotFound(f"there is no episode {id_}")
        params = {"id": id_, "session": row["session"], "limit": ROWS_SHOWN}
        return Episode(
            row,
            conn.execute(q.episode_turns, {"id": id_, "limit": TURNS_SHOWN}).fetchall(),
            conn.execute(q.episode_checks, params).fetchall(),
            conn.execute(q.episode_accepted, params).fetchall(),
            conn.execute(q.episode_rejected, params).fetchall(),
            conn.execute(q.episode_calls, params).fetchall(),
        )
