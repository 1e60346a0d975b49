"""Facts that agents propose on their own: they wait until a person accepts or rejects them.

pending ── accept ──> accepted, a note
   ├────── auto ────> auto-accepted, a note ── undo ──> pending, without it
   └────── reject ──> rejected, and a decision that keeps the fact out
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from argus_memory.db import Connection, Database, queries
from argus_memory.errors import Conflict, NotFound
from argus_memory.records import WriteReceipt
from argus_memory.rules.decided import Asked
from argus_memory.rules.uid import note_uid, text_key
from argus_memory.stages.acting import as_actor
from argus_memory.stages.decided import find_fates
from argus_memory.upkeep.decisions import lock_note, lock_repeats, overtake, write_decision
from argus_memory.upkeep.writing import VOUCHED, Writer, find_neighbours, insert_note, replace_note

LIST_LIMIT = 200
AUTO_CONFIDENCE = 0.5  # nobody vouched for it


def list_proposals(db: Database, *, limit: int = LIST_LIMIT) -> list[dict[str, Any]]:
    """What waits, newest first, with the note each disputes."""
    return db.fetch_all(queries("receive").list_proposals, {"limit": limit})


def accept_proposal(db: Database, proposal_id: int, actor: str, *, now: datetime, auto: bool = False) -> WriteReceipt:
    """Make the note. Raises NotFound, or Conflict when it does not wait any more.

    `auto`: without a person's look, and so refused (Conflict) where it disputes a note by now or was forgotten.
    """
    with db.transaction() as conn:
        proposal = _lock_pending(conn, proposal_id, "accept")
        as_actor(conn, actor, now=now)
        content, project, category = proposal["content"], proposal["project"], proposal["category"]
        twin, disputed = find_neighbours(conn, content, project, now)
        fate = find_fates(conn, [Asked(note_uid(category, content, project), text_key(content), content, project)])[0]
        if auto and (disputed or fate.out is not None):
            raise Conflict(f"proposal {proposal_id} disputes what is on record: a person decides")
        if twin is not None:
            note_id = twin["id"]
        else:
            grounds = {"id": proposal["raw_id"], "body": content, "said_at": proposal["said_at"]}
            note_id = insert_note(
                conn,
                content,
                grounds,
                now,
                category=category,
                project=project,
                role="assistant",
                confidence=AUTO_CONFIDENCE if auto else VOUCHED,
            )
        note = lock_note(conn, note_id)
        decision = None
        if not auto:
            decision = write_decision(conn, note, "approve", actor, now=now)
            if fate.out is not None:
                write_decision(conn, note, "restore", actor, now=now, reason="accepted by a person")
        _settle(conn, proposal_id, "auto-accepted" if auto else "accepted", actor, now, note_id=note_id)
        if auto:
            conn.execute(queries("receive").note_auto, {"id": proposal_id, "now": now, "made_note": twin is None})
        return WriteReceipt(
            "reinforced" if twin else "created", note_id, note["uid"], proposal["raw_id"], decision, disputed
        )


def reject_proposal(
    db: Database, proposal_id: int, actor: str, *, now: datetime, reason: str | None = None
) -> WriteReceipt:
    """Turn it down for good: the fact does not come back by itself. Raises NotFound or Conflict.

    Where a note says the same by now, that note stands: the proposal alone is turned down.
    """
    with db.transaction() as conn:
        proposal = _lock_pending(conn, proposal_id, "reject")
        content, project, category = proposal["content"], proposal["project"], proposal["category"]
        as_actor(conn, actor, now=now)
        fact = {
            "id": None,
            "uid": note_uid(category, content, project),
            "text_key": text_key(content),
            "content": content,
            "category": category,
            "project": project,
            "raw_id": proposal["raw_id"],
            "source_start": None,
            "source_end": None,
        }
        standing = lock_repeats(conn, {**fact, "id": 0}, now=now)
        decision = None
        if not standing:
            decision = write_decision(conn, fact, "reject", actor, now=now, reason=reason)
        _settle(conn, proposal_id, "rejected", actor, now, reason=reason)
        detail = None
        if standing:
            detail = f"note {standing[0]['id']} says so and stands: `argus note forget` takes it away"
        return WriteReceipt("changed", None, fact["uid"], proposal["raw_id"], decision, detail=detail)


def undo_auto(db: Database, proposal_id: int, actor: str, *, now: datetime) -> WriteReceipt:
    """Put back into the queue what ARGUS_AUTO_APPROVE accepted; its note goes.

    Raises NotFound, or Conflict also where the note was overtaken since: gone by other means, decided on by a person,
    or standing in for another note.
    """
    with db.transaction() as conn:
        proposal = _lock(conn, proposal_id)
        if proposal["status"] == "accepted":
            raise Conflict(
                f"proposal {proposal_id} was accepted by {proposal['decided_by']}:"
                f" `argus note forget {proposal['note_id']}` takes its note away"
            )
        if proposal["status"] != "auto-accepted":
            raise Conflict(f"proposal {proposal_id} is {proposal['status']}: there is nothing to undo")
        as_actor(conn, actor, now=now)
        q = queries("receive")
        if proposal["made_note"]:
            _require_unmoved(conn, proposal)
            conn.execute(q.take_back_note, {"id": proposal["note_id"], "now": now})
        conn.execute(q.reopen_proposal, {"id": proposal_id})
        return WriteReceipt("changed", proposal["note_id"], None, proposal["raw_id"], detail="it waits for you again")


def _require_unmoved(conn: Connection, proposal: Mapping[str, Any]) -> None:
    note = lock_note(conn, proposal["note_id"])
    cannot = f"proposal {proposal['id']} cannot be undone: note {note['id']}"
    if note["deleted_at"] is not None:
        raise Conflict(f"{cannot} was {note['deleted_reason']} since, there is nothing left to undo")
    params = {"id": note["id"], "auto_at": proposal["auto_at"]}
    since = conn.execute(queries("receive").overtaken_by, params).fetchone()
    if since and since["decision"]:
        raise Conflict(
            f"{cannot} was decided on since ({since['decision']}); `argus note forget {note['id']}` takes it away"
        )
    if since and since["merge"]:
        raise Conflict(f"{cannot} took another's place since: `argus review undo {since['merge']}` first")


def carry_correction(conn: Connection, held: Mapping[str, Any], actor: str, now: datetime) -> WriteReceipt:
    """Do what an agent's held `correct` asked for, now that a person approved it, and set the decision in force."""
    q = queries("receive")
    row = conn.execute(q.correction_item, {"decision_id": held["id"]}).fetchone()
    raw = conn.execute(q.raw_item, {"id": row["raw_id"]}).fetchone() if row else None
    if raw is None:
        raise Conflict(f"decision {held['id']} has no captured words: `argus note correct` says them anew")
    note = lock_note(conn, held["note_id"])
    if note["deleted_at"] is not None:
        raise Conflict(f"note {note['id']} was {note['deleted_reason']} meanwhile: reject the correction")
    as_actor(conn, actor, now=now)
    receipt = replace_note(conn, note, raw, Writer(actor, "person"), now, held=True)
    params = {"id": held["id"], "new_note_id": receipt.note_id, "actor": actor, "now": now}
    conn.execute(q.enforce_correction, params)
    overtake(conn, note, "correct", held["id"], actor, now=now)
    return replace(receipt, decision_id=held["id"])


def _lock(conn: Connection, proposal_id: int) -> Mapping[str, Any]:
    row = conn.execute(queries("receive").lock_proposal, {"id": proposal_id}).fetchone()
    if row is None:
        raise NotFound(f"there is no proposal {proposal_id}; `argus review list` shows those that wait")
    return row


def _lock_pending(conn: Connection, proposal_id: int, verb: str) -> Mapping[str, Any]:
    row = _lock(conn, proposal_id)
    if row["status"] != "pending":
        raise Conflict(f"cannot {verb} proposal {proposal_id}: it was {row['status']} by {row['decided_by']}")
    return row


def _settle(
    conn: Connection,
    proposal_id: int,
    status: str,
    actor: str,
    now: datetime,
    *,
    note_id: int | None = None,
    reason: str | None = None,
) -> None:
    conn.execute(
        queries("receive").decide_proposal,
        {"id": proposal_id, "status": status, "actor": actor, "now": now, "note_id": note_id, "reason": reason},
    )
