"""search, get, expand, context: find by an index, then fetch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Final, Literal

from mcp.server import MCPServer
from mcp.types import CallToolResult
from pydantic import Field

from argus_api.hub import Hub, utc_now
from argus_api.mcp.answers import ANSWER_CHARS, fit, give, read_cursor, write_cursor
from argus_api.mcp.verbs import READ, Cursor, Folder, NoteId, Project, Session, verb
from argus_memory.errors import NotFound, UsageError
from argus_memory.rules.moments import parse_as_of
from argus_memory.rules.recall_text import clip, excerpt, one_line
from argus_memory.rules.storable import storable
from argus_memory.settings import CAPTURE_MAX_BODY, CONTEXT_MAX_NOTES
from argus_memory.stages.context import recall_context
from argus_memory.stages.search import MAX_RESULTS, TYPES, search
from argus_memory.upkeep.serving import Ref, Served, parse_ref, serve_episode, serve_notes, serve_turns

SNIPPET: Final = 260  # characters of a hit
TURN_CHARS: Final = 6_000  # of one turn in an answer; the rest comes by cursor
EPISODE_TURNS, EPISODE_CHARS = 20, 700
AROUND: Final = 1_200  # characters on each side of a quotation
IDS_MAX: Final = 20



def add_read_tools(server: MCPServer[Any], hub: Hub) -> None:
    """Register the four verbs."""

    @verb(server, "search", "Search memory", READ)
    def search_memory(
        query: Annotated[str, Field(description="Words or a question, in any language", max_length=2000)],
        project: Project = None,
        kind: Annotated[
            Literal["all", "notes", "turns"],
            Field(description="notes: distilled facts; turns: what was said, verbatim"),
        ] = "all",
        limit: Annotated[int, Field(ge=1, le=50, description="Hits in one answer")] = 10,
        as_of: Annotated[
            str | None, Field(description="A day of the past: what was known and held then", max_length=40)
        ] = None,
        cursor: Cursor = None,
    ) -> CallToolResult:
        """Find notes and verbatim turns by meaning and words, best first. Gives an index: id, when, project and a
        snippet each. Read the ones that matter with `get`, their source with `expand`."""
        offset = read_cursor(cursor, offset=int).get("offset", 0)
        wanted = min(offset + limit + 1, MAX_RESULTS)
        now = utc_now()
        found = search(
            hub.db, hub.settings, hub.embedder, q=storable(query), now=now, project=_clean(project), limit=wanted,
            types=TYPES if kind == "all" else (kind[:-1],), as_of=parse_as_of(as_of, name="as_of", now=now),
        )  # fmt: skip
        words = [word for word in query.casefold().split() if len(word) > 2]
        page = found[offset : offset + limit]
        rows = [
            {
                "id": f"{hit.type}:{hit.id}",
                "title": hit.title if hit.type == "note" else None,
                "text": one_line(excerpt(hit.text, words, SNIPPET)),
                "project": hit.project,
                "at": f"{hit.at:%Y-%m-%d}",
                "found_by": "+".join(sorted(hit.why)),
            }
            for hit in page
            if hit.withheld is None
        ]
        kept = fit(rows)
        shown = offset + _place_after(page, kept, rows)
        more = shown < len(found) and shown < MAX_RESULTS
        return give(
            {
                "hits": kept,
                "withheld": sum(hit.withheld is not None for hit in page) or None,
                "note": found.degraded,
                "next": write_cursor(offset=shown) if more else None,
                "found": None if found else "nothing on record fits; try other words, or leave out the project",
            }
        )

    @verb(server, "get", "Read notes, turns, episodes", READ)
    def get_by_id(
        ids: Annotated[
            list[str] | None,
            Field(description="note:12, turn:34, episode:5; up to 20, in one call", max_length=IDS_MAX),
        ] = None,
        cursor: Cursor = None,
    ) -> CallToolResult:
        """Read notes, turns and episodes by id, in the order asked. What is not given (never existed, forgotten,
        redacted, excluded) stands under its id with the reason. Long ones go on by cursor."""
        place = read_cursor(cursor, ids=list, start=int)
        refs = [parse_ref(str(id_), default="note") for id_ in (place.get("ids") or ids or [])]
        if not refs:
            raise UsageError("ids: name at least one, such as note:12")
        if len(refs) > IDS_MAX:
            raise UsageError(f"ids: {len(refs)} at once, at most {IDS_MAX} are read")
        items, rest, start = read_items(hub, refs, min(place.get("start", 0), CAPTURE_MAX_BODY), utc_now())
        goes_on = write_cursor(ids=[str(ref) for ref in rest], start=start) if rest else None
        return give({"items": items, "next": goes_on})

    @verb(server, "expand", "Source of a note", READ)
    def expand(
        note: NoteId,
        chars: Annotated[
            int, Field(ge=100, le=3000, description="Characters on each side of the quotation")
        ] = AROUND,
    ) -> CallToolResult:
        """The verbatim source of a note: the quotation it rests on, what was said around it, by whom and when. Use it
        before you rely on a note that matters."""
        ref = note_ref(note)
        now = utc_now()
        served = serve_notes(hub.db, [ref.id], now=now)[ref.id]
        if served.row is None:
            raise NotFound(served.refused)
        row = served.row
        start, end = row["source_start"] or 0, row["source_end"] or 0
        first = max(0, start - chars)
        raw_id, wanted = row["raw_id"], end - first + chars
        source = serve_turns(hub.db, [raw_id], now=now, from_char=first, chars=wanted)[raw_id]
        if source.row is None:
            raise NotFound(source.refused)
        body, said = source.row["body"], source.row
        return give(
            {
                "note": str(ref),
                "state": row["state"],
                "quotation": row["source_ref"],
                "before": ("… " if first else "") + body[: start - first],
                "after": body[end - first :] + (" …" if said["length"] > end + chars else ""),
                "said_by": said["speaker"] or said["role"] or said["kind"],
                "said_at": said["said_at"],
                "turn": f"turn:{said['id']}",
                "episode": f"episode:{said['episode_id']}" if said["episode_id"] else None,
                "session": said["session"],
                "source": said["source"],
                "project": said["project"],
                "masked_secrets": said["masked"] or None,
            }
        )

    @verb(server, "context", "What this project's session should know", READ)
    def context(
        project: Project = None,
        cwd: Folder = None,
        session: Session = None,
        limit: Annotated[int, Field(ge=1, le=100, description="Notes")] = CONTEXT_MAX_NOTES,
    ) -> CallToolResult:
        """What a session of this project should know at its start: its weightiest notes and the end of its latest
        conversation. Call it once, when the session was not given it by a hook."""
        found = recall_context(
            hub.db, hub.settings, now=utc_now(), cwd=_clean(cwd), session=_clean(session), project=_clean(project),
            limit=limit,
        )  # fmt: skip
        return give(
            {
                "project": found.project,
                "text": found.text or None,
                "notes": [f"note:{note.id}" for note in found.notes],
                "found": None if found.text else "nothing is on record for this project yet",
            }
        )


def note_ref(given: str | int) -> Ref:
    """A note's id in either form. Raises UsageError."""
    ref = parse_ref(str(given), default="note")
    if ref.type != "note":
        raise UsageError(f"{ref} is no note: give a note's id, such as note:12")
    return ref


