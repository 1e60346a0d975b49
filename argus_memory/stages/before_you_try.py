"""Before you try: procedures, and ways that led nowhere, for what somebody is about to do; across all projects.

Ordinary recall never shows them (recall_tracks.Lane): here they are asked for. Each asking is a row of the ledger.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from datetime import datetime

from argus_memory.db import Database
from argus_memory.errors import UsageError
from argus_memory.models.embedders import Embedder
from argus_memory.records import Note
from argus_memory.rules.dead_ends import DEAD_END
from argus_memory.rules.fence import FENCE_CHARS, fence
from argus_memory.rules.recall_choice import EVIDENCE, KEYWORD_EVIDENCE, Dropped
from argus_memory.rules.recall_text import render
from argus_memory.settings import INJECTION_MAX_CHARS, Settings
from argus_memory.stages.recall_ledger import Injection, record_injection
from argus_memory.stages.recall_notes import load_notes, note_entry
from argus_memory.stages.recall_rank import DEEP, Scored, find_notes, name_people, prepare
from argus_memory.stages.recall_tracks import Question
from argus_memory.stages.search import find_meaning
from argus_memory.stages.spaces import Space, find_active_space

LIMIT = 8
LIMIT_MAX = 50


@dataclass(frozen=True, slots=True)
class Warnings:
    """`dead_ends` are ids of notes among `notes` that tell of a way that led nowhere; the others are procedures.
    `text`: fenced, "" where nothing is on record."""

    injection_id: int
    notes: tuple[Note, ...] = ()
    dead_ends: tuple[int, ...] = ()
    text: str = ""
    degraded: str | None = None


def before_you_try(
    db: Database,
    settings: Settings,
    embedder: Embedder,
    *,
    plan: str,
    now: datetime,
    session: str | None = None,
    limit: int = LIMIT,
) -> Warnings:
    """What is on record about `plan`, best first, at most `limit`; raises UsageError on a blank plan or a limit out
    of range."""
    if not plan.strip():
        raise UsageError("q: say what is to be tried")
    if not 1 <= limit <= LIMIT_MAX:
        raise UsageError(f"limit: {limit} is outside 1 to {LIMIT_MAX}")
    started = time.monotonic()
    with db.transaction() as conn:
        space = find_active_space(conn)
    meaning = find_meaning(db, settings, embedder, plan, space)
    with db.transaction() as conn:
        prepare(conn, DEEP)
        _, names = name_people(conn, plan, None)
        question = Question(plan, now, meaning.vector, space, names, lane="procedures")
        found = find_notes(conn, question, DEEP, fusion=settings.fusion)[0]
        near = [one for one in found if _is_evidence(one, space)][:limit]
        loaded = load_notes(conn, [one.id for one in near])
        rendered = render([note_entry(*loaded[one.id]) for one in near], [], INJECTION_MAX_CHARS - FENCE_CHARS)
        kept = [one for one in near if one.id in rendered.note_ids]
        notes = tuple(
            replace(loaded[one.id][0], score=one.score, rrf_score=one.rrf_score, why=dict(one.why)) for one in kept
        )
        chosen = {one.id for one in near}
        far = [
            Dropped("note", one.id, one.score, one.rrf_score, EVIDENCE) for one in found if one.id not in chosen
        ]
        row = Injection(
            False, now, session=session, query=plan, note_ids=[one.id for one in kept],
            note_scores=[one.score for one in kept], rrf_scores=[one.rrf_score for one in kept], dropped=far,
            degraded=meaning.degraded, skipped=None if kept else "nothing-on-record",
            characters=len(rendered.text), milliseconds=(time.monotonic() - started) * 1000,
        )  # fmt: skip
        id_ = record_injection(conn, row)
    dead = tuple(note.id for note in notes if DEAD_END in note.tags)
    return Warnings(id_, notes, dead, fence(rendered.text) if kept else "", meaning.degraded)


def _is_evidence(one: Scored, space: Space | None) -> bool:
    """Whether a note has to do with the plan: near enough in meaning, or holding enough of its words."""
    floor = space.thresholds.get("evidence_note") if space is not None else None
    if floor is not None and one.cosine is not None and one.cosine >= floor:
        return True
    return one.coverage >= KEYWORD_EVIDENCE
