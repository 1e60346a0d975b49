"""Of two live notes that contradict each other, while a person has not decided, the later one is shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from argus_memory.db import Connection, queries
from argus_memory.rules.recall_choice import Dropped
from argus_memory.stages.recall_rank import Scored

OVERRULED = "overruled-by-later"  # why a note was found and is not shown


def find_overruled(conn: Connection, ids: Sequence[int], now: datetime) -> dict[int, Mapping[str, Any]]:
    """Id of a note → the later live note that contradicts it (its last, where several do), step by step."""
    found: dict[int, Mapping[str, Any]] = {}
    asked = list(ids)
    while asked:
        rows = conn.execute(queries("conflicts").overruled, {"ids": asked, "now": now}).fetchall()
        fresh = [row for row in rows if row["old_id"] not in found]
        for row in fresh:
            found.setdefault(row["old_id"], row)
        asked = [row["id"] for row in fresh if row["id"] not in found]
    return {old: _last(found, old) for old in found}


@dataclass(frozen=True, slots=True)
class Settled:
    """`notes`, best first, without those a later one overrules (`dropped`), whose turns are `raw_ids`."""

    notes: Sequence[Scored]
    dropped: Sequence[Dropped] = ()
    raw_ids: frozenset[int] = frozenset()


def settle_notes(conn: Connection, notes: Sequence[Scored], now: datetime) -> Settled:
    """Each overruled note gives its place to the later one, which stands at the best place of the two."""
    overruled = find_overruled(conn, [note.id for note in notes], now)
    if not overruled:
        return Settled(notes)
    kept: dict[int, Scored] = {}
    dropped: list[Dropped] = []
    raw_ids: set[int] = set()
    for note in notes:
        later = overruled.get(note.id)
        if later is None or later["id"] == note.id:  # a ring: as they are
            moved = note
        else:
            dropped.append(Dropped("note", note.id, note.score, note.rrf_score, OVERRULED))
            raw_ids.add(note.raw_id)
            moved = replace(
                note, id=later["id"], raw_id=later["raw_id"], project=later["project"], title=later["title"],
                text=later["content"], said_at=later["said_at"],
            )  # fmt: skip
        best = kept.get(moved.id)
        if best is None or moved.score > best.score:
            kept[moved.id] = moved
    ordered = sorted(kept.values(), key=lambda note: (-note.score, -note.rrf_score, note.id))
    return Settled(ordered, dropped, frozenset(raw_ids - {note.raw_id for note in ordered}))


def settle_scores(conn: Connection, scores: Mapping[int, float], now: datetime) -> dict[int, float]:
    """The same of ids with their scores, in their order: each overruled one gives its place to the later note, which
    stands in it once, also where it has no score of its own."""
    overruled = find_overruled(conn, list(scores), now)
    settled: dict[int, float] = {}
    for id_, score in scores.items():
        settled.setdefault(overruled[id_]["id"] if id_ in overruled else id_, score)
    return settled


def _last(found: Mapping[int, Mapping[str, Any]], old: int) -> Mapping[str, Any]:
    row, seen = found[old], {old}
    while row["id"] in found and row["id"] not in seen:
        seen.add(row["id"])
        row = found[row["id"]]
    return row
