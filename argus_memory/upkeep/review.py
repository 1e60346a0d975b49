"""Held merges: a supersede against a well corroborated note waits here for a person; and any merge can be undone.

    pending ── approve ──> approved ── undo ──> undone
       │                  applied ──── undo ──> undone      (what dedup did by itself)
       └───── reject ───> rejected ── undo ──> pending

Each change and its row in `dedup_log` are one transaction. What does not fit the state is a Conflict, in a sentence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from argus_memory.db import Connection, Database, queries
from argus_memory.errors import Conflict, NotFound
from argus_memory.rules.decided import Asked
from argus_memory.stages.acting import as_actor
from argus_memory.stages.decided import find_fates

LIST_LIMIT = 200
_MERGED = {"duplicate": "duplicate", "refine": "refined", "supersede": "superseded"}


@dataclass(frozen=True, slots=True)
class HeldMerge:
    """A newer note (`note`) that would overrule an older one (`other`); `id` is the dedup_log row's."""

    id: int
    at: datetime
    note_id: int
    other_id: int
    similarity: float | None
    model: str
    reasoning: str
    status: str
    note: str
    note_said_at: datetime
    note_confidence: float
    project: str | None
    other: str
    other_said_at: datetime
    other_confidence: float


@dataclass(frozen=True, slots=True)
class ReviewReceipt:
    """What a decision did: the log row's state before and now, and the notes it took away or brought back."""

    id: int
    was: str
    status: str
    verdict: str
    tombstoned: tuple[int, ...] = ()
    restored: tuple[int, ...] = ()


def list_held(db: Database, *, limit: int = LIST_LIMIT) -> list[HeldMerge]:
    """Merges that wait for a person, newest first."""
    return [HeldMerge(**row) for row in db.fetch_all(queries("review").list_held, {"limit": limit})]


def approve(db: Database, log_id: int, actor: str, *, now: datetime) -> ReviewReceipt:
    """Let the newer note overrule the older one. Raises NotFound, or Conflict when it is not waiting any more."""
    with db.transaction() as conn:
        as_actor(conn, actor, now=now)
        held = _get_verdict(conn, log_id)
        _require_pending(held, "approve")
        notes = _lock_pair(conn, held)
        for note_id in (held["note_id"], held["other_id"]):
            if notes[note_id]["deleted_at"] is not None:
                raise Conflict(
                    f"note {note_id} of held merge {log_id} was tombstoned meanwhile"
                    f" ({notes[note_id]['deleted_reason']}): reject the merge"
                )
        params = {
            "note_id": held["note_id"],
            "other_id": held["other_id"],
            "valid_to": notes[held["note_id"]]["valid_from"],
            "now": now,
        }
        conn.execute(queries("review").supersede, params)
        _decide(conn, held, "approved", actor, now, valid_to_before=notes[held["other_id"]]["valid_to"])
        return ReviewReceipt(log_id, "pending", "approved", held["verdict"], tombstoned=(held["other_id"],))


def reject(db: Database, log_id: int, actor: str, *, now: datetime) -> ReviewReceipt:
    """Keep both notes. Raises NotFound, or Conflict when it is not waiting any more."""
    with db.transaction() as conn:
        as_actor(conn, actor, now=now)
        held = _get_verdict(conn, log_id)
        _require_pending(held, "reject")
        _decide(conn, held, "rejected", actor, now, valid_to_before=held["valid_to_before"])
        return ReviewReceipt(log_id, "pending", "rejected", held["verdict"])


