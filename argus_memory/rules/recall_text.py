"""What is injected: recorded facts with dates and sources, within a limit of characters. Pure; the fence comes after.

Facts, not commands: an entry tells when something was said, by whom and where it stands, so that the reader can weigh
it, and the line above the entries says that they are no instructions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

from argus_memory.rules.speaker import SPEAKER

NOTE_CHARS = 600  # of one note: at most two sentences; the whole stands at /notes/{id}
TURN_CHARS = 700  # of one turn
FILES_TOLD = 3  # of a note
NOTE_HEAD = "Notes:"
TURN_HEAD = "Said before, verbatim:"
LATEST_HEAD = "The end of the latest other conversation in this project ({when}), verbatim:"

_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+|(?<=[。！？])")


@dataclass(frozen=True, slots=True)
class NoteEntry:
    id: int
    title: str
    content: str
    category: str
    project: str | None
    said_at: datetime
    source: str
    session: str | None
    changed_on: date | None = None
    changed_files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TurnEntry:
    raw_id: int
    who: str
    text: str
    project: str | None
    said_at: datetime
    session: str


@dataclass(frozen=True, slots=True)
class Rendered:
    """The text, and the ids that found room in it."""

    text: str
    note_ids: tuple[int, ...]
    turn_ids: tuple[int, ...]


def render(
    notes: Sequence[NoteEntry], turns: Sequence[TurnEntry], limit: int, *, turn_head: str = TURN_HEAD
) -> Rendered:
    """At most `limit` characters as the host counts them (UTF-16); entries that find no room are left out whole."""
    parts: list[str] = []
    room = limit
    kept: dict[str, list[int]] = {"note": [], "turn": []}
    entries = [("note", note.id, NOTE_HEAD, note_line(note)) for note in notes]
    entries += [("turn", turn.raw_id, turn_head, turn_line(turn)) for turn in turns]
    for type_, id_, head, line in entries:
        lines = [line] if kept[type_] else [head, line]
        needed = sum(length16(each) + 1 for each in lines)
        if needed > room:
            continue
        room -= needed
        parts += lines
        kept[type_].append(id_)
    return Rendered("\n".join(parts), tuple(kept["note"]), tuple(kept["turn"]))


def note_line(note: NoteEntry) -> str:
    """`- [2026-05-03, decision, api] Title: two sentences (note 12; claude-code session 3f2a91c0)`

    Of a fact that changed the day is told, and not what it was before; of files it names, which changed since.
    """
    text = short_form(note.title, note.content)
    where = ", ".join(part for part in (f"{note.said_at:%Y-%m-%d}", note.category, note.project) if part)
    session = f" session {note.session[:8]}" if note.session else ""
    changed = f" (this changed on {note.changed_on})" if note.changed_on else ""
    if note.changed_files:
        changed += f" (changed since: {', '.join(note.changed_files[:FILES_TOLD])})"
    return f"- [{where}] {text}{changed} (note {note.id}; {note.source}{session})"


def turn_line(turn: TurnEntry) -> str:
    """`- [2026-05-03 10:22 UTC, User, api, session 3f2a91c0] what was said`"""
    where = ", ".join(
        part
        for part in (f"{turn.said_at:%Y-%m-%d %H:%M} UTC", turn.who, turn.project, f"session {turn.session[:8]}")
        if part
    )
    return f"- [{where}] {one_line(turn.text)}"


def short_form(title: str, content: str) -> str:
    """A note in at most two sentences, with its title in front where the content does not begin with it."""
    sentences = [part for part in _SENTENCE_END.split(one_line(content)) if part]
    return clip(titled(title, " ".join(sentences[:2])), NOTE_CHARS)


def titled(title: str, text: str) -> str:
    """The text, with the title in front where it does not begin with it, whoever said it."""
    stem = title.rstrip(".… ").casefold()
    if not stem or SPEAKER.sub("", text).casefold().startswith(stem) or text.casefold().startswith(stem):
        return text
    return f"{title.rstrip('.:')}: {text}"


def excerpt(text: str, stems: Sequence[str], chars: int = TURN_CHARS) -> str:
    """At most `chars` of a text: from a little before the first of the stems that occurs, rarest stem first."""
    if len(text) <= chars:
        return text
    lowered = text.lower()
    found = next((at for at in (lowered.find(stem) for stem in stems if len(stem) > 2) if at >= 0), 0)
    start = max(0, min(found - chars // 4, len(text) - chars))
    if start:
        blank = text.find(" ", start, start + 40)
        start = blank + 1 if blank >= 0 else start
    return ("… " if start else "") + clip(text[start:], chars)


def clip(text: str, chars: int) -> str:
    """At most `chars` characters, cut at a blank where one is near, and marked."""
    if len(text) <= chars:
        return text
    cut = text[: chars - 1]
    blank = cut.rfind(" ", max(0, chars - 40))
    return (cut[:blank] if blank > 0 else cut).rstrip() + "…"


def one_line(text: str) -> str:
    return " ".join(text.split())


def length16(text: str) -> int:
    """Characters as JavaScript, and so the host, counts them."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
