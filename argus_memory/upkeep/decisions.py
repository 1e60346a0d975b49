"""What a person, or an agent within its bounds, decides of a note: pin, exclude, forget, their opposites, reconfirm.

    decide ── person, or an agent on a doubtful note ──> the note changes, and a decision is in force
       └───── an agent on anything else ───────────────> the decision is held; nothing changes

A decision is kept by the note's uid and by its text, so that it outlives the row: distill, dedup, regeneration and
import ask for it (stages/decided.py). A later decision of the same kind overtakes the one in force.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, Literal

from argus_memory.db import Connection, Database, queries
from argus_memory.errors import Conflict, NotFound
from argus_memory.records import WriteReceipt
from argus_memory.rules.decided import ActorKind, may_decide_alone
from argus_memory.rules.rewording import repeats, says
from argus_memory.stages.acting import as_actor
from argus_memory.stages.note_files import reconfirm_files

Verb = Literal["pin", "unpin", "exclude", "include", "forget", "restore", "confirm"]
VERBS: Final[tuple[Verb, ...]] = ("pin", "unpin", "exclude", "include", "forget", "restore", "confirm")

NEAR: Final = 50  # notes and turns that share most words with a fact are compared with it

# What a decision takes the place of.
OVERTAKES: Final[Mapping[str, tuple[str, ...]]] = {
    "pin": ("pin", "unpin"),
    "unpin": ("pin", "unpin"),
    "exclude": ("exclude", "include"),
    "include": ("exclude", "include"),
    "forget": ("forget", "restore", "pin", "confirm"),
    "restore": ("forget", "reject", "correct", "restore"),
    "confirm": ("confirm",),
    "correct": ("correct", "restore", "pin", "confirm"),
    "redact": ("redact", "restore", "pin", "confirm"),
    "reject": ("reject", "restore"),
    "approve": ("approve", "reject"),
}
# What lets a fact back in binds its text as well, whatever category and project it was forgotten under.
_BY_TEXT: Final = ("restore", "include")
# Tombstones that a person's word can lift; merges are taken back by `argus review undo`.
_RESTORABLE: Final = ("forgotten", "rejected", "redistilled")


def pin(db: Database, note_id: int, actor: str, *, now: datetime, **more: Any) -> WriteReceipt:
    """Keep a note from being merged, superseded or redistilled away without review."""
    return decide(db, "pin", note_id, actor, now=now, **more)


def unpin(db: Database, note_id: int, actor: str, *, now: datetime, **more: Any) -> WriteReceipt:
    return decide(db, "unpin", note_id, actor, now=now, **more)


def exclude(db: Database, note_id: int, actor: str, *, now: datetime, **more: Any) -> WriteReceipt:
    """Keep a note, and show it in no recall, nor the turn it stands in."""
    return decide(db, "exclude", note_id, actor, now=now, **more)


def include(db: Database, note_id: int, actor: str, *, now: datetime, **more: Any) -> WriteReceipt:
    return decide(db, "include", note_id, actor, now=now, **more)


def forget(db: Database, note_id: int, actor: str, *, now: datetime, **more: Any) -> WriteReceipt:
    """Take a note away for good: it does not come back by itself, also reworded."""
    return decide(db, "forget", note_id, actor, now=now, **more)


def restore(db: Database, note_id: int, actor: str, *, now: datetime, **more: Any) -> WriteReceipt:
    """Bring back what was forgotten."""
    return decide(db, "restore", note_id, actor, now=now, **more)


def reconfirm(db: Database, note_id: int, actor: str, *, now: datetime, **more: Any) -> WriteReceipt:
    """Say that a note still holds."""
    return decide(db, "confirm", note_id, actor, now=now, **more)


def decide(
    db: Database,
    verb: Verb,
    note_id: int,
    actor: str,
    *,
    now: datetime,
    kind: ActorKind = "person",
    reason: str | None = None,
) -> WriteReceipt:
    """One decision in a transaction of its own. Raises NotFound, or Conflict where it does not fit the note."""
    with db.transaction() as conn:
        return decide_in(conn, verb, note_id, actor, now=now, kind=kind, reason=reason)


def decide_in(
    conn: Connection,
    verb: Verb,
    note_id: int,
    actor: str,
    *,
    now: datetime,
    kind: ActorKind = "person",
    reason: str | None = None,
    arrival: str | None = None,
) -> WriteReceipt:
    """The same in the caller's transaction; `arrival` names the bulk forget it belongs to."""
    note = lock_note(conn, note_id)
    check_fit(note, verb)
    if _is_so(note, verb):
        return WriteReceipt("no-op", note_id, note["uid"], note["raw_id"], detail=_SO[verb])
    held = kind == "agent" and not may_decide_alone(note, verb)
    as_actor(conn, actor, now=now)
    id_ = write_decision(
        conn, note, verb, actor, now=now, kind=kind, reason=reason, arrival=arrival, held=held
    )
    if held:
        return WriteReceipt(
            "held", note_id, note["uid"], note["raw_id"], id_,
            detail="an agent may not decide this alone: it waits for a person in `argus review`",
        )  # fmt: skip
    apply(conn, verb, note_id, now=now)
    others = 0
    if verb in ("forget", "exclude"):
        others = take_repeats(conn, note, verb, actor, now=now, kind=kind, arrival=arrival)
    detail = f"{others} other notes that say the same went with it" if others else None
    return WriteReceipt("changed", note_id, note["uid"], note["raw_id"], id_, detail=detail)


