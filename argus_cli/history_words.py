"""A note's history in words, for `argus note history` and `argus timeline`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from argus_cli.counts import count
from argus_memory.rules.event_words import detail_words

if TYPE_CHECKING:
    from argus_memory.upkeep.history import NoteHistory

TEXT_CHARS = 160


def history_as_text(found: NoteHistory) -> str:
    """The note and its state, a line an event, oldest first; then verdicts, decisions and how often it was shown."""
    where = ", ".join(part for part in (found.category, found.project) if part)
    lines = [f"note {found.note_id}  {one_line(found.text)}", f"    {found.state}; {where}; uid {found.uid}"]
    for event in found.events:
        lines.append(event_line(event, found.note_id))
    for row in found.verdicts:
        close = "" if row["similarity"] is None else f", closeness {row['similarity']:.2f}"
        other = row["other_id"] if row["note_id"] == found.note_id else row["note_id"]
        lines.append(
            f"{row['at']:%Y-%m-%d %H:%M}  verdict {row['id']}: {row['verdict']} with note {other} ({row['status']},"
            f" by {row['model']}{close}): {one_line(row['reasoning'])}"
        )
    for row in found.decisions:
        reason = f": {row['reason']}" if row["reason"] else ""
        lines.append(
            f"{row['at']:%Y-%m-%d %H:%M}  decision {row['id']}: {row['decision']} ({row['status']}), by"
            f" {row['actor']}{reason}"
        )
    if found.shown["times"]:
        lines.append(
            f"shown {count(found.shown['times'], 'time')}, from {found.shown['first_at']:%Y-%m-%d} to"
            f" {found.shown['last_at']:%Y-%m-%d}"
        )
    return "\n".join(lines)


def event_line(event: Mapping[str, Any], note_id: int) -> str:
    """An event of the note, of an earlier row of the same fact, or of a note that went in its favour."""
    about, other = "", event["other_id"]
    if other == note_id:
        about, other = f" (note {event['note_id']}, in its favour)", None
    elif event["note_id"] != note_id:
        about = f" (as note {event['note_id']})"
    other_words = f" → note {other}" if other else ""
    more = detail_words(event["event"], event["detail"])
    return f"{event['at']:%Y-%m-%d %H:%M}  {event['event']:<11} by {event['actor']}{other_words}{about}{more}"


def one_line(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= TEXT_CHARS else plain[: TEXT_CHARS - 1].rstrip() + "…"
