"""The search page: hits of a question with why each was found, or, without one, everything by its time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal

from psycopg.rows import DictRow

from argus_memory.db import Connection, Database, queries
from argus_memory.errors import NotFound
from argus_memory.models.embedders import Embedder
from argus_memory.settings import Settings
from argus_memory.stages.search import MAX_RESULTS, Hit, search
from argus_memory.stages.search_scope import Scope
from argus_memory.stages.spaces import Space, find_active_space
from argus_memory.upkeep.pages.keyset import Cursor, Slice, Sort, Wanted, compose, cut, page_params
from argus_memory.upkeep.reads import LIVE, judge_state

Types = Literal["all", "note", "turn"]
BEST: Final = Sort("best", "Best match", "score", "number")
RAW_SORTS: Final = (
    Sort("newest", "Newest first", "s.said_at"),
    Sort("oldest", "Oldest first", "s.said_at", descending=False),
)
NOTE_SORTS: Final = (
    Sort("newest", "Newest first", "coalesce(n.said_at, n.valid_from)", id="n.id"),
    Sort("oldest", "Oldest first", "coalesce(n.said_at, n.valid_from)", descending=False, id="n.id"),
    Sort("importance", "Most important", "n.importance::float8", "number", id="n.id"),
)


@dataclass(frozen=True, slots=True)
class Asked:
    """What the page asks for. `q` blank: everything there is, by its time; `distant`: also what is found by meaning
    alone and below the evidence floor of its embedding space."""

    q: str
    types: Types
    project: str | None
    scope: Scope
    distant: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """A hit with what its row says: state of a note (`live`, or why not), withheld turns, where it came from."""

    type: str
    id: int
    raw_id: int
    title: str
    text: str
    project: str | None
    at: datetime
    state: str
    facts: Mapping[str, Any]
    why: Mapping[str, int]
    cosine: float | None = None


@dataclass(frozen=True, slots=True)
class SearchPage:
    """`limited`: more than MAX_RESULTS may fit, and the best of them are here; `degraded`: a track was missing;
    `distant`: hits that were left out as too distant to be an answer."""

    hits: Slice[Found]
    projects: tuple[str, ...]
    degraded: str | None = None
    limited: bool = False
    distant: int = 0


def find_page(
    db: Database, settings: Settings, embedder: Embedder, asked: Asked, *, wanted: Wanted, now: datetime
) -> SearchPage:
    """The page; raises UsageError on words that cannot be looked for."""
    projects = tuple(row["name"] for row in db.fetch_all(queries("pages_search").project_choices))
    if not asked.q.strip():
        with db.transaction() as conn:
            return SearchPage(_browse(conn, asked, wanted, now), projects)
    types = ("note", "turn") if asked.types == "all" else (asked.types,)
    try:
        hits = search(
            db, settings, embedder, q=asked.q, now=now, project=asked.project, limit=MAX_RESULTS, types=types,
            scope=asked.scope,
        )  # fmt: skip
    except NotFound:  # a project that is none: nothing can be found in it
        return SearchPage(Slice((), 0), projects)
    with db.transaction() as conn:
        space = find_active_space(conn)
        near = [hit for hit in hits if asked.distant or not is_distant(hit, space)]
        page = _after([_row_of(hit) for hit in near], wanted)
        found = _with_facts(conn, page.rows, now)
    return SearchPage(
        Slice(found, page.total, page.next), projects, hits.degraded, len(hits) == MAX_RESULTS, len(hits) - len(near)
    )


def is_distant(hit: Hit, space: Space | None) -> bool:
    """Whether no word led to it and its meaning is no nearer than that of a subject nobody spoke of."""
    if space is None or "lexical" in hit.why:
        return False
    floor = space.thresholds.get("evidence_note" if hit.type == "note" else "evidence_turn")
    return floor is not None and (hit.cosine or 0.0) < floor


def _browse(conn: Connection, asked: Asked, wanted: Wanted, now: datetime) -> Slice[Found]:
    q = queries("pages_search")
    params = {"project": asked.project, "now": now, **asked.scope.params()}
    if asked.types == "turn":
        query, count = q.browse_raw, q.count_raw
    else:
        query, count = asked.scope.narrow_notes(q.browse_notes), asked.scope.narrow_notes(q.count_notes)
    rows = conn.execute(compose(query, wanted), page_params(params, wanted), prepare=False).fetchall()
    counted = conn.execute(count, params, prepare=False).fetchone()
    assert counted is not None
    page = cut(rows, counted["total"], wanted)
    return Slice(_with_facts(conn, page.rows, now), page.total, page.next)


def _row_of(hit: Hit) -> DictRow:
    """A hit as a row; the id of a turn is negative in a cursor, since notes have ids of their own."""
    return {
        "type": hit.type, "id": hit.id, "raw_id": hit.raw_id, "title": hit.title, "text": hit.text,
        "project": hit.project, "at": hit.at, "why": hit.why, "cosine": hit.cosine, "score": hit.score,
    }  # fmt: skip


def _after(rows: Sequence[DictRow], wanted: Wanted) -> Slice[DictRow]:
    """The rows behind the cursor; a hit that has gone since is told by its score."""
    begin = 0
    if (after := wanted.after) is not None and isinstance(after.key, float):
        places = [at for at, row in enumerate(rows) if _cursor_id(row) == after.id]
        begin = places[0] + 1 if places else sum(row["score"] >= after.key for row in rows)
    shown = rows[begin : begin + wanted.rows]
    more = begin + wanted.rows < len(rows)
    return Slice(shown, len(rows), Cursor(float(shown[-1]["score"]), _cursor_id(shown[-1])) if more else None)


def _cursor_id(row: DictRow) -> int:
    return int(row["id"] if row["type"] == "note" else -row["id"])


def _with_facts(conn: Connection, rows: Sequence[DictRow], now: datetime) -> list[Found]:
    """Each row with its facts, by two queries."""
    q = queries("pages_search")
    notes = [row["id"] for row in rows if row["type"] == "note"]
    turns = [row["id"] for row in rows if row["type"] == "turn"]
    facts = {("note", row["id"]): row for row in conn.execute(q.note_facts, {"ids": notes})}
    facts |= {("turn", row["id"]): row for row in conn.execute(q.turn_facts, {"ids": turns})}
    return [_found(row, facts[row["type"], row["id"]], now) for row in rows if (row["type"], row["id"]) in facts]


def _found(row: DictRow, facts: DictRow, now: datetime) -> Found:
    return Found(
        row["type"], row["id"], row["raw_id"], row["title"], row["text"], row["project"], row["at"],
        state_of(facts, now) if row["type"] == "note" else (facts["withheld"] or LIVE),
        facts, row.get("why", {}), row.get("cosine"),
    )  # fmt: skip


def state_of(note: Mapping[str, Any], now: datetime) -> str:
    """`live`, or the word for why a note is not; excluded ones too."""
    if note["deleted_at"] is None and note["excluded_at"] is not None:
        return "excluded"
    return judge_state(note, now)
