"""The health of the memory: what a person may want to look at, counted, with examples and a score of the whole."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from psycopg.types.json import Jsonb

from argus_memory.db import Database, queries
from argus_memory.rules.contest import disputes
from argus_memory.rules.memory_health import RULES, Part, score
from argus_memory.stages.spaces import find_active_space
from argus_memory.upkeep.fading import read_fading

LOW: Final = 0.4  # confidence; a note begins at 0.5
EXAMPLES: Final = 20
PAIRS: Final = 2000  # of the closest that are looked at for contradictions
USED_SPAN: Final = timedelta(days=30)
LEAST_USES: Final = 20  # below it a share says nothing
_RULE = {rule.name: rule for rule in RULES}


@dataclass(frozen=True, slots=True)
class HealthReport:
    """`score` 0 to 100, None where nothing is known; `notes` are the live ones; `weeks`: notes shown and used, newest
    week first."""

    at: datetime
    project: str | None
    notes: int
    score: float | None
    parts: tuple[Part, ...]
    never_shown: int
    weeks: tuple[dict[str, Any], ...]

    @property
    def counts(self) -> dict[str, Any]:
        """The score and every part's count by name; what is unknown is None."""
        parts = {part.rule.name.replace("-", "_"): part.count for part in self.parts}
        return {"score": self.score, "notes": self.notes, "never_shown": self.never_shown, **parts}

    def as_json(self) -> dict[str, Any]:
        parts = [
            {
                "name": part.rule.name, "meaning": part.rule.meaning, "count": part.count, "total": part.total,
                "share": part.share, "weight": part.rule.weight, "goodness": part.goodness, "detail": part.detail,
                "act": part.rule.act, "examples": part.examples,
            }
            for part in self.parts
        ]  # fmt: skip
        return {**asdict(self), "parts": parts}


def read_memory_health(db: Database, *, now: datetime, project: str | None = None) -> HealthReport:
    """Of one project or the whole memory; changes nothing."""
    q = queries("life")
    params = {"now": now, "project": project, "low": LOW, "limit": EXAMPLES}
    counts = db.fetch_one(q.counts, params)
    assert counts is not None
    notes = counts["notes"]
    orphans, ungrounded = db.fetch_all(q.orphans, params), db.fetch_all(q.ungrounded, params)
    fading = read_fading(db, now=now, project=project, limit=EXAMPLES)
    parts = [
        *_pairs(db, params, notes),
        _part("ungrounded", len(ungrounded), notes, ungrounded),
        _unembedded(db, counts, params),
        *(_part(name, found.count, notes, found.notes) for name, found in fading.items()),
        _part("low-confidence", counts["low_confidence"], notes, db.fetch_all(q.low_confidence, params)),
        _part("orphans", orphans[0]["found"] if orphans else 0, notes, orphans),
        _unused(db, now, project),
    ]
    weeks = read_weeks(db, since=now - timedelta(days=84), project=project)
    return HealthReport(
        now, project, notes, score(parts) if notes else None, tuple(parts), counts["never_shown"], tuple(weeks)
    )


def read_weeks(db: Database, *, since: datetime, project: str | None = None) -> list[dict[str, Any]]:
    """Notes judged and used, newest week first."""
    return list(db.fetch_all(queries("impact").uses_by_week, {"since": since, "project": project}))


def record_memory_health(db: Database, *, now: datetime) -> HealthReport:
    """The whole memory's report, kept as a row of `memory_health`."""
    report = read_memory_health(db, now=now)
    parts = {part.rule.name: {"count": part.count, "total": part.total} for part in report.parts}
    # A row for the whole memory; projects are asked for when somebody looks.
    with db.transaction() as conn:
        params = {"now": now, "project": None, "score": report.score, "parts": Jsonb(parts)}
        conn.execute(queries("life").insert_health, params)
    return report


def list_history(db: Database, *, limit: int = 60) -> list[dict[str, Any]]:
    """Scores of the whole memory as they were recorded, newest first."""
    return list(db.fetch_all(queries("life").health_history, {"project": None, "limit": limit}))


def _part(name: str, count: int | None, total: int, examples: Any = (), detail: str = "") -> Part:
    return Part(_RULE[name], count, total, detail, tuple(dict(each) for each in examples[:EXAMPLES]))


def _pairs(db: Database, params: dict[str, Any], notes: int) -> tuple[Part, Part]:
    """Near-duplicates and contradictions, of the pairs that dedup left apart."""
    with db.transaction() as conn:
        space = find_active_space(conn)
    if space is None:
        why = "nothing is embedded yet"
        return _part("near-duplicates", None, notes, detail=why), _part("contradictions", None, notes, detail=why)
    floor, same = space.thresholds.get("dedup_floor", 1.0), space.thresholds.get("dedup_same", 1.0)
    rows = db.fetch_all(queries("life").close_pairs, {**params, "floor": floor, "limit": PAIRS})
    against = [row for row in rows if row["waits"] or disputes(row["note"], row["other"])]
    disputed = {(row["note_id"], row["other_id"]) for row in against}
    near = [row for row in rows if row["similarity"] >= same and (row["note_id"], row["other_id"]) not in disputed]
    detail = f"of the {PAIRS} closest pairs" if len(rows) == PAIRS else ""
    return (
        _part("near-duplicates", len(near), notes, near, detail),
        _part("contradictions", len(against), notes, against, detail),
    )


def _unembedded(db: Database, counts: Any, params: dict[str, Any]) -> Part:
    return _part(
        "unembedded", counts["unembedded"], counts["notes"], db.fetch_all(queries("life").unembedded, params)
    )


def _unused(db: Database, now: datetime, project: str | None) -> Part:
    row = db.fetch_one(queries("life").uses_since, {"since": now - USED_SPAN, "project": project})
    assert row is not None
    if row["judged"] < LEAST_USES:
        why = f"{row['judged']} showings judged, {LEAST_USES} are needed"
        return _part("unused", None, row["judged"], detail=why)
    detail = f"{row['used'] / row['judged']:.0%} of what was shown was used"
    return _part("unused", row["judged"] - row["used"], row["judged"], detail=detail)
