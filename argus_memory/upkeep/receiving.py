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
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from argus_memory.db import Connection, Database, queries
from argus_memory.errors import Conflict, UsageError
from argus_memory.records import CATEGORIES, Receipt, WriteReceipt
from argus_memory.rules.contest import disputes
from argus_memory.rules.decided import PAST, ActorKind, Asked, may_decide_alone
from argus_memory.rules.dedup_judgement import corroborate
from argus_memory.rules.grounding import find_in_text
from argus_memory.rules.same_fact import same_fact
from argus_memory.rules.same_text import fold
from argus_memory.rules.uid import note_uid, text_key
from argus_memory.settings import TITLE_MAX, Settings
from argus_memory.stages.acting import as_actor
from argus_memory.stages.capture import accept
from argus_memory.stages.decided import find_fates
from argus_memory.upkeep.decisions import lock_note, write_decision

WRITTEN: Final = "as-written"  # the model's name where no model had a hand in it
TEXT_MAX: Final = 2000  # characters of one fact; what is longer is a document to be captured
VOUCHED: Final = 0.8  # confidence of what a person says outright
IMPORTANCE: Final = 0.7
_SKIPPED: Final[Mapping[str, str]] = {
    "only-secret": "it was only a secret, and secrets are not kept",
    "own-text": "it is Argus's own text",
    "excluded": "its folder or project is kept out of memory (ARGUS_EXCLUDE)",
    "poison": "it is no statement but a failure's text",
}


@dataclass(frozen=True, slots=True)
class Writer:
    """Who writes, and by which door: `source` is that of the raw item (cli, api, mcp)."""

    name: str
    kind: ActorKind = "person"
    source: str = "cli"
    session: str | None = None
    cwd: str | None = None


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
        raise UsageError(f"text: has {len(text):,} characters, a fact has at most {TEXT_MAX:,}; capture it as a document")
    item = {
        "source": writer.source, "kind": "event", "body": text, "session": writer.session, "cwd": writer.cwd,
        "project": project,
        "metadata": {"write": verb, "actor": writer.name, "original_timestamp": now.isoformat()}
        | ({"uuid": uuid} if uuid else {}),
    }  # fmt: skip
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
        return WriteReceipt("no-op", row["note_id"], row["uid"], captured.id, decision, tuple(row["disputes"]),
                            f"written before: {row['outcome']}")  # fmt: skip
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
        "now": now, "verb": verb, "raw_id": receipt.raw_id, "outcome": receipt.outcome, "note_id": receipt.note_id,
        "decision_id": None if queued else receipt.decision_id, "proposal_id": receipt.decision_id if queued else None,
        "disputes": list(receipt.disputes), "actor": writer.name, "kind": writer.kind, "detail": receipt.detail,
    }  # fmt: skip
    conn.execute(queries("receive").insert_write, params)


def _remember(
    conn: Connection, raw: Mapping[str, Any], writer: Writer, now: datetime, *, category: str
) -> WriteReceipt:
    content, project = raw["body"].strip(), raw["project"]
    twin, disputed = find_neighbours(conn, content, project, now)
    fate = find_fates(conn, [Asked(note_uid(category, content, project), text_key(content), content, project)])[0]
    grounds: Mapping[str, Any] = raw
    if writer.kind == "agent":
        said = conn.execute(queries("receive").said_by_person,
                            {"content": content, "session": writer.session, "now": now}).fetchone()  # fmt: skip
        if said is None or fate.out is not None or disputed:
            why = fate.out.sentence if fate.out else None
            return _propose(conn, raw, writer, now, category, twin, disputed, why)
        grounds = said
    if twin is not None:
        return _reinforce(conn, twin, raw["id"], writer, now, disputed)
    note_id = insert_note(conn, content, grounds, now, category=category, project=project)
    note = lock_note(conn, note_id)
    details = []
    decision_id = None
    if fate.out is not None:
        decision_id = write_decision(conn, note, "restore", writer.name, now=now, kind=writer.kind,
                                     reason="said again by a person")  # fmt: skip
        details.append(f"it overrules decision {fate.out.id}, by which this fact was {PAST[fate.out.decision]}")
    if disputed:
        details.append(f"note {disputed[0]} says otherwise: `argus note correct {disputed[0]}` replaces it")
    return WriteReceipt("created", note_id, note["uid"], raw["id"], decision_id, disputed, "; ".join(details) or None)


