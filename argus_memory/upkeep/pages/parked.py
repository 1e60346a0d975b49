"""What was tried too often and waits for a person: units not distilled, items not embedded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from psycopg.rows import DictRow

from argus_memory.db import Database, queries
from argus_memory.stages.spaces import EMBED_ATTEMPTS
from argus_memory.upkeep.pages.keyset import Slice, Sort, Wanted, fetch_page

SORTS: Final = (
    Sort("newest", "Said", "s.at"),
    Sort("oldest", "Said", "s.at", descending=False),
    Sort("attempts", "Tries", "s.attempts::float8", "number"),
)
KINDS: Final = ("episode", "item", "embedding")
FAILURES_SHOWN: Final = 5  # of a unit


@dataclass(frozen=True, slots=True)
class Parked:
    """`failures`: (kind, id) of a unit → its last failed attempts."""

    rows: Slice[DictRow]
    failures: Mapping[tuple[str, int], Sequence[DictRow]]


def find_parked(db: Database, kind: str | None, *, wanted: Wanted) -> Parked:
    q = queries("pages_parked")
    params = {"kind": kind, "attempts": EMBED_ATTEMPTS}
    with db.transaction() as conn:
        rows = fetch_page(conn, q.parked, q.count_parked, params, wanted)
        units = [row for row in rows.rows if row["kind"] != "embedding"]
        asked = {
            "kinds": [row["kind"] for row in units], "ids": [row["item"] for row in units], "shown": FAILURES_SHOWN,
        }  # fmt: skip
        failures: dict[tuple[str, int], list[DictRow]] = {}
        for row in conn.execute(q.failures, asked):
            failures.setdefault((row["unit_kind"], row["unit_id"]), []).append(row)
    return Parked(rows, failures)