def read_items(
    hub: Hub, refs: Sequence[Ref], start: int, now: datetime
) -> tuple[list[Mapping[str, Any]], list[Ref], int]:
    """(what is given now, the ids that are left, where the first of those goes on); `start` is that of the first."""
    read = {
        "note": serve_notes(hub.db, [ref.id for ref in refs if ref.type == "note"], now=now),
        "turn": serve_turns(hub.db, [ref.id for ref in refs if ref.type == "turn"], now=now, chars=TURN_CHARS),
    }
    items: list[Mapping[str, Any]] = []
    room = ANSWER_CHARS
    for number, ref in enumerate(refs):
        item, goes_on = _read_one(hub, ref, read, start if number == 0 else 0, now)
        room -= sum(len(str(value)) for value in _flat(item))
        if items and room < 0:
            return items, list(refs[number:]), 0
        items.append(item)
        if goes_on is not None:
            return items, list(refs[number:]), goes_on
    return items, [], 0


def _read_one(
    hub: Hub, ref: Ref, read: Mapping[str, Mapping[int, Served]], start: int, now: datetime
) -> tuple[Mapping[str, Any], int | None]:
    """One item as the answer shows it, and where it goes on."""
    if ref.type == "note":
        served = read["note"][ref.id]
        return (_refusal(served) if served.row is None else note_item(served.row)), None
    if ref.type == "turn":
        served = read["turn"][ref.id]
        if start:
            served = serve_turns(hub.db, [ref.id], now=now, from_char=start, chars=TURN_CHARS)[ref.id]
        if served.row is None:
            return _refusal(served), None
        end = start + len(served.row["body"])
        return turn_item(served.row, start), end if end < served.row["length"] and served.row["body"] else None
    served = serve_episode(hub.db, ref.id, now=now, offset=start, limit=EPISODE_TURNS, chars=EPISODE_CHARS)
    if served.row is None:
        return _refusal(served), None
    turns = fit([_line(turn) for turn in served.row["turns"]])
    end = start + len(turns)
    return episode_item(served.row, turns), end if end < served.row["turn_count"] and turns else None


