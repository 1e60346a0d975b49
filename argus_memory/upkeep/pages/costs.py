"""What models and engines were asked for, and what it cost: by stage, by model, by day. Unknown is no zero."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Any, Final

from psycopg.rows import DictRow

from argus_memory.db import Database, queries
from argus_memory.upkeep.pages.keyset import Slice, Sort, Wanted, fetch_page

SORTS: Final = (
    Sort("newest", "When", "s.at"),
    Sort("dearest", "Cost", "coalesce(s.cost_usd, -1)", "number"),
    Sort("slowest", "Took", "s.milliseconds::float8", "number"),
    Sort("largest", "Tokens", "(coalesce(s.prompt_tokens, 0) + coalesce(s.completion_tokens, 0))::float8", "number"),
)
OUTCOMES: Final = ("ok", "infra", "content", "configuration")
SPANS: Final = (7, 30, 90, 365)  # days


@dataclass(frozen=True, slots=True)
class Sum:
    """Of some calls. `usd`: of those whose cost is known, None where of none; `unknown`: of how many it is not."""

    name: str
    calls: int = 0
    failed: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    usd: float | None = None
    unknown: int = 0

    def plus(self, row: DictRow) -> Sum:
        known = row["usd"]
        return Sum(
            self.name, self.calls + row["calls"], self.failed + row["failed"],
            self.prompt_tokens + (row["prompt_tokens"] or 0),
            self.completion_tokens + (row["completion_tokens"] or 0),
            self.usd if known is None else (self.usd or 0.0) + known, self.unknown + row["unknown"],
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Costs:
    """Of the last `span` days, the viewer's today included; `days` has one for each, the oldest first."""

    span: int
    total: Sum
    days: Sequence[tuple[date, Sum]]
    stages: Sequence[Sum]
    models: Sequence[Sum]


def read_costs(db: Database, span: int, zone: tzinfo, zone_name: str, *, now: datetime) -> Costs:
    today = now.astimezone(zone).date()
    first = today - timedelta(days=span - 1)
    since = datetime.combine(first, time(), zone).astimezone(UTC)
    params = {"since": since, "until": now + timedelta(seconds=1), "zone": zone_name}
    rows = db.fetch_all(queries("pages_costs").spent, params)
    by_day = {first + timedelta(days=n): Sum(str(first + timedelta(days=n))) for n in range(span)}
    for row in rows:
        if row["day"] in by_day:
            by_day[row["day"]] = by_day[row["day"]].plus(row)
    total = Sum("all")
    for row in rows:
        total = total.plus(row)
    return Costs(span, total, list(by_day.items()), _sums(rows, "stage"), _sums(rows, "model"))


def _sums(rows: Iterable[DictRow], column: str) -> list[Sum]:
    """The dearest first, then what was asked most."""
    found: dict[str, Sum] = {}
    for row in rows:
        name = row[column]
        found[name] = found.get(name, Sum(name)).plus(row)
    return sorted(found.values(), key=lambda each: (-(each.usd or 0.0), -each.calls, each.name))


def find_calls(db: Database, filters: dict[str, Any], *, wanted: Wanted) -> Slice[DictRow]:
    """`filters`: stage, model and outcome, None where not narrowed."""
    q = queries("pages_costs")
    with db.transaction() as conn:
        return fetch_page(conn, q.model_calls, q.count_model_calls, filters, wanted)
