"""Session context: what a new session of a project is given before its first prompt. No model, no vectors.

Live notes: pinned ones, standing preferences and context, then the most salient others (rules/context_choice.py); and
the end of the project's latest other conversation, verbatim, so that the next session goes on where the last one
stopped even before anything was distilled. The same store at the same moment gives the same text.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from argus_memory.db import Connection, Database, queries
from argus_memory.records import CANARY_PROJECT, Note, TurnHit
from argus_memory.rules.context_choice import Standing, choose_context
from argus_memory.rules.fence import FENCE_CHARS, fence
from argus_memory.rules.recall_text import LATEST_HEAD, clip, render
from argus_memory.settings import CONTEXT_MAX_NOTES, CONTEXT_TURN_CHARS, INJECTION_MAX_CHARS, Settings
from argus_memory.stages.conflicts import settle_scores
from argus_memory.stages.projects import find_project, find_unknown
from argus_memory.stages.recall_ledger import Injection, record_injection
from argus_memory.stages.recall_notes import load_notes, note_entry, turn_entry, who_said

LAST_TURNS = 12  # looked at, newest first, until CONTEXT_TURN_CHARS are used
TURN_CHARS = 600  # of one of them, so that a long answer leaves room for the question before it


@dataclass(frozen=True, slots=True)
class ContextRecall:
    """`text` is "" only when nothing at all is on record for the project or globally. `unknown_project`: the project
    that was named is none, in a sentence."""

    injection_id: int
    project: str | None
    notes: tuple[Note, ...] = ()
    turns: tuple[TurnHit, ...] = ()
    text: str = ""
    unknown_project: str | None = None


def recall_context(
    db: Database,
    settings: Settings,
    *,
    now: datetime,
    cwd: str | None = None,
    repo: Any = None,
    session: str | None = None,
    project: str | None = None,
    host: str | None = None,
    limit: int = CONTEXT_MAX_NOTES,
) -> ContextRecall:
    """At most `limit` notes and CONTEXT_TURN_CHARS of turns, oldest turn first; always one row of `injections`."""
    started = time.monotonic()
    with db.transaction() as conn:
        own = find_project(conn, explicit=project, repo=repo, cwd=cwd, host=host)
        unknown = find_unknown(conn, project)
        notes = [] if own == CANARY_PROJECT else _find_notes(conn, own, limit, now)
        turns = [] if own in (None, CANARY_PROJECT) else _find_turns(conn, own, session)
        places = load_notes(conn, [note.id for note in notes])
        when = f"{turns[-1].said_at:%Y-%m-%d %H:%M} UTC" if turns else ""
        rendered = render(
            [note_entry(note, places[note.id][1]) for note in notes],
            [turn_entry(turn) for turn in turns],
            INJECTION_MAX_CHARS - FENCE_CHARS,
            turn_head=LATEST_HEAD.format(when=when),
        )
        notes = [note for note in notes if note.id in rendered.note_ids]
        turns = [turn for turn in turns if turn.raw_id in rendered.turn_ids]
        text = fence(rendered.text)
        row = Injection(
            False,
            now,
            session=session,
            cwd=cwd,
            project=own,
            note_ids=[note.id for note in notes],
            note_scores=[note.score or 0.0 for note in notes],
            turn_ids=[turn.raw_id for turn in turns],
            turn_scores=[1.0] * len(turns),
            degraded=unknown,
            characters=len(text),
            milliseconds=(time.monotonic() - started) * 1000,
            host=host,
        )
        id_ = record_injection(conn, row)
    return ContextRecall(id_, own, tuple(notes), tuple(turns), text, unknown)


def _find_notes(conn: Connection, project: str | None, limit: int, now: datetime) -> list[Note]:
    rows = conn.execute(queries("recall").context_notes, {"project": project, "limit": limit, "now": now})
    worth = dict(choose_context([Standing(**row) for row in rows], limit, now=now))
    settled = settle_scores(conn, worth, now)
    notes = load_notes(conn, list(settled))
    return [replace(notes[id_][0], score=score) for id_, score in settled.items()]


def _find_turns(conn: Connection, project: str | None, session: str | None) -> list[TurnHit]:
    """The end of the latest other session, oldest turn first, within CONTEXT_TURN_CHARS."""
    params: dict[str, Any] = {"project": project, "session": session or None}
    latest = conn.execute(queries("recall").latest_session, params).fetchone()
    if latest is None:
        return []
    params = {"session": latest["session"], "project": project, "chars": 2 * TURN_CHARS, "limit": LAST_TURNS}
    return take_last(conn.execute(queries("recall").last_turns, params).fetchall())


def take_last(rows: Sequence[Any]) -> list[TurnHit]:
    """Turns from the newest back while their beginnings fit CONTEXT_TURN_CHARS together; oldest first.

    Always at least one: a turn is cut to what is left.
    """
    room = CONTEXT_TURN_CHARS
    turns: list[TurnHit] = []
    for row in rows:
        text = clip(row["body"].strip(), min(TURN_CHARS, room))
        if len(text) > room or (turns and room < TURN_CHARS // 10):
            break
        room -= len(text)
        turns.append(
            TurnHit(
                row["raw_id"], who_said(row), text, row["session"], row["project"], row["said_at"], score=1.0
            )
        )
    return turns[::-1]