def take_repeats(
    conn: Connection, note: Mapping[str, Any], verb: Verb, actor: str, *, now: datetime, kind: ActorKind = "person",
    arrival: str | None = None,
) -> int:  # fmt: skip
    """Decide the same of live notes that say the same, each on record by itself; withhold turns that say it as a
    sentence. Returns the notes changed: of an agent, those it may not decide on are held."""
    changed = 0
    for other in lock_repeats(conn, note, now=now):
        if _is_so(other, verb):
            continue
        held = kind == "agent" and not may_decide_alone(other, verb)
        write_decision(
            conn, other, verb, actor, now=now, kind=kind, reason=f"says what note {note['id']} says",
            arrival=arrival, held=held,
        )  # fmt: skip
        if not held:
            apply(conn, verb, other["id"], now=now)
            changed += 1
    withhold_repeats(conn, note, "forgotten" if verb == "forget" else "excluded", now=now)
    return changed


def lock_repeats(conn: Connection, note: Mapping[str, Any], *, now: datetime) -> list[Mapping[str, Any]]:
    """Standing notes that say what `note` says, in the same words or others, each locked as by lock_note.

    And what says the same as one of those: the decision on each of them binds its text in every project, and its
    rewordings in its own.
    """
    found: dict[int, Mapping[str, Any]] = {}
    ask = [note]
    while ask and len(found) < NEAR:
        one = ask.pop()
        for row in conn.execute(queries("decisions").live_repeats, _like(one, now)).fetchall():
            says_so = row["exact"] or repeats(one["content"], row["content"])
            if says_so and row["id"] not in found and row["id"] != note["id"]:
                found[row["id"]] = lock_note(conn, row["id"])
                ask.append(found[row["id"]])
    return [found[note_id] for note_id in sorted(found)]


def withhold_repeats(conn: Connection, note: Mapping[str, Any], reason: str, *, now: datetime) -> None:
    """Turns that say it as a sentence are withheld with it."""
    q = queries("decisions")
    turns = conn.execute(q.like_turns, _like(note, now)).fetchall()
    says_it = [row["raw_id"] for row in turns if says(row["body"], note["content"])]
    conn.execute(q.withhold, {"raw_ids": says_it, "note_id": note["id"], "reason": reason, "now": now})