def find_neighbours(
    conn: Connection, content: str, project: str | None, now: datetime, *, but: int = 0
) -> tuple[Mapping[str, Any] | None, tuple[int, ...]]:
    """(the live note that states the same fact, ids of live notes that dispute it)."""
    rows = conn.execute(
        queries("receive").neighbours,
        {"content": content, "text_key": text_key(content), "project": project, "now": now, "except": but},
    ).fetchall()
    twin = next((row for row in rows if same_fact(content, row["content"], said=(now, row["said_at"]))), None)
    return twin, tuple(row["id"] for row in rows if row is not twin and disputes(content, row["content"]))


def insert_note(
    conn: Connection,
    content: str,
    grounds: Mapping[str, Any],
    now: datetime,
    *,
    category: str,
    project: str | None,
    old: Mapping[str, Any] | None = None,
    role: str = "user",
    confidence: float = VOUCHED,
) -> int:
    """A note that quotes itself out of `grounds` (id, body, said_at of a raw item); `old` is what it replaces."""
    place = find_in_text(content, grounds["body"]) or (0, len(grounds["body"]))
    more = dict(old or {})
    params = {
        "uid": note_uid(category, content, project), "text_key": text_key(content), "raw_id": grounds["id"],
        "title": content.splitlines()[0][:TITLE_MAX].strip(), "content": content, "category": category,
        "importance": more.get("importance", IMPORTANCE), "confidence": confidence, "project": project,
        "keywords": more.get("keywords", []), "tags": more.get("tags", []),
        "source_ref": grounds["body"][place[0] : place[1]], "source_start": place[0], "source_end": place[1],
        "role": role, "said_at": grounds["said_at"], "model": WRITTEN, "now": now,
        "pinned_at": now if more.get("pinned_at") else None, "excluded_at": now if more.get("excluded_at") else None,
        "confirmed_at": now if role == "user" else None,
    }  # fmt: skip
    row = conn.execute(queries("receive").insert_note, params).fetchone()
    assert row is not None
    return int(row["id"])


def _reinforce(
    conn: Connection, twin: Mapping[str, Any], raw_id: int, writer: Writer, now: datetime, disputed: tuple[int, ...]
) -> WriteReceipt:
    """The fact is there: another voice makes it surer, the same one does not."""
    told = conn.execute(queries("receive").told_before, {"note_id": twin["id"], "actor": writer.name}).fetchone()
    assert told is not None
    confidence = twin["confidence"] if told["told"] else corroborate(twin["confidence"])
    if writer.kind == "person":
        confidence = max(confidence, VOUCHED)
    conn.execute(queries("receive").reinforce,
                 {"id": twin["id"], "confidence": confidence, "is_person": writer.kind == "person", "now": now})  # fmt: skip
    detail = "you said so before" if told["told"] else "it was on record"
    return WriteReceipt("reinforced", twin["id"], twin["uid"], raw_id, disputes=disputed, detail=detail)


