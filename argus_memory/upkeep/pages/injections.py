"""The ledger of recalls as pages: its rows, the scores of candidates, what another floor would have done, and one
recall with everything it chose from. Reading changes nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, LiteralString

from psycopg.rows import DictRow

from argus_memory.db import Database, queries
from argus_memory.errors import NotFound
from argus_memory.stages.spaces import find_active_space
from argus_memory.upkeep.pages.keyset import Slice, Sort, Wanted, compose, cut, page_params
from argus_memory.upkeep.pages.search import state_of

SORTS: Final = (
    Sort("newest", "Newest first", "i.at", id="i.id"),
    Sort("oldest", "Oldest first", "i.at", descending=False, id="i.id"),
    Sort("slowest", "Slowest first", "coalesce(i.milliseconds, 0)::float8", "number", id="i.id"),
    Sort("longest", "Longest first", "i.characters::float8", "number", id="i.id"),
)
# What an outcome asks of a row `i`. As plain joins: within one `case` they would be asked anew for each row.
OUTCOMES: Final[Mapping[str, LiteralString]] = {
    "shown": "(i.note_ids <> '{}' or i.turn_ids <> '{}')",
    "used": "i.id in (select injection_id from injection_uses where used)",
    "unused": "i.id in (select injection_id from injection_uses group by injection_id having not bool_or(used))",
    "waiting": "i.note_ids <> '{}' and not exists (select from injection_uses u where u.injection_id = i.id)",
    "nothing": "i.skipped = 'nothing-on-record'",
    "gated": "i.skipped <> 'nothing-on-record'",
}
MODES: Final = {"prompt": True, "context": False}
# Two first places give 2/61 = 0.0328 on the scale of plain RRF.
BUCKETS: Final = 34
WIDTH: Final = 0.001
LAST: Final = (100, 500, 2000)  # recalls a floor is tried on
KEPT: Final = "kept"


@dataclass(frozen=True, slots=True)
class Filters:
    """None: not asked for. `mode`: prompt or context; `outcome`: one of OUTCOMES."""

    session: str | None = None
    project: str | None = None
    mode: str | None = None
    outcome: str | None = None
    note: int | None = None

    def params(self) -> dict[str, Any]:
        return {
            "session": self.session, "project": self.project, "note": self.note,
            "prompt_mode": None if self.mode is None else MODES[self.mode],
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Bucket:
    """Candidates whose plain RRF score is from `low` to below `low` + WIDTH, by what became of them."""

    low: float
    numbers: Mapping[str, int]

    @property
    def kept(self) -> int:
        return self.numbers.get(KEPT, 0)

    @property
    def dropped(self) -> int:
        return sum(self.numbers.values()) - self.kept


@dataclass(frozen=True, slots=True)
class Floors:
    """The floor now and the one tried, on the RRF scale; those of evidence, on the scale of the embedding space."""

    now: float
    tried: float
    evidence_note: float | None
    evidence_turn: float | None


@dataclass(frozen=True, slots=True)
class Ledger:
    """`changes`: what the tried floor would have done to the last `last` prompt recalls of the project; `reasons`:
    dropped candidates by why, the most frequent first."""

    rows: Slice[DictRow]
    buckets: tuple[Bucket, ...]
    reasons: tuple[tuple[str, int], ...]
    changes: Mapping[str, Any]
    floors: Floors
    last: int
    projects: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A note or turn that a recall showed or left out. `why`: blank where it was shown; `used` None: not judged."""

    type: str
    id: int
    score: float | None
    rrf_score: float | None
    why: str
    text: str
    state: str
    project: str | None
    used: bool | None = None
    use_score: float | None = None
    used_in: int | None = None

    @property
    def shown(self) -> bool:
        return not self.why


@dataclass(frozen=True, slots=True)
class Recall:
    """A row of the ledger; `candidates`: what was shown first, then what was left out, each in its order."""

    row: Mapping[str, Any]
    candidates: tuple[Candidate, ...]

    @property
    def shown(self) -> tuple[Candidate, ...]:
        return tuple(one for one in self.candidates if one.shown)

    @property
    def dropped(self) -> tuple[Candidate, ...]:
        return tuple(one for one in self.candidates if not one.shown)


