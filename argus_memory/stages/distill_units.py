"""Units of distillation: claimed by a lease, read whole, or passed over with a reason."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from psycopg.rows import DictRow

from argus_memory.db import Database, queries
from argus_memory.records import CANARY_PROJECT, EpisodeTurn, Unit, UnitKind
from argus_memory.settings import DISTILL_LEASE

UnitKey = tuple[UnitKind, int]


@dataclass(frozen=True, slots=True)
class Claim:
    """A unit that is this run's until the lease ends."""

    kind: UnitKind
    id: int
    claimed_by: str
    attempts: int

    @property
    def params(self) -> dict[str, object]:
        return {"unit_kind": self.kind, "unit_id": self.id, "claimed_by": self.claimed_by}


@dataclass(frozen=True, slots=True)
class PassedOver:
    """A unit that is not to be distilled, and why."""

    reason: str


def name_run(pass_id: int) -> str:
    """Who claims: host, process and pass."""
    return f"{socket.gethostname()}:{os.getpid()}:{pass_id}"


def claim_unit(
    db: Database, claimed_by: str, *, now: datetime, units: Sequence[UnitKey] | None, done: Sequence[UnitKey]
) -> Claim | None:
    """The newest due unit that is neither claimed nor in `done`; of `units` alone (due or not) when given."""
    params = {
        "now": now,
        "lease": DISTILL_LEASE,
        "claimed_by": claimed_by,
        "unit_kinds": None if units is None else [kind for kind, _ in units],
        "unit_ids": None if units is None else [unit_id for _, unit_id in units],
        "done": [f"{kind} {unit_id}" for kind, unit_id in done],
    }
    row = db.fetch_one(queries("distill").claim_unit, params)
    return Claim(row["unit_kind"], row["unit_id"], claimed_by, row["attempts"]) if row else None


def renew_claim(db: Database, claim: Claim, *, at: datetime) -> None:
    """Start the lease anew, before a long wait."""
    with db.transaction() as conn:
        conn.execute(queries("distill").renew_claim, {**claim.params, "at": at})


def release_claim(db: Database, claim: Claim) -> None:
    """Give a unit back unfinished."""
    with db.transaction() as conn:
        conn.execute(queries("distill").release_unit, claim.params)


def read_unit(db: Database, claim: Claim) -> Unit | PassedOver:
    """Everything the distiller sees of a unit."""
    return _read_episode(db, claim.id) if claim.kind == "episode" else _read_item(db, claim.id)


def _read_episode(db: Database, episode_id: int) -> Unit | PassedOver:
    q = queries("distill")
    episode = db.fetch_one(q.find_episode, {"unit_id": episode_id})
    if episode is None or episode["replaced_at"] is not None:
        return PassedOver("the episode was replaced")
    if episode["project"] == CANARY_PROJECT:
        return PassedOver("a health probe")
    turns = tuple(map(_turn, db.fetch_all(q.episode_turns, {"unit_id": episode_id})))
    if not turns:
        return PassedOver("the episode has no turns")
    return Unit("episode", episode_id, episode["project"], turns, source=episode["source"])


def _turn(row: DictRow) -> EpisodeTurn:
    return EpisodeTurn(
        raw_id=row["raw_id"],
        role="assistant" if row["role"] == "assistant" else "user",
        text=row["text"],
        said_at=row["said_at"],
        message_id=row["message_id"],
        position=row["position"],
    )


def _read_item(db: Database, raw_id: int) -> Unit | PassedOver:
    item = db.fetch_one(queries("distill").find_item, {"unit_id": raw_id})
    if item is None:
        return PassedOver("the item does not exist")
    if item["project"] == CANARY_PROJECT:
        return PassedOver("a health probe")
    if item["written"]:  # distilling it would undo or repeat what its receipt says
        return PassedOver("a person or an agent wrote it: its receipt stands in note_writes")
    if item["of_raw_id"] is not None:
        return PassedOver(f"a near-duplicate of item {item['of_raw_id']}, which is distilled")
    # Nobody speaks in an item; the role only has to be one of the two.
    turn = EpisodeTurn(raw_id, "user", item["text"], item["said_at"])
    return Unit("item", raw_id, item["project"], (turn,), item_kind=item["kind"], source=item["source"])
