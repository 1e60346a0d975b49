"""Search over notes and verbatim turns, for /search and `argus search`: nothing is gated, nothing is recorded.

An embedder that is down leaves the words: `Search.degraded` says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from argus_memory.db import Database, queries
from argus_memory.errors import ModelFailure, UsageError
from argus_memory.models.embedders import Embedder, Vector
from argus_memory.settings import Settings
from argus_memory.stages.projects import name_of
from argus_memory.stages.recall_rank import DEEP, Depth, Scored, find_notes, find_turns, name_people, prepare
from argus_memory.stages.recall_tracks import Question, Type
from argus_memory.stages.search_scope import Scope
from argus_memory.stages.spaces import Space, find_active_space, find_space_embedder

TYPES: tuple[Type, ...] = ("note", "turn")
MAX_RESULTS = 200
TEXT_CHARS = 2000  # of a turn in an answer; the whole stands at /raw/{id}
TITLE_CHARS = 80


@dataclass(frozen=True, slots=True)
class Hit:
    """One result. `id` is the note's, or the raw item's of a turn; `score` orders this answer and no other;
    `withheld`: why no recall shows this turn; `why`: the tracks that found it, with its rank in each."""

    type: Type
    id: int
    raw_id: int
    title: str
    text: str
    score: float
    project: str | None
    at: datetime
    withheld: str | None = None
    why: Mapping[str, int] = field(default_factory=dict)
    cosine: float | None = None

    def as_json(self) -> dict[str, Any]:
        return {
            "type": self.type, "id": self.id, "raw_id": self.raw_id, "title": self.title, "text": self.text,
            "score": round(self.score, 6), "project": self.project, "at": self.at.isoformat(),
            "withheld": self.withheld,
        }  # fmt: skip


class Hits(list[Hit]):
    """The results, best first; `degraded` says which track was missing and why."""

    degraded: str | None = None


@dataclass(frozen=True, slots=True)
class Meaning:
    """The question's vector in the live space; without one, `degraded` says why."""

    vector: Vector | None
    degraded: str | None


def search(
    db: Database,
    settings: Settings,
    embedder: Embedder,
    *,
    q: str,
    now: datetime,
    project: str | None = None,
    limit: int = 20,
    types: Sequence[str] = TYPES,
    depth: Depth = DEEP,
    as_of: datetime | None = None,
    scope: Scope | None = None,
) -> Hits:
    """The best `limit` of the types asked for, within `project` where one is named; `as_of` a moment of the past:
    of what was known and held then; `scope` narrows further.

    Raises UsageError on a blank question, an unknown type, a limit out of range or a moment to come, and NotFound for
    a project that is none.
    """
    check_as_of(as_of, now)
    if not q.strip():
        raise UsageError("q: what to look for is missing")
    unknown = [type_ for type_ in types if type_ not in TYPES]
    if unknown or not types:
        raise UsageError(f"type: {', '.join(unknown) or 'nothing'} is neither note nor turn")
    if not 1 <= limit <= MAX_RESULTS:
        raise UsageError(f"limit: {limit} is outside 1 to {MAX_RESULTS}")
    with db.transaction() as conn:
        project = name_of(conn, project)
        space = find_active_space(conn)
    meaning = find_meaning(db, settings, embedder, q, space)
    with db.transaction() as conn:
        prepare(conn, depth)
        speakers, lexemes = name_people(conn, q, project)
        question = Question(
            q, as_of or now, meaning.vector, space, lexemes, project, as_of=as_of is not None, show_withheld=True,
            scope=scope,
        )
        tracks: list[tuple[list[Scored], list[str]]] = []
        if "note" in types:
            tracks.append(find_notes(conn, question, depth, fusion=settings.fusion))
        if "turn" in types:
            tracks.append(find_turns(conn, question, depth, speakers, fusion=settings.fusion))
        found = [one for scored, _ in tracks for one in scored]
        if any(stems for _, stems in tracks):
            found = keep_related(found, space)
        best = sorted(found, key=lambda one: (-one.score, -one.rrf_score, one.type, one.id))[:limit]
        bodies = load_bodies(conn, [one.id for one in best if one.type == "turn"], TEXT_CHARS)
    hits = Hits(_hit(one, bodies) for one in best)
    hits.degraded = meaning.degraded
    return hits


def check_as_of(as_of: datetime | None, now: datetime) -> None:
    """Raises UsageError on a moment that is yet to come."""
    if as_of is not None and as_of > now:
        raise UsageError(f"as_of: {as_of:%Y-%m-%d %H:%M} UTC is yet to come")


def keep_related(found: list[Scored], space: Space | None) -> list[Scored]:
    """What is left of hits of which none holds a word of the question: those near enough in meaning to be evidence.

    The nearest vectors of a word that nobody ever said are not an answer.
    """
    if space is None or any("lexical" in one.why for one in found):
        return found
    floors = {"note": space.thresholds.get("evidence_note"), "turn": space.thresholds.get("evidence_turn")}
    return [one for one in found if (floor := floors[one.type]) is None or (one.cosine or 0.0) >= floor]


def find_meaning(
    db: Database, settings: Settings, embedder: Embedder, text: str, space: Space | None
) -> Meaning:
    """The vector of a question in the live space. A model that fails is no error here: the words remain."""
    if space is None:
        return Meaning(None, "nothing is embedded yet: keyword only")
    found = find_space_embedder(db, settings, space, embedder)
    if found is None:
        return Meaning(None, f"the model of the live vectors ({space.model}) is not here: keyword only")
    try:
        return Meaning(found.embed_query(text), None)
    except ModelFailure as failure:
        return Meaning(None, f"the embedder is down, keyword only ({failure})"[:300])


def load_bodies(conn: Any, ids: Sequence[int], chars: int) -> dict[int, dict[str, Any]]:
    """The turns of `ids` with the beginning of their bodies."""
    if not ids:
        return {}
    rows = conn.execute(queries("search").turn_bodies, {"ids": list(ids), "chars": chars}).fetchall()
    return {row["raw_id"]: row for row in rows}


def _hit(one: Scored, bodies: dict[int, dict[str, Any]]) -> Hit:
    title, text, withheld = one.title, one.text, None
    if one.type == "turn":
        row = bodies[one.id]
        text, withheld = row["body"], row["withheld"]
        first = " ".join(text[: 2 * TITLE_CHARS].split())
        who = row["speaker"] or row["role"].capitalize()
        title = first if first.startswith(f"{who}:") else f"{who}: {first}"
        title = title if len(title) <= TITLE_CHARS else title[: TITLE_CHARS - 1].rstrip() + "…"
    return Hit(
        one.type, one.id, one.raw_id, title, text, one.score, one.project, one.said_at, withheld, one.why, one.cosine
    )  # fmt: skip
