"""Alerts about what waits: reviews held for long, held regenerations, parked units, budgets that are used up."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from argus_memory.db import Connection, Database, queries
from argus_memory.settings import Settings
from argus_memory.stages.spaces import EMBED_ATTEMPTS
from argus_memory.watch.alerts import Condition, clear_alert, describe_span, raise_alert

HELD_AFTER: Final = timedelta(days=2)
# Who started it by hand sees its end; until a switch that nobody watched is decided, days stay as they were.
REGENERATION_AFTER: Final = timedelta(minutes=15)
BUDGET_SPAN: Final = timedelta(hours=1)
# The span moves on with every minute: below the budget by one call is not well again.
BUDGET_WELL: Final = 0.5


def watch_waiting(db: Database, settings: Settings, *, now: datetime, by: str) -> int:
    """Raise or clear `held`/`reviews`, `held`/`regenerations`, `parked`/`units` and `budget`/`stage:<stage>`; returns
    how many were opened."""
    with db.transaction() as conn:
        opened = [watch(conn, settings, now, by) for watch in (_watch_held, _watch_regenerations, _watch_parked)]
        opened += _watch_budgets(conn, settings, now, by)
    return sum(id_ is not None for id_ in opened)


def _watch_held(conn: Connection, settings: Settings, now: datetime, by: str) -> int | None:
    row = conn.execute(queries("digest").held_reviews, {"late": now - HELD_AFTER}).fetchone()
    assert row is not None
    if not row["late"]:
        clear_alert(conn, settings, "held", "reviews", now=now, by=by, title="No review is held for long any more")
        return None
    reviews = "1 review waits" if row["late"] == 1 else f"{row['late']} reviews wait"
    return raise_alert(
        conn,
        settings,
        Condition(
            kind="held",
            subject="reviews",
            severity="warn",
            title=f"{reviews} for your decision for more than {describe_span(HELD_AFTER)}",
            detail="Until then the notes stay as they are. What to do: `argus review list`, then approve or reject.",
            evidence={**row["ids"], "held": row["held"]},
        ),
        now=now,
        by=by,
    )


def _watch_regenerations(conn: Connection, settings: Settings, now: datetime, by: str) -> int | None:
    params = {"before": now - REGENERATION_AFTER}
    rows = conn.execute(queries("digest").held_regenerations, params).fetchall()
    if not rows:
        clear_alert(conn, settings, "held", "regenerations", now=now, by=by, title="No regeneration is held any more")
        return None
    last = rows[0]
    more = f" (and {len(rows) - 1} more)" if len(rows) > 1 else ""
    return raise_alert(
        conn,
        settings,
        Condition(
            kind="held",
            subject="regenerations",
            severity="warn",
            title=f"Regeneration {last['id']} of {last['first_day']} to {last['last_day']} is held for you{more}",
            detail=f"It would lose {last['loss']:.0%} of the notes, above {last['loss_guard']:.0%}; until you decide,"
            f" the old notes stand. What to do: `argus regenerate show {last['id']}`, then"
            f" `argus regenerate --accept {last['id']}` or `--dismiss {last['id']}`.",
            evidence={"regenerations": [row["id"] for row in rows[:20]]},
        ),
        now=now,
        by=by,
    )


def _watch_parked(conn: Connection, settings: Settings, now: datetime, by: str) -> int | None:
    row = conn.execute(queries("digest").parked_units, {"attempts": EMBED_ATTEMPTS}).fetchone()
    assert row is not None
    units, texts = row["units"], row["texts"]
    if not units and not texts:
        clear_alert(conn, settings, "parked", "units", now=now, by=by, title="Nothing is parked any more")
        return None
    parts = [f"{units} could not be distilled"] if units else []
    parts += [f"{texts} could not be embedded"] if texts else []
    return raise_alert(
        conn,
        settings,
        Condition(
            kind="parked",
            subject="units",
            severity="warn",
            title="Parked after repeated failures: " + ", ".join(parts),
            detail="They are kept, and nothing tries them again. What to do: see the reasons in distill_failures.",
            evidence={"units": row["ids"], "texts": texts},
        ),
        now=now,
        by=by,
    )


def _watch_budgets(conn: Connection, settings: Settings, now: datetime, by: str) -> list[int | None]:
    rows = conn.execute(queries("digest").spent, {"since": now - BUDGET_SPAN}).fetchall()
    shares = {f"stage:{row['stage']}": (share_of_budget(row, settings), row) for row in rows}
    opened = [
        raise_alert(conn, settings, _budget_used(subject, row), now=now, by=by)
        for subject, (share, row) in shares.items()
        if share >= 1
    ]
    for row in conn.execute(queries("digest").open_budget_alerts).fetchall():
        subject = row["subject"]
        if shares.get(subject, (0.0, {}))[0] < BUDGET_WELL:
            title = f"The stage {subject.removeprefix('stage:')} has budget again"
            clear_alert(conn, settings, "budget", subject, now=now, by=by, title=title)
    return opened


def share_of_budget(row: Mapping[str, Any], settings: Settings) -> float:
    """The largest share used of the hour's calls, tokens and engine calls."""
    return max(
        int(row["calls"]) / settings.llm_calls_per_hour,
        int(row["tokens"]) / settings.llm_tokens_per_hour,
        int(row["engine_calls"]) / settings.runtime_calls_per_hour,
    )


def _budget_used(subject: str, row: Mapping[str, Any]) -> Condition:
    stage = subject.removeprefix("stage:")
    used = f"{row['calls']} model calls, {row['tokens']:,} tokens, {row['engine_calls']} engine calls"
    return Condition(
        kind="budget",
        subject=subject,
        severity="warn",
        title=f"The stage {stage} used up its budget of the hour and waits",
        detail=f"In the last hour: {used}. What to do: nothing, or raise ARGUS_LLM_CALLS_PER_HOUR,"
        " ARGUS_LLM_TOKENS_PER_HOUR or ARGUS_RUNTIME_CALLS_PER_HOUR.",
        evidence={"calls": row["calls"], "tokens": row["tokens"], "engine_calls": row["engine_calls"]},
    )
