"""The snapshot a regeneration starts from, and its comparison later: units of some days, as they are stored now."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Literal

from psycopg.rows import DictRow

from argus_memory.db import Connection, queries
from argus_memory.rules.carry_over import Place
from argus_memory.rules.regeneration import OldNote

ReplayKind = Literal["episode", "item", "span"]
ReplayKey = tuple[ReplayKind, int]


@dataclass(frozen=True, slots=True)
class Days:
    """UTC days of the time a thing was said, both ends included."""

    first: date
    last: date

    @property
    def params(self) -> dict[str, Any]:
        return {"first": self.first, "last": self.last}


@dataclass(frozen=True, slots=True)
class Replay:
    """What is distilled at once. A span is no episode yet: the present rules would cut its turns otherwise;
    `episodes` are those that hold them now, `id` is the raw id of its first turn."""

    kind: ReplayKind
    id: int
    project: str | None
    said_at: datetime
    session: str | None = None
    raw_ids: tuple[int, ...] = ()
    episodes: tuple[int, ...] = ()

    @property
    def key(self) -> ReplayKey:
        return (self.kind, self.id)


@dataclass(frozen=True, slots=True)
class Stored:
    """A unit as it is stored: its notes, and a fingerprint of all that a switch must find unchanged."""

    notes: tuple[OldNote, ...]
    fingerprint: str


def read_units(conn: Connection, days: Days) -> list[Replay]:
    """Units distilled before, in the order said."""
    rows = conn.execute(queries("regeneration").units_of_days, days.params)
    return [Replay(row["unit_kind"], row["unit_id"], row["project"], row["said_at"]) for row in rows]


def read_stored(conn: Connection, replays: Sequence[Replay], *, lock: bool = False) -> dict[ReplayKey, Stored]:
    """Each unit's notes, those taken away included, and its fingerprint; `lock`ed until the transaction ends."""
    q = queries("regeneration")
    episodes = {replay.id for replay in replays if replay.kind == "episode"}
    episodes |= {episode for replay in replays for episode in replay.episodes}
    params = {
        "episodes": sorted(episodes),
        "items": sorted(replay.id for replay in replays if replay.kind == "item"),
    }
    if lock:
        conn.execute(q.lock_states, params)
        conn.execute(q.lock_notes, params)
    states: dict[tuple[str, int], DictRow] = {
        (row["unit_kind"], row["unit_id"]): row for row in conn.execute(q.states, params)
    }
    by_unit: dict[tuple[str, int], list[DictRow]] = defaultdict(list)
    for row in conn.execute(q.notes, params):
        episode = row["episode_id"]
        by_unit[("item", row["raw_id"]) if episode is None else ("episode", episode)].append(row)
    return {replay.key: _stored(replay, states, by_unit) for replay in replays}


def _stored(
    replay: Replay,
    states: Mapping[tuple[str, int], DictRow],
    by_unit: Mapping[tuple[str, int], Sequence[DictRow]],
) -> Stored:
    keys: list[tuple[str, int]] = [(replay.kind, replay.id)]
    if replay.kind == "span":
        keys = [("episode", episode) for episode in replay.episodes]
    rows = [row for key in keys for row in by_unit.get(key, ())]
    if replay.kind == "span":
        rows = [row for row in rows if row["raw_id"] in replay.raw_ids]
    seen: list[object] = []
    for key in keys:
        state = states.get(key)
        seen.append((*key, *(state[name] for name in ("status", "distilled_at", "replaced"))) if state else key)
    seen += [(row["id"], row["gone"], row["kept"], row["content"]) for row in rows]
    digits = hashlib.sha256(repr(seen).encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return Stored(tuple(_old_note(row) for row in rows), digits)


def _old_note(row: DictRow) -> OldNote:
    place = Place(row["raw_id"], row["source_start"], row["source_end"])
    return OldNote(row["id"], row["uid"], row["content"], place, row["gone"], row["kept"])
