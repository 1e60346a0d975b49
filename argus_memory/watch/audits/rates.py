"""What the gate refuses and what dedup decides, beside their own history."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from argus_memory.db import queries
from argus_memory.rules.own_history import (
    LEAST_BEFORE,
    LEAST_RECENT,
    Direction,
    judge_mix,
    judge_share,
    too_few,
)
from argus_memory.watch.audits.questions import SHOWN, Asked, Audit, Finding

RECENT = timedelta(hours=24)
BEFORE = timedelta(days=14)
LEAST_A_DAY = 20  # verdicts; a day with fewer says nothing about how unlike days are


def _spans() -> dict[str, Any]:
    return {"recent": RECENT, "before": BEFORE}


def _ask_rejections(reason: str | None, direction: Direction) -> Any:
    """The share of candidates that the gate refused, for this reason or any."""

    def ask(asked: Asked) -> Finding:
        q, params = queries("audits"), {**_spans(), "now": asked.now}
        refused, made = asked.db.fetch_one(q.rejections_lately, params), asked.db.fetch_one(q.notes_lately, params)
        assert refused is not None
        assert made is not None
        name = "rejected" if reason is None else reason
        hits, hits_before = refused[name], refused[f"{name}_before"]
        judged = judge_share(
            hits,
            refused["rejected"] + made["created"],
            hits_before,
            refused["rejected_before"] + made["created_before"],
            direction=direction,
        )
        if judged.changed is None:
            return Finding("unknown", detail=judged.detail)
        if not judged.changed:
            return Finding("ok", detail=judged.detail)
        rows = asked.db.fetch_all(q.recent_rejections, {**params, "reason": reason, "shown": SHOWN})
        reasons = sorted({str(row["reason"]) for row in rows})
        detail = f"{judged.detail}; {', '.join(reasons)}" if reasons else judged.detail
        return Finding("failed", tuple(row["id"] for row in rows), hits, detail)

    return ask


def _ask_mix(asked: Asked) -> Finding:
    q, params = queries("audits"), {**_spans(), "now": asked.now}
    rows = asked.db.fetch_all(q.verdicts_by_day, params)
    recent = sum(row["pairs"] for row in rows if row["day"] == 0)
    before = sum(row["pairs"] for row in rows if row["day"] > 0)
    if recent < LEAST_RECENT or before < LEAST_BEFORE:
        return Finding("unknown", detail=too_few(recent, before))
    distance, past, risen, detail = compare_days(rows)
    if not judge_mix(distance, past):
        return Finding("ok", detail=detail)
    ids = asked.db.fetch_all(q.recent_verdicts, {**params, "verdict": risen, "shown": SHOWN})
    total = sum(row["pairs"] for row in rows if row["day"] == 0 and row["verdict"] == risen)
    return Finding("failed", tuple(row["id"] for row in ids), total, detail)


def compare_days(rows: Sequence[dict[str, Any]]) -> tuple[float, float, str, str]:
    """From rows of (day, verdict, pairs), day 0 the last: how unlike the last day is to those before, how unlike
    the most unlike of those is to the others, the verdict whose share rose most, and both mixes in words."""
    import pandas as pd

    table = pd.DataFrame(rows).pivot_table(
        index="day", columns="verdict", values="pairs", aggfunc="sum", fill_value=0
    )
    shares = table.div(table.sum(axis=1), axis=0)
    days = table.drop(index=0)
    usual = days.sum() / days.to_numpy().sum()
    change = shares.loc[0] - usual
    full = days[days.sum(axis=1) >= LEAST_A_DAY]
    # Each day against the others, without itself: else one odd day would hide in its own average.
    others = (days.sum() - full).pipe(lambda rest: rest.div(rest.sum(axis=1), axis=0))
    apart = shares.loc[full.index].sub(others).abs().sum(axis=1) / 2
    past = 0.0 if apart.dropna().empty else float(apart.dropna().max())
    words = ", ".join(f"{name} {shares.loc[0][name]:.0%} (before {usual[name]:.0%})" for name in table.columns)
    return float(change.abs().sum() / 2), past, str(change.idxmax()), words


def rate_audits() -> tuple[Audit, ...]:
    rejections = (
        "select reason, date_trunc('day', at), count(*) from gate_rejections"
        " where at > now() - interval '15 days' group by 1, 2 order by 2 desc"
    )
    return (
        Audit("rejection_rate", "distilled_notes",
              "Is the share of candidates that the gate refuses as it was in the two weeks before?", "warn",
              _ask_rejections(None, "both"), rejections),
        Audit("poison_rate", "distilled_notes",
              "Is the share of poisoned candidates no higher than in the two weeks before?", "warn",
              _ask_rejections("poison", "up"), rejections),
        Audit("verdict_mix", "dedup_log",
              "Are dedup's verdicts mixed as they were in the two weeks before?", "warn", _ask_mix,
              "select verdict, date_trunc('day', at), count(*) from dedup_log"
              " where at > now() - interval '15 days' group by 1, 2 order by 2 desc"),
    )  # fmt: skip