def undo(db: Database, log_id: int, actor: str, *, now: datetime) -> ReviewReceipt:
    """Take a merge back whole: tombstone, validity and confidence; a rejected one waits again.

    Raises NotFound, or Conflict when there is nothing to take back or a note was changed by other means since.
    """
    with db.transaction() as conn:
        as_actor(conn, actor, now=now)
        done = _get_verdict(conn, log_id)
        if done["status"] == "rejected":
            _decide(conn, done, "pending", actor, now, valid_to_before=done["valid_to_before"])
            return ReviewReceipt(log_id, "rejected", "pending", done["verdict"])
        _require_done(done)
        gone, stays = _sides(done)
        notes = _lock_pair(conn, done)
        if notes[gone]["deleted_reason"] != _MERGED[done["verdict"]] or notes[gone]["superseded_by"] != stays:
            raise Conflict(
                f"note {gone} was changed since merge {log_id}"
                f" (now {notes[gone]['deleted_reason'] or 'live'}): there is nothing left to undo"
            )
        _require_undecided(conn, gone, log_id)
        conn.execute(queries("review").restore, {"id": gone, "valid_to": done["valid_to_before"], "now": now})
        if done["verdict"] != "supersede":
            conn.execute(
                queries("review").set_confidence,
                {"id": stays, "confidence": _take_back(notes[stays]["confidence"], done)},
            )
        _decide(conn, done, "undone", actor, now, valid_to_before=done["valid_to_before"])
        return ReviewReceipt(log_id, done["status"], "undone", done["verdict"], restored=(gone,))


def _get_verdict(conn: Connection, log_id: int) -> Mapping[str, Any]:
    row = conn.execute(queries("review").lock_verdict, {"id": log_id}).fetchone()
    if row is None:
        raise NotFound(f"there is no merge {log_id}; `argus review list` shows those that wait")
    return row


def _lock_pair(conn: Connection, row: Mapping[str, Any]) -> dict[int, Mapping[str, Any]]:
    found = conn.execute(queries("review").lock_pair, {"ids": [row["note_id"], row["other_id"]]})
    return {note["id"]: note for note in found}


def _require_pending(row: Mapping[str, Any], verb: str) -> None:
    if row["status"] == "pending":
        return
    if row["status"] == "applied":
        raise Conflict(f"merge {row['id']} was applied without review: there is nothing to {verb}, only to undo")
    by = f" by {row['decided_by']}" if row["decided_by"] else ""
    hint = "" if row["status"] == "undone" else f"; `argus review undo {row['id']}` takes that back"
    raise Conflict(f"cannot {verb} merge {row['id']}: it was {row['status']}{by}{hint}")


def _require_done(row: Mapping[str, Any]) -> None:
    if row["status"] == "pending":
        raise Conflict(f"merge {row['id']} waits for a decision: approve or reject it")
    if row["status"] == "undone":
        raise Conflict(f"merge {row['id']} was undone before by {row['decided_by']}")
    if row["verdict"] == "distinct":
        raise Conflict(f"verdict {row['id']} is distinct: both notes stayed, there is nothing to undo")


def _require_undecided(conn: Connection, note_id: int, log_id: int) -> None:
    """Raises Conflict where the note that would come back says what was taken away since."""
    row = conn.execute(queries("decisions").lock_note, {"id": note_id}).fetchone()
    assert row is not None
    (fate,) = find_fates(conn, [Asked(row["uid"], row["text_key"], row["content"], row["project"])])
    if fate.out is not None:
        raise Conflict(f"merge {log_id} cannot be undone: note {note_id} would come back, and {fate.out.sentence}")


def _sides(row: Mapping[str, Any]) -> tuple[int, int]:
    """(the note that went, the note that stayed) of a merge."""
    if row["verdict"] == "duplicate":
        return row["note_id"], row["other_id"]
    return row["other_id"], row["note_id"]


def _take_back(confidence: float, row: Mapping[str, Any]) -> float:
    """The confidence without this merge's gain; what other sources gave since stays."""
    gain = (row["confidence_after"] or 0.0) - (row["confidence_before"] or 0.0)
    if abs(confidence - (row["confidence_after"] or 0.0)) < 1e-6:
        return float(row["confidence_before"])
    return min(1.0, max(0.0, confidence - gain))


def _decide(
    conn: Connection,
    row: Mapping[str, Any],
    status: str,
    actor: str,
    now: datetime,
    *,
    valid_to_before: datetime | None,
) -> None:
    conn.execute(
        queries("review").decide,
        {"id": row["id"], "status": status, "actor": actor, "now": now, "valid_to_before": valid_to_before},
    )
