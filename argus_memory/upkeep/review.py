"""Held merges: what would overrule a well corroborated note, or take a pinned one away, waits here for a person; and
any merge can be undone.

    pending ── approve ──> approved ── undo ──> undone     (by ARGUS_AUTO_APPROVE: undo ──> pending)
       │                  applied ──── undo ──> undone      (what dedup did by itself)
       └───── reject ───> rejected ── undo ──> pending

Each change and its row in `dedup_log` are one transaction. What does not fit the state is a Conflict, in a sentence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from argus_memory.db import Connection, Database, queries
from argus_memory.errors import Conflict, NotFound
from argus_memory.rules.decided import Asked
from argus_memory.rules.dedup_judgement import corroborate
from argus_memory.stages.acting import as_actor
from argus_memory.stages.decided import find_fates

LIST_LIMIT = 200
AUTO: Final = "auto-approve"  # who decides where ARGUS_AUTO_APPROVE does; the trigger of dedup_log knows the name
_MERGED = {"duplicate": "duplicate", "refine": "refined", "supersede": "superseded"}


@dataclass(frozen=True, slots=True)
class HeldMerge:
    """A note (`note`) that would change or overrule another (`other`), which it so disputes; `id` is the dedup_log
    row's. `auto_at`: ARGUS_AUTO_APPROVE let it through then, and a person took that back. `note_gone`, `other_gone`:
    how that note went meanwhile ("forgotten"): such a merge can only be rejected."""

    id: int
    at: datetime
    verdict: str
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
    other_pinned: bool
    auto_at: datetime | None
    note_gone: str | None
    other_gone: str | None


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
    """Let the merge through. Raises NotFound, or Conflict when it is not waiting any more."""
    with db.transaction() as conn:
        as_actor(conn, actor, now=now)
        held = _get_verdict(conn, log_id)
        _require_pending(held, "approve")
        return carry_out(conn, held, actor, now=now)


def carry_out(
    conn: Connection, held: Mapping[str, Any], actor: str, *, now: datetime, auto: bool = False
) -> ReviewReceipt:
    """What a held merge (a locked row of dedup_log) asks for. Raises Conflict when a note of it is gone."""
    q, log_id = queries("review"), held["id"]
    notes = _lock_pair(conn, held)
    gone, stays = _sides(held)
    for note_id in (gone, stays):
        if notes[note_id]["deleted_at"] is not None:
            raise Conflict(
                f"note {note_id} of held merge {log_id} was tombstoned meanwhile"
                f" ({notes[note_id]['deleted_reason']}): reject the merge"
            )
    supersede = held["verdict"] == "supersede"
    params = {
        "gone": gone,
        "stays": stays,
        "reason": _MERGED[held["verdict"]],
        "valid_to": notes[stays]["valid_from"] if supersede else notes[gone]["valid_to"],
        "now": now,
    }
    conn.execute(q.take_away, params)
    before, after = _gain(held["verdict"], notes[gone], notes[stays])
    if not supersede:
        conn.execute(q.set_confidence, {"id": stays, "confidence": after})
    conn.execute(q.note_gain, {"id": log_id, "before": before, "after": after, "auto_at": now if auto else None})
    _decide(conn, held, "approved", actor, now, valid_to_before=notes[gone]["valid_to"])
    return ReviewReceipt(log_id, "pending", "approved", held["verdict"], tombstoned=(gone,))


def _gain(verdict: str, gone: Mapping[str, Any], stays: Mapping[str, Any]) -> tuple[float, float]:
    """(confidence before, after): of the note that stays, or of the one that a supersede takes away."""
    if verdict == "supersede":
        return gone["confidence"], gone["confidence"]
    base = max(stays["confidence"], gone["confidence"]) if verdict == "refine" else stays["confidence"]
    return stays["confidence"], base if gone["raw_id"] == stays["raw_id"] else corroborate(base)


def reject(db: Database, log_id: int, actor: str, *, now: datetime) -> ReviewReceipt:
    """Keep both notes. Raises NotFound, or Conflict when it is not waiting any more."""
    with db.transaction() as conn:
        as_actor(conn, actor, now=now)
        held = _get_verdict(conn, log_id)
        _require_pending(held, "reject")
        _decide(conn, held, "rejected", actor, now, valid_to_before=held["valid_to_before"])
        return ReviewReceipt(log_id, "pending", "rejected", held["verdict"])


def undo(db: Database, log_id: int, actor: str, *, now: datetime) -> ReviewReceipt:
    """Take a merge back whole: tombstone, validity and confidence; a rejected one waits again, and so does one that
    ARGUS_AUTO_APPROVE let through.

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
        # What no person ever let through waits for one.
        status = "pending" if done["status"] == "approved" and done["decided_by"] == AUTO else "undone"
        _decide(conn, done, status, actor, now, valid_to_before=done["valid_to_before"])
        return ReviewReceipt(log_id, done["status"], status, done["verdict"], restored=(gone,))


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
