"""Embedding spaces: one live set of vectors a model, and the change from one model to the next.

A space is a model's name, dimension and checksum. The first space ever is live at once. A later one is built beside
the live one (status `building`, everything queued for it) and goes live in one transaction when nothing waits for it
any more; the old one is retired, and its vectors stay until housekeeping takes them away.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg import sql
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from argus_memory.db import Connection, Database, queries
from argus_memory.models.embedders import Embedder, find_embedder, get_embedder
from argus_memory.models.space_thresholds import SpaceDefaults, defaults_for
from argus_memory.settings import Settings
from argus_memory.stages.model_door import record_call

EMBED_ATTEMPTS = 5  # after so many failures of its own an item waits for a person, named in embed_queue.last_error
HNSW_MAX_VECTOR = 2000  # dimensions pgvector indexes as vector; up to twice as many as halfvec
_TABLES = {"turn": "turn_vectors", "note": "note_vectors"}


@dataclass(frozen=True, slots=True)
class Space:
    """One row of embedding_spaces; `thresholds` are cosines, see models/space_thresholds.py."""

    id: int
    model: str
    dim: int
    checksum: str
    status: str
    thresholds: Mapping[str, float]
    calibration: Mapping[str, Any]

    def is_of(self, embedder: Embedder) -> bool:
        return (self.model, self.dim, self.checksum) == (embedder.model, embedder.dim, embedder.checksum)


@dataclass(frozen=True, slots=True)
class Retired:
    """Vectors that housekeeping took away."""

    turns: int = 0
    notes: int = 0


def open_embedder(db: Database, settings: Settings) -> Embedder:
    """The configured embedder, with its calls of a model server on record in this database."""
    return get_embedder(settings, record_call=lambda call: record_call(db, call))


def find_space_embedder(db: Database, settings: Settings, space: Space, configured: Embedder) -> Embedder | None:
    """The embedder whose vectors a space holds: the configured one, or the one before it while a change is under
    way; None when that is gone."""
    if space.is_of(configured):
        return configured
    return find_embedder(
        settings, space.model, space.dim, space.checksum, record_call=lambda call: record_call(db, call)
    )


def find_active_space(conn: Connection) -> Space | None:
    """The live space, None before the first pass of embed."""
    return _space(conn.execute(queries("embed").active_space).fetchone())


def ensure_space(db: Database, embedder: Embedder, *, now: datetime) -> Space:
    """The embedder's space, registered, queued and indexed where that was missing; see the module's text.

    Raises the embedder's ModelFailure when a model that was never measured has to be asked for its scale.
    """
    identity = {"model": embedder.model, "dim": embedder.dim, "checksum": embedder.checksum}
    with db.transaction() as conn:
        found = _space(conn.execute(queries("embed").find_space, identity).fetchone())
    if found is not None and found.status != "retired":
        return found
    defaults = defaults_for(embedder) if found is None else None
    with db.transaction() as conn:
        conn.execute(queries("embed").lock_spaces)
        found = _space(conn.execute(queries("embed").find_space, identity).fetchone())
        if found is not None and found.status != "retired":  # another process was first
            return found
        if found is not None:
            _set_status(conn, found.id, "building", now)
        elif defaults is not None:
            _register(conn, identity, defaults, now)
        found = _space(conn.execute(queries("embed").find_space, identity).fetchone())
        assert found is not None
        conn.execute(queries("embed").retire_others, {"space": found.id})
        conn.execute(queries("embed").drop_retired_queue)
        conn.execute(queries("embed").queue_missing, {"space": found.id})
        for table in _TABLES.values():
            _create_index(conn, table, found)
        return found


def activate_if_complete(db: Database, space: Space, *, now: datetime) -> bool:
    """Make a space that is being built the live one when nothing waits for it; returns whether it went live.

    Items that cannot be embedded at all (EMBED_ATTEMPTS failures) do not hold the switch up.
    """
    if space.status == "active":
        return False
    with db.transaction() as conn:
        conn.execute(queries("embed").lock_spaces)
        current = _space(conn.execute(queries("embed").find_space, _identity(space)).fetchone())
        if current is None or current.status != "building" or count_waiting(conn, space.id)[0]:
            return False
        conn.execute(queries("embed").retire_active, {"space": space.id})
        _set_status(conn, space.id, "active", now)
        conn.execute(queries("embed").drop_retired_queue)
        return True


def count_waiting(conn: Connection, space_id: int) -> tuple[int, int]:
    """How many items wait to be embedded, and how many are parked."""
    row = conn.execute(queries("embed").count_queue, {"space": space_id, "attempts": EMBED_ATTEMPTS}).fetchone()
    assert row is not None
    return int(row["waiting"]), int(row["parked"])


def drop_retired_vectors(db: Database) -> Retired:
    """Housekeeping: delete the vectors and indexes of retired spaces; their rows stay, with the thresholds."""
    turns = notes = 0
    with db.transaction() as conn:
        conn.execute(queries("embed").lock_spaces)
        for row in conn.execute(queries("embed").retired_vector_counts).fetchall():
            for table in _TABLES.values():
                name = sql.Identifier(_index_name(table, row["id"]))
                conn.execute(sql.SQL("drop index if exists {}").format(name))
            conn.execute(queries("embed").delete_turn_vectors, {"space": row["id"]})
            conn.execute(queries("embed").delete_note_vectors, {"space": row["id"]})
            turns, notes = turns + row["turns"], notes + row["notes"]
    return Retired(turns, notes)


def vector_type(dim: int) -> sql.SQL:
    """The type a space's vectors are indexed and compared as."""
    return sql.SQL("vector" if dim <= HNSW_MAX_VECTOR else "halfvec")


def _register(conn: Connection, identity: Mapping[str, Any], defaults: SpaceDefaults, now: datetime) -> None:
    first = conn.execute(queries("embed").active_space).fetchone() is None
    conn.execute(
        queries("embed").insert_space,
        {
            **identity,
            "status": "active" if first else "building",
            "thresholds": Jsonb(dict(defaults.thresholds)),
            "calibration": Jsonb(dict(defaults.calibration)),
            "now": now,
        },
    )


def _set_status(conn: Connection, space_id: int, status: str, now: datetime) -> None:
    conn.execute(queries("embed").set_space_status, {"space": space_id, "status": status, "now": now})


def _create_index(conn: Connection, table: str, space: Space) -> None:
    kind = vector_type(space.dim)
    conn.execute(
        sql.SQL(
            "create index if not exists {name} on {table} using hnsw"
            " ((embedding::{kind}({dim})) {kind}_cosine_ops) where space_id = {space}"
        ).format(
            name=sql.Identifier(_index_name(table, space.id)),
            table=sql.Identifier(table),
            kind=kind,
            dim=sql.Literal(space.dim),
            space=sql.Literal(space.id),
        )
    )


def _index_name(table: str, space_id: int) -> str:
    return f"{table}_nearest_{space_id}"


def _identity(space: Space) -> dict[str, Any]:
    return {"model": space.model, "dim": space.dim, "checksum": space.checksum}


def _space(row: DictRow | None) -> Space | None:
    return None if row is None else Space(**row)
