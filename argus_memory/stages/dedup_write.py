"""What dedup writes: the changes that verdicts make, with their log rows, in the caller's transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from argus_memory.db import Connection, queries
from argus_memory.rules.dedup_judgement import NoteView, Plan, corroborate
from argus_memory.stages.acting import MACHINE, as_actor

REASON = {"duplicate": "duplicate", "refine": "refined", "supersede": "superseded"}


@dataclass(frozen=True, slots=True)
class Decision:
    """A plan, who made it, and on what figures."""

    plan: Plan
    model: str
    similarity: float | None
    same_fact: bool


def write_decisions(
    conn: Connection, note: NoteView, decisions: Sequence[Decision], *, now: datetime, pass_id: int
) -> list[Decision] | None:
    """Apply the decisions on one note, closest neighbour first; returns those that were written.

    None when a note changed since they were made (tombstoned, edited, corroborated): nothing is written, and the
    note is looked at again. After a decision that takes the note itself away the others have no object.
    """
    q = queries("dedup")
    as_actor(conn, MACHINE, now=now)
    others = {decision.plan.note_id for decision in decisions} | {d.plan.other_id for d in decisions}
    rows = {row["id"]: row for row in conn.execute(q.lock_notes, {"ids": sorted(others | {note.id})})}
    own = rows[note.id]
    if own["deduped_at"] is not None or own["deleted_at"] is not None or own["content"] != note.content:
        return None
    if any(_is_changed(rows, decision) for decision in decisions):
        return None
    conn.execute(q.mark_deduped, {"id": note.id, "now": now})
    written: list[Decision] = []
    gained: dict[int, float] = {}
    for made in decisions:
        decision = replace(made, plan=_rebase(made.plan, gained))
        apply_plan(conn, decision.plan, now)
        _record(conn, decision, now, pass_id)
        written.append(decision)
        if decision.plan.gone == note.id:
            break
    return written


def _rebase(plan: Plan, gained: dict[int, float]) -> Plan:
    """The plan, on the confidence that the decisions before it left; `gained` is what each note has by now."""
    if plan.stays is None or plan.confidence is None or plan.verdict == "supersede":
        return plan
    before, after = plan.confidence
    if plan.stays in gained:
        grown = corroborate(gained[plan.stays]) if after > before else gained[plan.stays]
        before, after = gained[plan.stays], max(grown, after)
    gained[plan.stays] = after
    return replace(plan, confidence=(before, after))


def _is_changed(rows: Mapping[int, Mapping[str, Any]], decision: Decision) -> bool:
    """Whether either note is gone, or pinned meanwhile, or its confidence is not the one the plan was made with."""
    plan = decision.plan
    if any(rows[note_id]["deleted_at"] is not None for note_id in (plan.note_id, plan.other_id)):
        return True
    if plan.gone is not None and rows[plan.gone]["pinned"]:
        return True
    weighed = plan.note_id if plan.verdict == "refine" else plan.other_id
    return plan.confidence is not None and abs(rows[weighed]["confidence"] - plan.confidence[0]) > 1e-6


def apply_plan(conn: Connection, plan: Plan, now: datetime) -> None:
    """Take `plan.gone` away in favour of `plan.stays`, which gains confidence where the plan says so."""
    if plan.gone is None:
        return
    conn.execute(
        queries("dedup").tombstone,
        {
            "gone": plan.gone,
            "stays": plan.stays,
            "reason": REASON[plan.verdict],
            "valid_to": plan.valid_to,
            "now": now,
        },
    )
    if plan.verdict != "supersede" and plan.confidence:
        conn.execute(queries("dedup").set_confidence, {"id": plan.stays, "confidence": plan.confidence[1]})


def _record(conn: Connection, decision: Decision, now: datetime, pass_id: int) -> None:
    plan = decision.plan
    before, after = plan.confidence or (None, None)
    conn.execute(
        queries("dedup").insert_verdict,
        {
            "pass_id": pass_id,
            "note_id": plan.note_id,
            "other_id": plan.other_id,
            "verdict": plan.verdict,
            "similarity": decision.similarity,
            "same_fact": decision.same_fact,
            "model": decision.model,
            "status": plan.status,
            "reasoning": plan.reasoning,
            "confidence_before": before,
            "confidence_after": after,
            "valid_to_before": plan.valid_to_before,
            "now": now,
        },
    )
