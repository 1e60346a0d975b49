"""timeline and what_changed: what happened to notes over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Annotated, Any, Final

from mcp.server import MCPServer
from mcp.types import CallToolResult
from pydantic import Field

from argus_api.hub import Hub, utc_now
from argus_api.mcp.answers import fit, give, read_cursor, read_moment_of, write_cursor
from argus_api.mcp.verbs import READ, Cursor, Project, verb
from argus_memory.errors import UsageError
from argus_memory.rules.moments import parse_moment
from argus_memory.rules.recall_text import clip, one_line
from argus_memory.rules.storable import storable
from argus_memory.rules.timeline import Change
from argus_memory.upkeep import history
from argus_memory.upkeep.serving import find_taken

TEXT: Final = 220  # characters of a note in a line
TICK: Final = timedelta(microseconds=1)
CHANGES: Final = ("added", "changed", "removed", "corroborated", "passed")
Since = Annotated[
    str | None, Field(description="From when: 2026-03-01, yesterday, march, 7d (so long ago)", max_length=40)
]
Until = Annotated[str | None, Field(description="Until when, in the same forms; now if left out", max_length=40)]


def add_history_tools(server: MCPServer[Any], hub: Hub) -> None:
    """Register the two verbs."""

    @verb(server, "timeline", "What happened to notes", READ)
    def timeline(
        project: Project = None,
        since: Since = None,
        until: Until = None,
        events: Annotated[
            list[str] | None,
            Field(description="Only these kinds, such as created, superseded, corrected, forgotten", max_length=30),
        ] = None,
        limit: Annotated[int, Field(ge=1, le=100, description="Events in one answer")] = 20,
        cursor: Cursor = None,
    ) -> CallToolResult:
        """What was learned, replaced, corrected and forgotten, newest first, with who did it."""
        now = utc_now()
        place = read_cursor(cursor, until=str, skip=int)
        skip = place.get("skip", 0)
        end = read_moment_of(place, "until") if place else _end(until)
        if skip + limit > history.TIMELINE_MAX:
            raise UsageError("cursor: too much happened at one moment; name a project or kinds of events")
        found = history.read_timeline(
            hub.db,
            since=parse_moment(since, name="since", now=now) if since else history.EVER,
            until=end,
            project=storable(project) if project else None,
            events=[storable(kind) for kind in events] if events else None,
            limit=min(skip + limit, history.TIMELINE_MAX),
        )
        page = found.entries[skip:]
        taken = find_taken(hub.db, [entry["note_id"] for entry in page])
        kept = fit([_event(entry, taken) for entry in page])
        more = found.more or len(kept) < len(page)
        return give(
            {
                "events": kept,
                "next": _go_on(found.entries[: skip + len(kept)]) if more and kept else None,
                "without_a_project": found.unattributed or None,
                "found": None if kept else "nothing happened in this window",
            }
        )

    @verb(server, "what_changed", "What changed about a subject", READ)
    def what_changed(
        subject: Annotated[str, Field(description="Words that name it; notes that hold all of them", max_length=500)],
        since: Annotated[
            str, Field(description="Compared with when: 2026-03-01, yesterday, march, 7d ago", max_length=40)
        ],
        until: Until = None,
        project: Project = None,
        cursor: Cursor = None,
    ) -> CallToolResult:
        """What is known about a subject now that was not then, and what no longer holds: added, changed (both texts),
        removed, corroborated, and what came and went in between (passed)."""
        now = utc_now()
        place = read_cursor(cursor, until=str, offset=int)
        end = read_moment_of(place, "until") if place else _end(until)
        offset = place.get("offset", 0)
        found = history.read_diff(
            hub.db,
            storable(subject),
            since=parse_moment(since, name="since", now=now),
            until=end,
            project=storable(project) if project else None,
        )
        lines = [(name, line) for name in CHANGES for line in getattr(found, name)]
        taken = find_taken(hub.db, [id_ for _, line in lines for id_ in (line.note_id, line.other_id) if id_])
        kept = fit([_change(name, line, taken) for name, line in lines[offset:]])
        shown = offset + len(kept)
        return give(
            {
                "counts": {name: len(getattr(found, name)) for name in CHANGES},
                "changes": kept,
                "next": write_cursor(until=end.isoformat(), offset=shown) if shown < len(lines) else None,
                "not_compared": found.left_off or None,
                "without_a_project": found.unattributed or None,
                "found": None if lines else "nothing changed about it in this window",
            }
        )


def _end(until: str | None) -> Any:
    now = utc_now()
    return parse_moment(until, name="until", now=now, end=True) if until else history.just_after(now)


def _go_on(told: Sequence[Mapping[str, Any]]) -> str:
    """After the last event that was told: its moment, and how many of that very moment were told."""
    last = told[-1]["at"]
    return write_cursor(until=(last + TICK).isoformat(), skip=sum(entry["at"] == last for entry in told))


def _event(entry: Mapping[str, Any], taken: Mapping[int, str]) -> Mapping[str, Any]:
    why = taken.get(entry["note_id"])
    return {
        "at": entry["at"],
        "event": entry["event"],
        "note": f"note:{entry['note_id']}",
        "other": f"note:{entry['other_id']}" if entry["other_id"] else None,
        "by": entry["actor"],
        "project": entry["project"],
        "category": entry["category"],
        "text": None if why else clip(one_line(entry["text"]), TEXT),
        "not_given": f"the note is {why} now" if why else None,
    }


def _change(name: str, line: Change, taken: Mapping[int, str]) -> Mapping[str, Any]:
    return {
        "change": name,
        "event": line.event,
        "at": line.at,
        "by": line.actor,
        "note": f"note:{line.note_id}",
        "other": f"note:{line.other_id}" if line.other_id else None,
        "project": line.project,
        "before": _text(line.before, line.note_id, taken),
        "after": _text(line.after, line.other_id or line.note_id, taken),
    }


def _text(text: str | None, note_id: int, taken: Mapping[int, str]) -> str | None:
    if text is None:
        return None
    return f"(not given: {taken[note_id]})" if note_id in taken else clip(one_line(text), TEXT)
