"""What a note was at a moment, and what changed about notes between two: from their events alone. Pure.

Two times are kept apart. `valid_from` and `valid_to` say when a fact held; an event's `at` says when Argus learned of
it. "At a moment" means both: known by then, and valid then as it was recorded by then.

Of events whose clock went backwards the order is that of their ids.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

# How a note goes whose place another one takes with another text.
REPLACED: Final = frozenset({"superseded", "corrected", "refined", "redistilled"})
MERGED: Final = "duplicate"
EXCLUDED, ENDED, BEGAN = "excluded", "ended", "began"
FIRMED: Final = frozenset({"reinforced", "confirmed"})


@dataclass(frozen=True, slots=True)
class Event:
    """A row of note_events; `detail` as its column says."""

    id: int
    note_id: int
    at: datetime
    event: str
    actor: str
    other_id: int | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NoteFacts:
    """A note as it stands now, and its events in the order of their ids, those of being shown left out."""

    id: int
    content: str
    category: str
    project: str | None
    created_at: datetime
    valid_from: datetime
    valid_to: datetime | None
    events: tuple[Event, ...] = ()


@dataclass(frozen=True, slots=True)
class Standing:
    """A note at a moment. `why_not`: the reason it went by, excluded, ended or began (yet to come); "" while live or
    unknown. `by`: the event that took it away."""

    known: bool
    live: bool
    text: str
    why_not: str = ""
    by: Event | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """One line of a diff. `event`: the word for it; `other_id`: the note that took its place, with text `after`."""

    note_id: int
    at: datetime
    event: str
    actor: str
    category: str
    project: str | None
    before: str | None = None
    after: str | None = None
    other_id: int | None = None


@dataclass(frozen=True, slots=True)
class Diff:
    """What changed between two moments, newest first. `passed`: came and went in between."""

    added: tuple[Change, ...] = ()
    removed: tuple[Change, ...] = ()
    changed: tuple[Change, ...] = ()
    corroborated: tuple[Change, ...] = ()
    passed: tuple[Change, ...] = ()


def stand(note: NoteFacts, moment: datetime) -> Standing:
    """What was recorded of a note by `moment`, and whether recall could have shown it."""
    by_then = [event for event in note.events if event.at <= moment]
    later = [event for event in note.events if event.at > moment]
    reworded = (event for event in later if event.event == "reworded" and "before" in event.detail)
    text = next((str(event.detail["before"]) for event in reworded), note.content)
    if note.created_at > moment:
        return Standing(False, False, text)
    moved = next((event for event in reversed(by_then) if "reason" in event.detail or "was" in event.detail), None)
    if moved is not None and "reason" in moved.detail:
        return Standing(True, False, text, str(moved.detail["reason"]) or moved.event, moved)
    hidden = next((event for event in reversed(by_then) if event.event in (EXCLUDED, "included")), None)
    if hidden is not None and hidden.event == EXCLUDED:
        return Standing(True, False, text, EXCLUDED, hidden)
    since, until = _validity(note, later)
    if since > moment:
        return Standing(True, False, text, BEGAN)
    if until is not None and until <= moment:
        return Standing(True, False, text, ENDED)
    return Standing(True, True, text)


def compare(notes: Mapping[int, NoteFacts], since: datetime, until: datetime) -> Diff:
    """What changed about these notes after `since` and up to `until`.

    A note whose place another one took is one line with both texts, and the other is no line of its own. Notes that
    took a place must be among `notes`.
    """
    before = {id_: stand(note, since) for id_, note in notes.items()}
    after = {id_: stand(note, until) for id_, note in notes.items()}
    lines: dict[str, list[Change]] = {name: [] for name in ("added", "removed", "changed", "corroborated", "passed")}
    told: set[int] = set()
    firmed: dict[int, Change] = {}
    for id_, note in notes.items():
        was, now = before[id_], after[id_]
        if was.live and now.live:
            _compare_standing(note, was, now, since, until, lines["changed"], firmed)
        elif was.live or _came_and_went(note, was, now, since, until):
            successor = _find_successor(note, now, notes, after)
            if was.live and now.why_not == MERGED and successor is not None:
                told.add(successor.id)
                firmed.setdefault(successor.id, _change(successor, now, "merged", after=after[successor.id].text))
            elif now.why_not == MERGED or (not was.live and now.why_not == "redistilled"):
                continue
            else:
                replaced = successor is not None and now.why_not in REPLACED
                stays = after[successor.id].text if replaced and successor is not None else None
                line = _change(note, now, now.by.event if now.by else now.why_not, before=was.text, after=stays)
                if was.live and replaced and successor is not None:
                    told.add(successor.id)
                lines["changed" if was.live and replaced else "removed" if was.live else "passed"].append(line)
    for id_, note in notes.items():
        if after[id_].live and not before[id_].live and id_ not in told:
            lines["added"].append(_added(note, before[id_], after[id_].text, since, until))
            firmed.pop(id_, None)
    lines["corroborated"] = list(firmed.values())
    return Diff(**{name: _newest_first(found) for name, found in lines.items()})


def _newest_first(found: Sequence[Change]) -> tuple[Change, ...]:
    return tuple(sorted(found, key=lambda line: (line.at, line.note_id), reverse=True))


def _validity(note: NoteFacts, later: Sequence[Event]) -> tuple[datetime, datetime | None]:
    """When the fact held, as it was recorded before the `later` events."""
    since, until = note.valid_from, note.valid_to
    for event in reversed(later):
        if "valid_from" in event.detail:
            since = _moment(event.detail["valid_from"]["before"]) or since
        if "valid_to" in event.detail:
            until = _moment(event.detail["valid_to"]["before"])
    return since, until


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def _within(note: NoteFacts, since: datetime, until: datetime) -> list[Event]:
    return [event for event in note.events if since < event.at <= until]


def _compare_standing(
    note: NoteFacts, was: Standing, now: Standing, since: datetime, until: datetime,
    changed: list[Change], firmed: dict[int, Change],
) -> None:  # fmt: skip
    within = _within(note, since, until)
    if was.text != now.text:
        by = next(event for event in reversed(note.events) if event.event == "reworded" and event.at > since)
        changed.append(_of(note, by.at, "reworded", by.actor, before=was.text, after=now.text))
    elif found := next((event for event in reversed(within) if event.event in FIRMED), None):
        firmed[note.id] = _of(note, found.at, found.event, found.actor, after=now.text)


def _came_and_went(note: NoteFacts, was: Standing, now: Standing, since: datetime, until: datetime) -> bool:
    return not was.known and now.known and not now.live and now.why_not != BEGAN


def _find_successor(
    note: NoteFacts, now: Standing, notes: Mapping[int, NoteFacts], after: Mapping[int, Standing]
) -> NoteFacts | None:
    """The note that stands in the end for one that was replaced, step by step; None where none is live."""
    seen = {note.id}
    by = now.by
    while by is not None and by.other_id is not None and by.other_id in notes and by.other_id not in seen:
        seen.add(by.other_id)
        if after[by.other_id].live:
            return notes[by.other_id]
        by = after[by.other_id].by
    return None


def _change(
    note: NoteFacts, now: Standing, event: str, *, before: str | None = None, after: str | None = None
) -> Change:
    """A line about a note that is no longer live."""
    if now.by is None:  # its validity ended by itself
        at = note.valid_to if note.valid_to is not None else note.created_at
        return _of(note, at, event, "argus", before=before, after=after)
    return _of(note, now.by.at, event, now.by.actor, before=before, after=after, other_id=now.by.other_id)


def _added(note: NoteFacts, was: Standing, text: str, since: datetime, until: datetime) -> Change:
    """A line about a note that is live now and was not: new, back again, or valid since."""
    words = {"created"} if not was.known else {"restored", "included"}
    found = next((event for event in reversed(_within(note, since, until)) if event.event in words), None)
    if found is None:
        at, event = (note.created_at, "created") if not was.known else (note.valid_from, BEGAN)
        return _of(note, at, event, "argus", after=text)
    return _of(note, found.at, found.event, found.actor, after=text)


def _of(
    note: NoteFacts, at: datetime, event: str, actor: str, *,
    before: str | None = None, after: str | None = None, other_id: int | None = None,
) -> Change:  # fmt: skip
    return Change(note.id, at, event, actor, note.category, note.project, before, after, other_id)
