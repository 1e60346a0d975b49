"""What happened to notes: the history of one, the timeline of a project, and what changed about a subject.

Reading changes nothing. Events are written by the database's triggers; the rules of two moments are
rules/timeline.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from psycopg.rows import tuple_row

from argus_memory.db import Connection, Database, queries
from argus_memory.errors import NotFound, UsageError
from argus_memory.rules.timeline import Change, Diff, Event, NoteFacts, compare
from argus_memory.stages.projects import name_of
from argus_memory.upkeep.reads import judge_state

TIMELINE_LIMIT: Final = 100
TIMELINE_MAX: Final = 1000
SUBJECT_NOTES: Final = 300  # of a subject that are compared; the rest is counted
EVER: Final = datetime(1970, 1, 1, tzinfo=UTC)  # before anything was said


@dataclass(frozen=True, slots=True)
class NoteHistory:
    """`events`, oldest first: rows of note_events of the note, of earlier rows of the same fact, and of notes that
    went in its favour; `shown` counts recalls. `decisions` and `verdicts`: rows of their tables, oldest first."""

    note_id: int
    uid: str
    text: str
    category: str
    project: str | None
    state: str
    superseded_by: int | None
    valid_from: datetime
    valid_to: datetime | None
    events: tuple[Mapping[str, Any], ...]
    decisions: tuple[Mapping[str, Any], ...]
    verdicts: tuple[Mapping[str, Any], ...]
    shown: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Timeline:
    """Entries newest first, each with the note's text right after it; `more`: older ones were left off.
    `unattributed`: events of the same window whose note belongs to no known project."""

    project: str | None
    since: datetime
    until: datetime
    entries: tuple[Mapping[str, Any], ...]
    more: bool
    unattributed: int


@dataclass(frozen=True, slots=True)
class SubjectDiff:
    """`unattributed`: changes about the subject whose note belongs to no known project: among the lines, or, where a
    project was asked for, beside them. `left_off`: notes that were not compared."""

    subject: str
    project: str | None
    since: datetime
    until: datetime
    added: tuple[Change, ...]
    removed: tuple[Change, ...]
    changed: tuple[Change, ...]
    corroborated: tuple[Change, ...]
    passed: tuple[Change, ...]
    unattributed: int
    left_off: int


def read_history(db: Database, note_id: int, *, now: datetime) -> NoteHistory:
    """Raises NotFound."""
    q = queries("history")
    with db.transaction() as conn:
        note = conn.execute(q.note_key, {"id": note_id}).fetchone()
        if note is None:
            raise NotFound(f"there is no note {note_id}")
        key = {"id": note_id, "uid": note["uid"]}
        events = conn.execute(q.note_events, key).fetchall()
        rows = sorted({note_id} | {event["note_id"] for event in events if event["other_id"] != note_id})
        shown = conn.execute(q.note_shown, {"ids": rows}).fetchone()
        decisions = conn.execute(q.note_decisions, key).fetchall()
        verdicts = conn.execute(q.note_verdicts, key).fetchall()
    assert shown is not None
    excluded = note["deleted_at"] is None and note["excluded_at"] is not None
    return NoteHistory(
        note_id,
        note["uid"],
        note["content"],
        note["category"],
        note["project"],
        "excluded" if excluded else judge_state(note, now),
        note["superseded_by"],
        note["valid_from"],
        note["valid_to"],
        tuple(events),
        tuple(decisions),
        tuple(verdicts),
        shown,
    )


def read_timeline(
    db: Database,
    *,
    since: datetime,
    until: datetime,
    project: str | None = None,
    events: Sequence[str] | None = None,
    limit: int = TIMELINE_LIMIT,
) -> Timeline:
    """Events from `since` until before `until`, of one project or of all, only of the kinds `events` where given.

    Raises NotFound for a project that does not exist, UsageError for a window that ends before it begins or a limit
    out of range.
    """
    check_window(since, until)
    if not 1 <= limit <= TIMELINE_MAX:
        raise UsageError(f"limit: {limit} is outside 1 to {TIMELINE_MAX}")
    q = queries("history")
    with db.transaction() as conn:
        params: dict[str, Any] = {
            "since": since, "until": until, "limit": limit + 1,
            "events": list(events) if events else None, "projects": names_of(conn, project),
        }  # fmt: skip
        # Planned for these values: a plan for any project would walk through all the others' events.
        page = conn.execute(q.timeline if project is None else q.project_timeline, params, prepare=False).fetchall()
        ids = [row["id"] for row in page[:limit]]
        entries = conn.execute(q.timeline_entries, {"ids": ids}).fetchall()
        unattributed = conn.execute(q.unattributed, params, prepare=False).fetchone()
    assert unattributed is not None
    return Timeline(project, since, until, tuple(entries), len(page) > limit, unattributed["events"])


def read_diff(
    db: Database, subject: str, *, since: datetime, until: datetime, project: str | None = None
) -> SubjectDiff:
    """What was learned, lost, changed and firmed about `subject` after `since` and up to `until`.

    A note is about the subject when it holds all its words (by their stems), whatever became of it since. Raises
    UsageError for a subject without a word to look for or a window that ends before it begins, NotFound for a project
    that does not exist.
    """
    check_window(since, until)
    q = queries("history")
    with db.transaction() as conn:
        names = names_of(conn, project)
        found = conn.execute(
            q.subject_notes,
            {"words": _words_of(conn, subject), "projects": names, "since": since, "until": until,
             "limit": SUBJECT_NOTES},
            prepare=False,
        ).fetchall()  # fmt: skip
        notes = load_facts(conn, [row["id"] for row in found])
    own, foreign = _part(compare(notes, since, until), names)
    return SubjectDiff(
        subject, project, since, until, own.added, own.removed, own.changed, own.corroborated, own.passed,
        foreign, found[0]["found"] - len(found) if found else 0,
    )  # fmt: skip


def just_after(now: datetime) -> datetime:
    """The end of a window up to now, which leaves out its own end: what happened at this very moment is within it."""
    return now + timedelta(microseconds=1)


def load_facts(conn: Connection, ids: Sequence[int]) -> dict[int, NoteFacts]:
    """These notes with their events, and with those whose place they took or that took theirs."""
    if not ids:
        return {}
    q = queries("history")
    family = conn.execute(q.families, {"ids": list(ids)}, prepare=False).fetchone()
    assert family is not None
    rows = conn.execute(q.facts_of, {"ids": family["ids"]}, prepare=False).fetchall()
    events: dict[int, list[Event]] = {row["id"]: [] for row in rows}
    # Plain rows, in the order of Event's fields: a thousand dicts are a tenth of a diff's time.
    with conn.cursor(row_factory=tuple_row) as cursor:
        for row in cursor.execute(q.events_of, {"ids": list(events)}, prepare=False):
            event = Event(*row)
            events[event.note_id].append(event)
    return {row["id"]: NoteFacts(**row, events=tuple(events[row["id"]])) for row in rows}


def _part(diff: Diff, names: Sequence[str] | None) -> tuple[Diff, int]:
    """The lines of the project asked for, and how many belong to none."""
    parts = {name: getattr(diff, name) for name in Diff.__slots__}
    unattributed = sum(line.project is None for lines in parts.values() for line in lines)
    if names is None:
        return diff, unattributed
    own = {name: tuple(line for line in lines if line.project in names) for name, lines in parts.items()}
    return Diff(**own), unattributed


def _words_of(conn: Connection, subject: str) -> str:
    """The subject's words as a tsquery that asks for all of them."""
    row = conn.execute(queries("history").subject_lexemes, {"subject": subject}).fetchone()
    lexemes = [] if row is None else row["lexemes"]
    if not lexemes:
        raise UsageError(f"subject: {subject!r} has no word to look for")
    quoted = (str(lexeme).replace("\\", "\\\\").replace("'", "''") for lexeme in lexemes)
    return " & ".join(f"'{lexeme}'" for lexeme in quoted)


def names_of(conn: Connection, project: str | None) -> list[str] | None:
    """Every name the project has had; None for all projects. Raises NotFound with the nearest names."""
    if project is None:
        return None
    q = queries("history")
    names = [row["name"] for row in conn.execute(q.project_names, {"project": project})]
    if names:
        return names
    name = name_of(conn, project)
    return None if name is None else [name]


def check_window(since: datetime, until: datetime) -> None:
    if until < since:
        raise UsageError(f"until: {until:%Y-%m-%d %H:%M} UTC is before since, {since:%Y-%m-%d %H:%M} UTC")
