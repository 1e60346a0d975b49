"""What is written on purpose: `remember` and `correct`. The words are captured first, then applied without a model.

    remember ── a person's, or words a person said ──> a note, or the same fact reinforced
       └─────── an agent's own ──────────────────────> a proposal (upkeep/proposals.py)
    correct ─── a person's, or an agent's on a doubtful note ──> the old note is superseded by the new one
       └─────── an agent's on anything else ──────────────────> a held decision

One transaction: the raw item, what was made of it, and its receipt (note_writes), which is why no distillation ever
takes the item up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from argus_memory.db import Connection, Database, queries
from argus_memory.errors import Conflict, UsageError
from argus_memory.records import CATEGORIES, Receipt, WriteReceipt
from argus_memory.rules.decided import PAST, Asked, may_decide_alone
from argus_memory.rules.same_text import fold
from argus_memory.rules.uid import note_uid, text_key
from argus_memory.settings import Settings
from argus_memory.stages.acting import as_actor
from argus_memory.stages.capture import accept
from argus_memory.stages.decided import find_fates
from argus_memory.upkeep.decisions import lock_note, write_decision
from argus_memory.upkeep.writing import (
    Writer,
    find_neighbours,
    insert_note,
    propose,
    reinforce,
    replace_note,
)

TEXT_MAX: Final = 2000  # characters of one fact; what is longer is a document to be captured


_SKIPPED: Final[Mapping[str, str]] = {
    "only-secret": "it was only a secret, and secrets are not kept",
    "own-text": "it is Argus's own text",
    "excluded": "its folder or project is kept out of memory (ARGUS_EXCLUDE)",
    "poison": "it is no statement but a failure's text",
}


def remember(
    db: Database,
    settings: Settings,
    text: str,
    writer: Writer,
    *,
    now: datetime,
    category: str = "fact",
    project: str | None = None,
    uuid: str | None = None,
) -> WriteReceipt:
    """Note a fact as it is said; `uuid` makes a repeated request one write.

    A person's word overrules an earlier forget, and the receipt says so. Raises UsageError.
    """
    if category not in CATEGORIES:
        raise UsageError(f"category: {category!r} is not one of {', '.join(CATEGORIES)}")
    return _receive(db, settings, "remember", text, writer, now, project, uuid, {"category": category})


def correct(
    db: Database,
    settings: Settings,
    note_id: int,
    text: str,
    writer: Writer,
    *,
    now: datetime,
    reason: str | None = None,
    uuid: str | None = None,
) -> WriteReceipt:
    """Put `text` in a note's place in one step; the old one is kept as superseded.

    Raises NotFound, or Conflict for a note that is not there to be corrected, naming what to do instead.
    """
    with db.transaction() as conn:
        note = lock_note(conn, note_id)
        _require_correctable(note)
        if fold(text) == fold(note["content"]):
            return WriteReceipt("no-op", note_id, note["uid"], note["raw_id"], detail="it says so already")
    more = {"note_id": note_id, "reason": reason}
    return _receive(db, settings, "correct", text, writer, now, note["project"], uuid, more)


def _receive(
    db: Database,
    settings: Settings,
    verb: str,
    text: str,
    writer: Writer,
    now: datetime,
    project: str | None,
    uuid: str | None,
    more: Mapping[str, Any],
) -> WriteReceipt:
    """Capture the words and apply them in the same transaction."""
    text = text.strip()
    if not text:
        raise UsageError("text: is empty")
    if len(text) > TEXT_MAX:
        raise UsageError(
            f"text: has {len(text):,} characters, a fact has at most {TEXT_MAX:,}; capture it as a document"
        )
    item = {
        "source": writer.source,
        "kind": "event",
        "body": text,
        "session": writer.session,
        "cwd": writer.cwd,
        "project": project,
        "metadata": {"write": verb, "actor": writer.name, "original_timestamp": now.isoformat()}
        | ({"uuid": uuid} if uuid else {}),
    }
    made: list[WriteReceipt] = []

    def apply(conn: Connection, receipts: Sequence[Receipt]) -> None:
        made.append(_apply(conn, verb, receipts[0], writer, now, more))

    accept(db, settings, [item], now=now, also=apply)
    return made[0]


def _apply(
    conn: Connection, verb: str, captured: Receipt, writer: Writer, now: datetime, more: Mapping[str, Any]
) -> WriteReceipt:
    q = queries("receive")
    if captured.id is None:
        receipt = WriteReceipt("refused", detail=_SKIPPED.get(captured.skipped or "", captured.skipped))
        write_receipt(conn, verb, receipt, writer, now)
        return receipt
    if captured.duplicate:
        row = conn.execute(q.find_write, {"raw_id": captured.id}).fetchone()
        if row is None:
            return WriteReceipt("no-op", raw_id=captured.id, detail="these words were captured before")
        decision = row["decision_id"] or row["proposal_id"]
        return WriteReceipt(
            "no-op",
            row["note_id"],
            row["uid"],
            captured.id,
            decision,
            tuple(row["disputes"]),
            f"written before: {row['outcome']}",
        )
    as_actor(conn, writer.name, now=now)
    conn.execute(q.close_item, {"raw_id": captured.id, "now": now})
    raw = conn.execute(q.raw_item, {"id": captured.id}).fetchone()
    assert raw is not None
    if verb == "remember":
        receipt = _remember(conn, raw, writer, now, **more)
    else:
        receipt = _correct(conn, raw, writer, now, **more)
    write_receipt(conn, verb, receipt, writer, now)
    return receipt


def write_receipt(conn: Connection, verb: str, receipt: WriteReceipt, writer: Writer, now: datetime) -> None:
    """The receipt as a row; a queued one's decision_id is a proposal's."""
    queued = receipt.outcome == "queued"
    params = {
        "now": now,
        "verb": verb,
        "raw_id": receipt.raw_id,
        "outcome": receipt.outcome,
        "note_id": receipt.note_id,
        "decision_id": None if queued else receipt.decision_id,
        "proposal_id": receipt.decision_id if queued else None,
        "disputes": list(receipt.disputes),
        "actor": writer.name,
        "kind": writer.kind,
        "detail": receipt.detail,
    }
    conn.execute(queries("receive").insert_write, params)


def _remember(
    conn: Connection, raw: Mapping[str, Any], writer: Writer, now: datetime, *, category: str
) -> WriteReceipt:
    content, project = raw["body"].strip(), raw["project"]
    twin, disputed = find_neighbours(conn, content, project, now)
    fate = find_fates(conn, [Asked(note_uid(category, content, project), text_key(content), content, project)])[0]
    grounds: Mapping[str, Any] = raw
    if writer.kind == "agent":
        said = conn.execute(
            queries("receive").said_by_person, {"content": content, "session": writer.session, "now": now}
        ).fetchone()
        if said is None or fate.out is not None or disputed:
            why = fate.out.sentence if fate.out else None
            return propose(conn, raw, writer, now, category, twin, disputed, why)
        grounds = said
    if twin is not None:
        return reinforce(conn, twin, raw["id"], writer, now, disputed)
    note_id = insert_note(conn, content, grounds, now, category=category, project=project)
    note = lock_note(conn, note_id)
    details = []
    decision_id = None
    if fate.out is not None:
        decision_id = write_decision(
            conn, note, "restore", writer.name, now=now, kind=writer.kind, reason="said again by a person"
        )
        details.append(f"it overrules decision {fate.out.id}, by which this fact was {PAST[fate.out.decision]}")
    if disputed:
        details.append(f"note {disputed[0]} says otherwise: `argus note correct {disputed[0]}` replaces it")
    return WriteReceipt("created", note_id, note["uid"], raw["id"], decision_id, disputed, "; ".join(details) or None)


def _correct(
    conn: Connection, raw: Mapping[str, Any], writer: Writer, now: datetime, *, note_id: int, reason: str | None
) -> WriteReceipt:
    note = lock_note(conn, note_id)
    _require_correctable(note)  # it may have changed since it was looked at
    content = raw["body"].strip()
    if writer.kind == "agent" and not may_decide_alone(note, "correct"):
        decision = write_decision(
            conn, note, "correct", writer.name, now=now, kind="agent", reason=reason, held=True, new_text=content
        )
        return WriteReceipt(
            "held",
            note_id,
            note["uid"],
            raw["id"],
            decision,
            (note_id,),
            "an agent may not correct this alone: it waits for a person in `argus review`",
        )
    return replace_note(conn, note, raw, writer, now, reason=reason)


def _require_correctable(note: Mapping[str, Any]) -> None:
    """Raises Conflict for a tombstone, with what to do instead."""
    if note["deleted_at"] is None:
        return
    why, by = note["deleted_reason"] or "tombstoned", note["superseded_by"]
    if by is not None and why != "redacted":
        cure = f"note {by} stands in its place: correct that one"
    elif why in ("forgotten", "rejected"):
        cure = "`argus note restore` brings it back, or `argus remember` says the new fact"
    else:
        cure = "`argus remember` says the new fact"
    raise Conflict(f"note {note['id']} was {why}: {cure}")