def _propose(
    conn: Connection,
    raw: Mapping[str, Any],
    writer: Writer,
    now: datetime,
    category: str,
    twin: Mapping[str, Any] | None,
    disputed: tuple[int, ...],
    why: str | None,
) -> WriteReceipt:
    """An agent's own fact waits for a person, unless it is on record, waits already, or was turned down before."""
    q = queries("receive")
    content, project = raw["body"].strip(), raw["project"]
    if twin is not None:
        return WriteReceipt("no-op", twin["id"], twin["uid"], raw["id"], detail="it is on record; an agent adds no weight")
    known = conn.execute(q.same_proposal, {"content": content, "project": project}).fetchone()
    if known is not None and known["status"] == "pending":
        # Its own proposal stands in the other item's receipt.
        return WriteReceipt("no-op", raw_id=raw["id"], disputes=disputed,
                            detail=f"proposal {known['id']} says so and waits for a person")  # fmt: skip
    if known is not None:
        return WriteReceipt("refused", raw_id=raw["id"],
                            detail=f"a person rejected it on {known['decided_at']:%Y-%m-%d} (proposal {known['id']})")  # fmt: skip
    row = conn.execute(q.insert_proposal, {
        "now": now, "raw_id": raw["id"], "content": content, "category": category, "project": project,
        "actor": writer.name, "disputes": disputed[0] if disputed else None, "reason": why,
    }).fetchone()  # fmt: skip
    assert row is not None
    detail = "it waits for a person in `argus review`" + (f": {why}" if why else "")
    return WriteReceipt("queued", raw_id=raw["id"], decision_id=int(row["id"]), disputes=disputed, detail=detail)


def _correct(
    conn: Connection, raw: Mapping[str, Any], writer: Writer, now: datetime, *, note_id: int, reason: str | None
) -> WriteReceipt:
    note = lock_note(conn, note_id)
    _require_correctable(note)  # it may have changed since it was looked at
    content = raw["body"].strip()
    if writer.kind == "agent" and not may_decide_alone(note, "correct"):
        decision = write_decision(conn, note, "correct", writer.name, now=now, kind="agent", reason=reason, held=True,
                                  new_text=content)  # fmt: skip
        return WriteReceipt("held", note_id, note["uid"], raw["id"], decision, (note_id,),
                            "an agent may not correct this alone: it waits for a person in `argus review`")  # fmt: skip
    return replace_note(conn, note, raw, writer, now, reason=reason)


def replace_note(
    conn: Connection,
    note: Mapping[str, Any],
    raw: Mapping[str, Any],
    writer: Writer,
    now: datetime,
    *,
    reason: str | None = None,
    held: bool = False,
) -> WriteReceipt:
    """Let the words of `raw` stand for `note` (a row of lock_note). `held`: the decision's row is there already."""
    content = raw["body"].strip()
    more = conn.execute(queries("receive").note_more, {"id": note["id"]}).fetchone()
    twin, disputed = find_neighbours(conn, content, note["project"], now, but=note["id"])
    if twin is not None:
        new_id, uid = twin["id"], twin["uid"]
        _reinforce(conn, twin, raw["id"], writer, now, ())
    else:
        role = "user" if writer.kind == "person" else "assistant"
        sure = max(note["confidence"], VOUCHED) if writer.kind == "person" else note["confidence"]
        new_id = insert_note(conn, content, raw, now, category=note["category"], project=note["project"],
                             old={**note, **(more or {})}, role=role, confidence=sure)  # fmt: skip
        uid = note_uid(note["category"], content, note["project"])
    decision = None
    if not held:
        decision = write_decision(conn, note, "correct", writer.name, now=now, kind=writer.kind, reason=reason,
                                  new_text=content, new_note_id=new_id)  # fmt: skip
    new = lock_note(conn, new_id)
    # What a person once took away and now says stands; what was pinned or excluded stays so under its new words.
    verbs = [verb for verb, column in (("pin", "pinned_at"), ("exclude", "excluded_at")) if note[column] is not None]
    if find_fates(conn, [Asked(uid, new["text_key"], content, note["project"])])[0].out is not None:
        verbs.append("restore")
    for verb in verbs:
        write_decision(conn, new, verb, writer.name, now=now, kind=writer.kind, reason=f"by the correction of note {note['id']}")
    conn.execute(queries("receive").replace_note, {"id": note["id"], "new_id": new_id, "now": now})
    detail = f"note {note['id']} is kept as superseded by note {new_id}" + (", which said so already" if twin else "")
    return WriteReceipt("changed", new_id, uid, raw["id"], decision, disputed, detail)


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