def _like(note: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    asked = {name: note[name] for name in ("id", "uid", "text_key", "content", "project")}
    return {**asked, "now": now, "limit": NEAR}


def apply(conn: Connection, verb: Verb, note_id: int, *, now: datetime) -> None:
    """The change that the decision makes to the note's row; as_actor was called before."""
    q = queries("decisions")
    change = {"pin": q.pin, "unpin": q.unpin, "exclude": q.exclude, "include": q.include, "forget": q.forget,
              "restore": q.restore, "confirm": q.confirm}[verb]  # fmt: skip
    conn.execute(change, {"id": note_id, "now": now})
    if verb == "confirm":
        reconfirm_files(conn, note_id)


def lock_note(conn: Connection, note_id: int) -> Mapping[str, Any]:
    """The note's row, locked. Raises NotFound."""
    row = conn.execute(queries("decisions").lock_note, {"id": note_id}).fetchone()
    if row is None:
        raise NotFound(f"there is no note {note_id}")
    return row


def write_decision(
    conn: Connection,
    note: Mapping[str, Any],
    decision: str,
    actor: str,
    *,
    now: datetime,
    kind: ActorKind = "person",
    reason: str | None = None,
    arrival: str | None = None,
    held: bool = False,
    new_text: str | None = None,
    new_note_id: int | None = None,
) -> int:
    """A row of note_decisions about `note` (a row of lock_note); returns its id. In force, it overtakes what it takes
    the place of; held, it changes nothing."""
    params = {
        **{name: note[name] for name in _NOTE_COLUMNS},
        "note_id": note["id"],
        "decision": decision,
        "status": "held" if held else "in-force",
        "new_text": new_text,
        "new_note_id": new_note_id,
        "arrival": arrival,
        "actor": actor,
        "actor_kind": kind,
        "reason": reason,
        "now": now,
    }
    row = conn.execute(queries("decisions").insert_decision, params).fetchone()
    assert row is not None
    if not held:
        overtake(conn, note, decision, row["id"], actor, now=now)
    return int(row["id"])


def overtake(
    conn: Connection, note: Mapping[str, Any], decision: str, id_: int, actor: str, *, now: datetime
) -> None:
    """Let decision `id_` take the place of earlier ones of its kind on this fact."""
    conn.execute(
        queries("decisions").overtake,
        {
            "id": id_,
            "uid": note["uid"],
            "text_key": note["text_key"],
            "decisions": list(OVERTAKES[decision]),
            "by_text": decision in _BY_TEXT,
            "actor": actor,
            "now": now,
        },
    )


_NOTE_COLUMNS: Final = ("uid", "text_key", "content", "category", "project", "raw_id", "source_start", "source_end")
_SO: Final[Mapping[str, str]] = {
    "pin": "it was pinned before",
    "unpin": "it is not pinned",
    "exclude": "it was excluded before",
    "include": "it is not excluded",
    "forget": "it was forgotten before",
    "restore": "it is live",
}


def _is_so(note: Mapping[str, Any], verb: Verb) -> bool:
    """Whether the note is already as the decision would make it; a confirmation is always news."""
    match verb:
        case "pin" | "unpin":
            return (note["pinned_at"] is not None) == (verb == "pin")
        case "exclude" | "include":
            return (note["excluded_at"] is not None) == (verb == "exclude")
        case "forget":
            return bool(note["deleted_reason"] == "forgotten")
        case "restore":
            return note["deleted_at"] is None
    return False


def check_fit(note: Mapping[str, Any], verb: Verb) -> None:
    """Raises Conflict for a decision that a tombstoned note cannot take."""
    if note["deleted_at"] is None or verb in ("unpin", "include"):
        return
    why = note["deleted_reason"] or "tombstoned"
    if verb == "restore":
        if why in _RESTORABLE:
            return
        cure = {
            "redacted": "its words are gone for good",
            "corrected": f"note {note['superseded_by']} says what holds: correct that one",
        }.get(why, "`argus review undo` takes a merge back")
        raise Conflict(f"note {note['id']} was {why}, not forgotten: {cure}")
    if verb == "forget" and why != "redacted":
        return  # a merged or superseded one too: so it is not brought back by an undo
    raise Conflict(f"cannot {verb} note {note['id']}: it was {why}; `argus note restore` comes first")
