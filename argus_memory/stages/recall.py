"""Prompt recall: what is on record about a prompt, or nothing.

1. Gates: a turn of the program's own, or a prompt without substance, is not looked up.
2. The prompt's project, and its vector in the live space (without one: by words alone, and the row says so).
3. Notes and verbatim turns by both tracks (recall_rank.py); none of the session's own turns: it has them.
4. Priors, the two floors, what the session was already given (rules/recall_choice.py).
5. The text: at most 8,000 characters, fenced as data.
6. One row of `injections`, also when nothing was found or looked up.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from argus_memory.db import Connection, Database
from argus_memory.models.embedders import Embedder
from argus_memory.records import CANARY_PROJECT, Note, TurnHit
from argus_memory.rules.fence import FENCE_CHARS, fence
from argus_memory.rules.recall_choice import ROOM, Choice, Chosen, Dropped, Floors, Option, choose
from argus_memory.rules.recall_text import render
from argus_memory.rules.substance import has_substance, is_system_turn
from argus_memory.settings import INJECTION_MAX_CHARS, PROMPT_MAX_NOTES, Settings
from argus_memory.stages.conflicts import Settled, settle_notes
from argus_memory.stages.projects import find_project, find_unknown
from argus_memory.stages.recall_ledger import Injection, find_seen, record_injection
from argus_memory.stages.recall_notes import BODY_CHARS, load_notes, note_entry, turn_entry, who_said
from argus_memory.stages.recall_rank import QUICK, Scored, find_notes, find_turns, name_people, prepare
from argus_memory.stages.recall_tracks import Question
from argus_memory.stages.search import check_as_of, find_meaning, load_bodies
from argus_memory.stages.spaces import find_active_space

SYSTEM_TURN, SUBSTANCE, NOTHING = "system-turn", "substance", "nothing-on-record"
# Of a prompt: the question stands at its beginning or its end, pasted material in between.
HEAD_CHARS, TAIL_CHARS = 1500, 500
_BESIDE = ThreadPoolExecutor(max_workers=4, thread_name_prefix="recall-notes")


@dataclass(frozen=True, slots=True)
class PromptRecall:
    """`skipped` names why nothing was looked up or found; `text` is "" exactly when nothing is injected.
    `unknown_project`: the project that was named is none, in a sentence; no session fails for that."""

    injection_id: int
    project: str | None
    skipped: str | None = None
    degraded: str | None = None
    notes: tuple[Note, ...] = ()
    turns: tuple[TurnHit, ...] = ()
    text: str = ""
    unknown_project: str | None = None


@dataclass(slots=True)
class _Injectable:
    """What was chosen, as it stands in the answer and in the text."""

    notes: list[Note] = field(default_factory=list)
    turns: list[TurnHit] = field(default_factory=list)
    text: str = ""
    left_out: list[Dropped] = field(default_factory=list)


def recall_for_prompt(
    db: Database,
    settings: Settings,
    embedder: Embedder,
    *,
    prompt: str,
    now: datetime,
    session: str | None = None,
    cwd: str | None = None,
    repo: Any = None,
    project: str | None = None,
    host: str | None = None,
    limit: int = PROMPT_MAX_NOTES,
    floor: float | None = None,
    gated: bool = True,
    as_of: datetime | None = None,
) -> PromptRecall:
    """At most `limit` notes and turns; `floor` (RRF scale) stands before ARGUS_RECALL_FLOOR.

    Not `gated`: a person asked for it, so that two words are enough; a blank prompt is still none.
    `as_of`, a moment of the past: of what was known and held then. Raises UsageError on a moment to come.
    """
    check_as_of(as_of, now)
    then = as_of or now
    started = time.monotonic()
    floor = settings.recall_floor if floor is None else floor
    base = Injection(True, now, session=session, query=prompt, cwd=cwd, floor=floor, host=host)
    gate = find_gate(prompt) if gated else None if prompt.strip() else SUBSTANCE
    if gate is not None:
        with db.transaction() as conn:
            row = replace(base, skipped=gate, milliseconds=_milliseconds(started))
            return PromptRecall(record_injection(conn, row), None, skipped=gate)
    asked = ask_of(prompt)
    with db.transaction() as conn:
        own = find_project(conn, explicit=project, repo=repo, cwd=cwd, host=host)
        unknown = find_unknown(conn, project)
        space = find_active_space(conn)
        speakers, lexemes = name_people(conn, asked, None)
        seen = find_seen(conn, session)
    meaning = find_meaning(db, settings, embedder, asked, space)
    within = CANARY_PROJECT if own == CANARY_PROJECT else None  # a probe finds its own turns and no one's memory
    question = Question(
        asked, then, meaning.vector, space, lexemes, within, session or None, as_of=as_of is not None, lane="ordinary"
    )
    found, stems, overruled = _find(db, settings, question, speakers)
    choice = choose(
        [_option(one) for one in found],
        _floors(question, floor),
        project=own,
        now=then,
        limit=limit,
        seen_notes=seen[0],
        seen_turns=seen[1],
        fusion=settings.fusion,
    )
    with db.transaction() as conn:
        inject = _load(conn, choice, {(one.type, one.id): one for one in found}, stems)
        skipped = None if choice.on_record else NOTHING
        shown = {("note", note.id) for note in inject.notes} | {("turn", turn.raw_id) for turn in inject.turns}
        kept = [each for each in choice.chosen if (each.option.type, each.option.id) in shown]
        notes = [each for each in kept if each.option.type == "note"]
        turns = [each for each in kept if each.option.type == "turn"]
        row = replace(
            base,
            project=own,
            note_ids=[each.option.id for each in notes],
            note_scores=[each.score for each in notes],
            rrf_scores=[each.option.rrf_score for each in notes],
            turn_ids=[each.option.id for each in turns],
            turn_scores=[each.score for each in turns],
            dropped=(*inject.left_out, *overruled, *choice.dropped),
            skipped=skipped,
            degraded="; ".join(why for why in (unknown, meaning.degraded) if why) or None,
            characters=len(inject.text),
            milliseconds=_milliseconds(started),
        )
        id_ = record_injection(conn, row)
    return PromptRecall(
        id_, own, skipped, meaning.degraded, tuple(inject.notes), tuple(inject.turns), inject.text, unknown
    )


def find_gate(prompt: str) -> str | None:
    """Why a prompt is not looked up, None when it is."""
    if is_system_turn(prompt):
        return SYSTEM_TURN
    return None if has_substance(prompt) else SUBSTANCE


def ask_of(prompt: str) -> str:
    """The part of a prompt that is looked up."""
    text = prompt.strip().replace("\0", " ")
    if len(text) <= HEAD_CHARS + TAIL_CHARS:
        return text
    return f"{text[:HEAD_CHARS]} … {text[-TAIL_CHARS:]}"


def _find(
    db: Database, settings: Settings, question: Question, speakers: frozenset[str]
) -> tuple[list[Scored], list[str], Sequence[Dropped]]:
    """Notes and turns, each on a connection of its own at the same time; the words that excerpts should show; and
    notes that a later one overrules.

    The caller holds no connection meanwhile: whoever waits for the pool never keeps another from finishing.
    """
    notes = _BESIDE.submit(_find_notes, db, settings, question)
    with db.transaction() as conn:
        prepare(conn, QUICK)
        turns, stems = find_turns(conn, question, QUICK, speakers, fusion=settings.fusion)
    settled = notes.result()
    turns = [turn for turn in turns if turn.id not in settled.raw_ids]
    return [*settled.notes, *turns], stems, settled.dropped


def _find_notes(db: Database, settings: Settings, question: Question) -> Settled:
    with db.transaction() as conn:
        prepare(conn, QUICK)
        found = find_notes(conn, question, QUICK, fusion=settings.fusion)[0]
        return Settled(found) if question.as_of else settle_notes(conn, found, question.now)


def _floors(question: Question, relevance: float) -> Floors:
    """The space's evidence floors; without a vector words alone are the evidence."""
    thresholds = question.space.thresholds if question.vector is not None and question.space is not None else {}
    return Floors(relevance, thresholds.get("evidence_note"), thresholds.get("evidence_turn"))


