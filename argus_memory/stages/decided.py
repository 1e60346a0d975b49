"""Asking for what was decided: the one question of every path that makes notes, in the transaction that makes them.

    distill, dedup, regenerate ── find_fates ──> out: no note, its turn is withheld
                                            └──> excluded, pinned: the note bears it from the start
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from argus_memory.db import Connection, queries
from argus_memory.rules.decided import FREE, Asked, Fate, InForce, judge_fate

NEAR: Final = 20  # decisions that share most words with a fact are compared with it


def find_fates(conn: Connection, facts: Sequence[Asked]) -> list[Fate]:
    """What decisions in force make of each fact, in their order; one query for all."""
    if not facts:
        return []
    rows = conn.execute(
        queries("decisions").in_force,
        {
            "uids": [fact.uid for fact in facts],
            "text_keys": [fact.text_key for fact in facts],
            "projects": [fact.project for fact in facts],
            "contents": [fact.content for fact in facts],
            "limit": NEAR,
        },
    ).fetchall()
    if not rows:
        return [FREE] * len(facts)
    found: list[list[InForce]] = [[] for _ in facts]
    for row in rows:
        found[row["place"]].append(
            InForce(
                row["id"], row["decision"], row["uid"], row["content"], row["note_id"], row["new_text"],
                exact=row["shared"] is None,
            )
        )  # fmt: skip
    return [judge_fate(fact, decisions) for fact, decisions in zip(facts, found, strict=True)]


def find_forgotten_items(conn: Connection, raw_ids: Sequence[int]) -> frozenset[int]:
    """Which of these raw items were forgotten with their whole arrival."""
    rows = conn.execute(queries("decisions").arrival_items, {"raw_ids": list(raw_ids)})
    return frozenset(row["raw_id"] for row in rows)


def withhold(conn: Connection, raw_ids: Sequence[int], decision: InForce, reason: str, *, now: datetime) -> None:
    """Keep turns that say again what was taken away out of recall, for as long as it is away."""
    if decision.note_id is None or not raw_ids:
        return
    conn.execute(
        queries("decisions").withhold,
        {"raw_ids": list(raw_ids), "note_id": decision.note_id, "reason": reason, "now": now},
    )


def carry(conn: Connection, note_id: int, fate: Fate, *, now: datetime) -> None:
    """Let a note that was just made bear what was decided of its fact."""
    if fate.excluded is None and not fate.pinned:
        return
    conn.execute(
        queries("decisions").carry_decisions,
        {"id": note_id, "excluded": fate.excluded is not None, "pinned": fate.pinned, "now": now},
    )