def find_ledger(
    db: Database,
    filters: Filters,
    *,
    wanted: Wanted,
    floor_now: float,
    floor: float | None = None,
    last: int = LAST[1],
) -> Ledger:
    """A page of the ledger with the scores of the last prompt recalls; `floor`: the one that is tried."""
    q = queries("pages_injections")
    params = filters.params()
    tried = floor_now if floor is None else floor
    scope = {"project": filters.project, "last": last, "width": WIDTH, "buckets": BUCKETS, "floor": tried}
    direction: LiteralString = "desc" if wanted.sort.descending else "asc"
    asked: LiteralString = "true" if filters.outcome is None else OUTCOMES[filters.outcome]
    condition = q.wanted.replace("{outcome}", asked)
    listing = compose(q.rows.replace("{wanted}", condition).replace("{direction}", direction), wanted)
    with db.transaction() as conn:
        rows = conn.execute(listing, page_params(params, wanted), prepare=False).fetchall()
        total = conn.execute(q.count.replace("{wanted}", condition), params, prepare=False).fetchone()
        found = conn.execute(q.score_buckets, scope).fetchall()
        changes = conn.execute(q.floor_changes, scope).fetchone()
        space = find_active_space(conn)
        projects = conn.execute(queries("pages_search").project_choices).fetchall()
    assert total is not None
    assert changes is not None
    thresholds = space.thresholds if space else {}
    floors = Floors(floor_now, tried, thresholds.get("evidence_note"), thresholds.get("evidence_turn"))
    return Ledger(
        cut(rows, total["total"], wanted), _buckets(found), _reasons(found), changes, floors, last,
        tuple(row["name"] for row in projects),
    )  # fmt: skip


def find_recall(db: Database, id_: int, *, now: datetime) -> Recall:
    """Raises NotFound."""
    q = queries("pages_injections")
    with db.transaction() as conn:
        row = conn.execute(q.one, {"id": id_}).fetchone()
        if row is None:
            raise NotFound(f"there is no recall {id_}")
        left_out = row["dropped"]
        note_ids = [*row["note_ids"], *(each["id"] for each in left_out if each["type"] == "note")]
        turn_ids = [*row["turn_ids"], *(each["id"] for each in left_out if each["type"] == "turn")]
        notes = {each["id"]: each for each in conn.execute(q.notes_of, {"id": id_, "ids": note_ids})}
        turns = {each["id"]: each for each in conn.execute(q.turns_of, {"ids": turn_ids})}

    def candidate(type_: str, number: int, score: float | None, rrf: float | None, why: str = "") -> Candidate:
        facts = (notes if type_ == "note" else turns).get(number)
        if facts is None:
            return Candidate(type_, number, score, rrf, why, "", "no longer there", None)
        state = state_of(facts, now) if type_ == "note" else (facts["withheld"] or "live")
        return Candidate(
            type_, number, score, rrf, why, facts["content"], state, facts["project"], facts.get("used"),
            facts.get("use_score"), facts.get("turn_raw_id"),
        )  # fmt: skip

    shown = [
        candidate("note", number, _at(row["note_scores"], at), _at(row["rrf_scores"], at))
        for at, number in enumerate(row["note_ids"])
    ]
    shown += [
        candidate("turn", number, _at(row["turn_scores"], at), None) for at, number in enumerate(row["turn_ids"])
    ]
    dropped = [
        candidate(each["type"], each["id"], each.get("score"), each.get("rrf_score"), each["reason"] or "left out")
        for each in left_out
    ]
    return Recall(row, (*shown, *dropped))


def _at(scores: Sequence[float], at: int) -> float | None:
    return scores[at] if at < len(scores) else None


def _buckets(rows: Sequence[DictRow]) -> tuple[Bucket, ...]:
    """All of them in order, those without a candidate too; none where nothing was found at all."""
    numbers: list[dict[str, int]] = [{} for _ in range(BUCKETS)]
    for row in rows:
        numbers[row["bucket"]][row["what"]] = row["number"]
    return tuple(Bucket(at * WIDTH, each) for at, each in enumerate(numbers)) if rows else ()


def _reasons(rows: Sequence[DictRow]) -> tuple[tuple[str, int], ...]:
    counts: dict[str, int] = {}
    for row in rows:
        if row["what"] != KEPT:
            counts[row["what"]] = counts.get(row["what"], 0) + row["number"]
    return tuple(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))
