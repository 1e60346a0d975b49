"""Undo a whole arrival: `forget` by source, session, project or time, counted first, each note logged, restorable.

Every note of the arrival gets a decision of its own, and every raw item is withheld from recall, also where nothing
was made of it; distilled again it gives no notes. What arrives later is none of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from argus_memory.db import Connection, Database, queries
from argus_memory.errors import Conflict, NotFound, UsageError
from argus_memory.rules.decided import Asked
from argus_memory.stages.acting import as_actor
from argus_memory.stages.decided import find_fates
from argus_memory.stages.projects import name_of
from argus_memory.upkeep.decisions import apply, decide_in, lock_note


@dataclass(frozen=True, slots=True)
class Arrival:
    """What came together: all that is named must fit; `since` goes by the time of capture."""

    source: str | None = None
    session: str | None = None
    project: str | None = None
    since: datetime | None = None


@dataclass(frozen=True, slots=True)
class ArrivalReceipt:
    """`id` is None where nothing was done, only counted. `left`: notes that were changed since and stay so."""

    id: int | None
    raw_items: int
    notes: int
    left: int = 0


def count_arrival(db: Database, arrival: Arrival) -> ArrivalReceipt:
    """What forget_arrival would take away. Raises UsageError for an arrival that names nothing, NotFound for a
    project that is none."""
    with db.transaction() as conn:
        row = conn.execute(queries("decisions").count_arrival, _params(conn, arrival)).fetchone()
    assert row is not None
    return ArrivalReceipt(None, row["raw_items"], row["notes"])


def forget_arrival(
    db: Database, arrival: Arrival, actor: str, *, now: datetime, reason: str | None = None
) -> ArrivalReceipt:
    """Forget it in one transaction. Raises UsageError where nothing is named, NotFound where nothing is found or the
    project is none."""
    q = queries("decisions")
    with db.transaction() as conn:
        params = {**_params(conn, arrival), "actor": actor, "reason": reason, "now": now}
        row = conn.execute(q.insert_arrival, params).fetchone()
        assert row is not None
        id_ = int(row["id"])
        raw_items = conn.execute(q.withhold_arrival, {**params, "arrival": str(id_)}).rowcount
        if not raw_items:
            raise NotFound(f"nothing of {_words(arrival)} is on record, or it was forgotten before")
        notes = [row["id"] for row in conn.execute(q.arrival_notes, {"arrival": str(id_)})]
        for note_id in notes:
            decide_in(conn, "forget", note_id, actor, now=now, reason=reason, arrival=str(id_))
        conn.execute(q.finish_arrival, {"id": id_, "raw_items": raw_items, "notes": len(notes)})
    return ArrivalReceipt(id_, raw_items, len(notes))


def restore_arrival(db: Database, arrival_id: int, actor: str, *, now: datetime) -> ArrivalReceipt:
    """Bring a forgotten arrival back whole; what was decided of its notes since stays.

    Raises NotFound, or Conflict when it was restored before.
    """
    q = queries("decisions")
    with db.transaction() as conn:
        row = conn.execute(q.lock_arrival, {"id": arrival_id}).fetchone()
        if row is None:
            raise NotFound(f"there is no forgotten arrival {arrival_id}; `argus forget --list` shows them")
        if row["restored_at"] is not None:
            raise Conflict(f"arrival {arrival_id} was restored before by {row['restored_by']}")
        as_actor(conn, actor, now=now)
        arrival = str(arrival_id)
        back = 0
        decided = conn.execute(q.arrival_decisions, {"arrival": arrival}).fetchall()
        for each in decided:
            conn.execute(q.settle, {"id": each["id"], "status": "undone", "actor": actor, "now": now})
        for each in decided:
            if each["deleted_reason"] == "forgotten" and not _is_out(conn, each["note_id"]):
                apply(conn, "restore", each["note_id"], now=now)
                back += 1
        raw_items = conn.execute(q.lift_arrival, {"arrival": arrival}).rowcount
        conn.execute(q.restored_arrival, {"id": arrival_id, "actor": actor, "now": now})
    return ArrivalReceipt(arrival_id, raw_items, back, left=row["notes"] - back)


def _is_out(conn: Connection, note_id: int) -> bool:
    """Whether another decision, outside the arrival, took the fact away too."""
    note = lock_note(conn, note_id)
    (fate,) = find_fates(conn, [Asked(note["uid"], note["text_key"], note["content"], note["project"])])
    return fate.out is not None


def list_arrivals(db: Database, *, limit: int = 50) -> list[dict[str, Any]]:
    """Forgotten arrivals, newest first."""
    return list(db.fetch_all(queries("decisions").list_arrivals, {"limit": limit}))


def _words(arrival: Arrival) -> str:
    """"session 's1' since 2026-03-01 14:30"."""
    named = [f"{name} {value!r}" for name, value in asdict(arrival).items() if value and name != "since"]
    return " ".join([*named, *([f"since {arrival.since:%Y-%m-%d %H:%M}"] if arrival.since else [])])


def _params(conn: Connection, arrival: Arrival) -> Mapping[str, Any]:
    """The arrival with its project under the present name."""
    named = asdict(arrival) | {"project": name_of(conn, arrival.project)}
    if not any(named.values()):
        raise UsageError("name what is to be forgotten: --source, --session, --project or --since")
    return named
