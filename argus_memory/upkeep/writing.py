"""What a written fact does to the notes: a new one, the same one surer, a proposal, or one in another's place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from argus_memory.db import Connection, queries
from argus_memory.records import WriteReceipt
from argus_memory.rules.contest import disputes
from argus_memory.rules.dead_ends import with_dead_end
from argus_memory.rules.decided import ActorKind, Asked, may_decide_alone
from argus_memory.rules.dedup_judgement import corroborate
from argus_memory.rules.grounding import find_in_text
from argus_memory.rules.rewording import repeats
from argus_memory.rules.same_fact import same_fact
from argus_memory.rules.uid import note_uid, text_key
from argus_memory.settings import TITLE_MAX
from argus_memory.stages.decided import find_fates
from argus_memory.upkeep.decisions import lock_note, lock_repeats, withhold_repeats, write_decision

WRITTEN: Final = "as-written"  # the model's name where no model had a hand in it
VOUCHED: Final = 0.8  # confidence of what a person says outright
IMPORTANCE: Final = 0.7


@dataclass(frozen=True, slots=True)
class Writer:
    """Who writes, and by which door: `source` is that of the raw item (cli, api, mcp)."""

    name: str
    kind: ActorKind = "person"
    source: str = "cli"
    session: str | None = None
    cwd: str | None = None


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
        "uid": note_uid(category, content, project),
        "text_key": text_key(content),
        "raw_id": grounds["id"],
        "title": content.splitlines()[0][:TITLE_MAX].strip(),
        "content": content,
        "category": category,
        "importance": more.get("importance", IMPORTANCE),
        "confidence": confidence,
        "project": project,
        "keywords": more.get("keywords", []),
        "tags": with_dead_end(more.get("tags", []), content),
        "source_ref": grounds["body"][place[0] : place[1]],
        "source_start": place[0],
        "source_end": place[1],
        "role": role,
        "said_at": grounds["said_at"],
        "model": WRITTEN,
        "now": now,
        "pinned_at": now if more.get("pinned_at") else None,
        "excluded_at": now if more.get("excluded_at") else None,
        "confirmed_at": now if role == "user" else None,
    }
    row = conn.execute(queries("receive").insert_note, params).fetchone()
    assert row is not None
    return int(row["id"])


def reinforce(
    conn: Connection, twin: Mapping[str, Any], raw_id: int, writer: Writer, now: datetime, disputed: tuple[int, ...]
) -> WriteReceipt:
    """The fact is there: another voice makes it surer, the same one does not."""
    told = conn.execute(queries("receive").told_before, {"note_id": twin["id"], "actor": writer.name}).fetchone()
    assert told is not None
    confidence = twin["confidence"] if told["told"] else corroborate(twin["confidence"])
    if writer.kind == "person":
        confidence = max(confidence, VOUCHED)
    conn.execute(
        queries("receive").reinforce,
        {"id": twin["id"], "confidence": confidence, "is_person": writer.kind == "person", "now": now},
    )
    detail = "you said so before" if told["told"] else "it was on record"
    return WriteReceipt("reinforced", twin["id"], twin["uid"], raw_id, disputes=disputed, detail=detail)


def propose(
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
        return WriteReceipt(
            "no-op", twin["id"], twin["uid"], raw["id"], detail="it is on record; an agent adds no weight"
        )
    known = conn.execute(q.same_proposal, {"content": content, "project": project}).fetchone()
    if known is not None and known["status"] == "pending":
        # Its own proposal stands in the other item's receipt.
        return WriteReceipt(
            "no-op",
            raw_id=raw["id"],
            disputes=disputed,
            detail=f"proposal {known['id']} says so and waits for a person",
        )
    if known is not None:
        return WriteReceipt(
            "refused",
            raw_id=raw["id"],
            detail=f"a person rejected it on {known['decided_at']:%Y-%m-%d} (proposal {known['id']})",
        )
    row = conn.execute(
        q.insert_proposal,
        {
            "now": now,
            "raw_id": raw["id"],
            "content": content,
            "category": category,
            "project": project,
            "actor": writer.name,
            "disputes": disputed[0] if disputed else None,
            "reason": why,
        },
    ).fetchone()
    assert row is not None
    detail = "it waits for a person in `argus review`" + (f": {why}" if why else "")
    return WriteReceipt("queued", raw_id=raw["id"], decision_id=int(row["id"]), disputes=disputed, detail=detail)


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
        reinforce(conn, twin, raw["id"], writer, now, ())
    else:
        role = "user" if writer.kind == "person" else "assistant"
        sure = max(note["confidence"], VOUCHED) if writer.kind == "person" else note["confidence"]
        new_id = insert_note(
            conn,
            content,
            raw,
            now,
            category=note["category"],
            project=note["project"],
            old={**note, **(more or {})},
            role=role,
            confidence=sure,
        )
        uid = note_uid(note["category"], content, note["project"])
    decision = None
    if not held:
        decision = write_decision(
            conn,
            note,
            "correct",
            writer.name,
            now=now,
            kind=writer.kind,
            reason=reason,
            new_text=content,
            new_note_id=new_id,
        )
    new = lock_note(conn, new_id)
    # What a person once took away and now says stands; what was pinned or excluded stays so under its new words.
    verbs = [verb for verb, column in (("pin", "pinned_at"), ("exclude", "excluded_at")) if note[column] is not None]
    if find_fates(conn, [Asked(uid, new["text_key"], content, note["project"])])[0].out is not None:
        verbs.append("restore")
    for verb in verbs:
        write_decision(
            conn, new, verb, writer.name, now=now, kind=writer.kind, reason=f"by the correction of note {note['id']}"
        )
    conn.execute(queries("receive").replace_note, {"id": note["id"], "new_id": new_id, "now": now})
    _replace_repeats(conn, note, new, writer, now)
    detail = f"note {note['id']} is kept as superseded by note {new_id}" + (", which said so already" if twin else "")
    return WriteReceipt("changed", new_id, uid, raw["id"], decision, disputed, detail)


def _replace_repeats(
    conn: Connection, note: Mapping[str, Any], new: Mapping[str, Any], writer: Writer, now: datetime
) -> None:
    """What says the same as the corrected note is corrected with it; what an agent may not touch is held."""
    for other in lock_repeats(conn, note, now=now):
        same = other["text_key"] == note["text_key"] or other["uid"] == note["uid"]
        if other["id"] == new["id"] or (not same and repeats(new["content"], other["content"])):
            continue  # what says it in other words, as the new note does, is not against it
        held = writer.kind == "agent" and not may_decide_alone(other, "correct")
        write_decision(
            conn,
            other,
            "forget" if held else "correct",
            writer.name,
            now=now,
            kind=writer.kind,
            reason=f"says what note {note['id']} said, which was corrected",
            new_text=None if held else new["content"],
            new_note_id=None if held else new["id"],
            held=held,
        )
        if not held:
            conn.execute(queries("receive").replace_note, {"id": other["id"], "new_id": new["id"], "now": now})
    withhold_repeats(conn, note, "corrected", now=now)