def _load(
    conn: Connection, choice: Choice, found: dict[tuple[str, int], Scored], stems: list[str]
) -> _Injectable:
    """The chosen ones in full, rendered and fenced; what finds no room is left out and named."""
    notes = load_notes(conn, [each.option.id for each in choice.chosen if each.option.type == "note"])
    bodies = load_bodies(conn, [each.option.id for each in choice.chosen if each.option.type == "turn"], BODY_CHARS)
    entries, hits, shown = [], [], []
    for each in choice.chosen:
        one = found[each.option.type, each.option.id]
        if one.type == "note":
            note, place = notes[one.id]
            shown.append(replace(note, score=each.score, rrf_score=one.rrf_score, why=dict(one.why)))
            entries.append(note_entry(note, place))
        else:
            hits.append(_turn_hit(each, one, bodies[one.id]))
    turn_entries = [turn_entry(hit, stems) for hit in hits]
    rendered = render(entries, turn_entries, INJECTION_MAX_CHARS - FENCE_CHARS)
    left_out = [
        Dropped(each.option.type, each.option.id, each.score, each.option.rrf_score, ROOM)
        for each in choice.chosen
        if each.option.id not in (rendered.note_ids if each.option.type == "note" else rendered.turn_ids)
    ]
    return _Injectable(
        [note for note in shown if note.id in rendered.note_ids],
        [hit for hit in hits if hit.raw_id in rendered.turn_ids],
        fence(rendered.text),
        left_out,
    )


def _turn_hit(each: Chosen, one: Scored, row: dict[str, Any]) -> TurnHit:
    return TurnHit(
        raw_id=one.id,
        role=who_said(row),
        text=row["body"],
        session=row["session"],
        project=row["project"],
        said_at=row["said_at"],
        score=each.score,
        rrf_score=one.rrf_score,
        why=dict(one.why),
    )


def _option(one: Scored) -> Option:
    return Option(
        one.type, one.id, one.raw_id, one.score, one.rrf_score, one.support, one.coverage, one.cosine,
        one.project, one.said_at, one.kind,
    )  # fmt: skip


def _milliseconds(started: float) -> float:
    return (time.monotonic() - started) * 1000