def _refusal(served: Served) -> Mapping[str, Any]:
    return {"id": str(served.ref), "not_given": served.refused}


def note_item(row: Mapping[str, Any]) -> Mapping[str, Any]:
    return {
        "id": f"note:{row['id']}",
        "title": row["title"],
        "content": row["content"],
        "category": row["category"],
        "project": row["project"],
        "state": row["state"],
        "in_its_place": f"note:{row['superseded_by']}" if row["superseded_by"] else None,
        "confidence": round(row["confidence"], 2),
        "said_at": row["said_at"],
        "said_by": row["role"],
        "holds_until": row["valid_to"],
        "pinned": True if row["pinned_at"] else None,
        "tags": row["tags"],
        "links": [f"note:{id_}" for id_ in row["links"][:20]],
        "quotation": clip(row["source_ref"], 300),
        "turn": f"turn:{row['raw_id']}",
        "episode": f"episode:{row['episode_id']}" if row["episode_id"] else None,
    }


def turn_item(row: Mapping[str, Any], start: int) -> Mapping[str, Any]:
    return {
        "id": f"turn:{row['id']}",
        "said_by": row["speaker"] or row["role"] or row["kind"],
        "said_at": row["said_at"],
        "text": row["body"],
        "from_char": start or None,
        "of_chars": row["length"] if row["length"] > len(row["body"]) else None,
        "project": row["project"],
        "session": row["session"],
        "source": row["source"],
        "masked_secrets": row["masked"] or None,
        "episode": f"episode:{row['episode_id']}" if row["episode_id"] else None,
        "notes": [f"note:{id_}" for id_ in row["notes"][:50]],
    }


def episode_item(row: Mapping[str, Any], turns: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    replaced = f"replaced: {row['replaced_reason'] or 'its turns were cut anew'}" if row["replaced_at"] else None
    return {
        "id": f"episode:{row['id']}",
        "project": row["project"],
        "session": row["session"],
        "source": row["source"],
        "from": row["started_at"],
        "until": row["ended_at"],
        "turn_count": row["turn_count"],
        "state": replaced,
        "turns": turns,
        "notes": [f"note:{id_}" for id_ in row["notes"][:50]],
    }


def _line(turn: Mapping[str, Any]) -> Mapping[str, Any]:
    text = turn["body"]
    return {
        "id": f"turn:{turn['id']}",
        "said_by": turn["who"],
        "said_at": turn["said_at"],
        "text": text if text is None or turn["length"] <= EPISODE_CHARS else text + "…",
        "not_given": f"withheld: what it says was {turn['withheld']}" if text is None else None,
    }


def _place_after(page: Sequence[Any], kept: Sequence[Any], rows: Sequence[Any]) -> int:
    """How many hits of the page have been told: all of them, or those up to the last that found room."""
    if len(kept) == len(rows):
        return len(page)
    told = 0
    for place, hit in enumerate(page):
        told += hit.withheld is None
        if told == len(kept):
            return place + 1
    return len(page)


def _flat(value: Any) -> list[Any]:
    if isinstance(value, Mapping):
        return [each for inner in value.values() for each in _flat(inner)] + list(value)
    if isinstance(value, list | tuple):
        return [each for inner in value for each in _flat(inner)]
    return [value]


def _clean(text: str | None) -> str | None:
    return storable(text) if text else None
