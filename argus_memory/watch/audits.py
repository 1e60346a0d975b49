"""Is it working? One question, one answer, and the offending rows, asked by Dagster's checks and by pages alike.

A question that cannot be asked is a failed audit, with the error in its detail: silence is never taken for health.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, LiteralString

from argus_memory.db import Database, queries
from argus_memory.rules.grounding import find_in_text
from argus_memory.settings import Settings
from argus_memory.stages.passes import describe_error
from argus_memory.stages.spaces import EMBED_ATTEMPTS
from argus_memory.watch.pending import due_params, with_due_tails
from argus_memory.watch.triggers import REQUIRED_TRIGGERS

Severity = Literal["warn", "error"]
Status = Literal["ok", "failed", "unknown"]

SHOWN = 50  # offending ids named; `total` counts all of them
UNEMBEDDED_AFTER = timedelta(minutes=60)  # a full queue of 20,000 turns takes half of it on two cores
LATE_AFTER = timedelta(hours=2)  # a unit that an hourly budget or a short outage holds up is not late yet
SILENT_AFTER = timedelta(hours=24)
STAGE_IDLE_AFTER = timedelta(minutes=30)  # sixty ticks of the sensor
STAGES = ["segment", "distill", "embed", "dedup"]

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Finding:
    """An answer. `offending`: at most SHOWN ids; `total`: how many there are; `unknown`: nothing to judge by yet."""

    status: Status
    offending: tuple[str, ...] = ()
    total: int = 0
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Audit:
    """A question about one asset (by its key), and who answers it."""

    name: str
    asset: str
    question: str
    severity: Severity
    ask: Callable[[Database, Settings, datetime], Finding]


def run_audit(audit: Audit, db: Database, settings: Settings, now: datetime) -> Finding:
    """The audit's answer; an error while asking is a failed audit, not an exception."""
    try:
        return audit.ask(db, settings, now)
    except Exception as error:  # whatever it is, the question stays unanswered and must show
        log.exception("the audit %s could not be made", audit.name)
        return Finding("failed", detail=describe_error(error))


def _find(query: LiteralString, **extra: Any) -> Callable[[Database, Settings, datetime], Finding]:
    """An audit that fails when its query returns a row."""

    def ask(db: Database, settings: Settings, now: datetime) -> Finding:
        rows = db.fetch_all(with_due_tails(query), {**due_params(settings, now), "shown": SHOWN, **extra})
        if not rows:
            return Finding("ok")
        details = sorted({str(row["detail"]) for row in rows if row["detail"]})
        return Finding("failed", tuple(row["id"] for row in rows), rows[0]["total"], "; ".join(details[:5]))

    return ask


def _ask_grounding(db: Database, settings: Settings, now: datetime) -> Finding:
    """SQL sorts out the quotations that stand in their source letter by letter, the gate's rule judges the rest."""
    wrong: list[str] = []
    with db.transaction() as conn, conn.cursor("suspect_notes") as cursor:
        cursor.execute(queries("audits").suspect_notes, {"now": now})
        wrong = [row["id"] for row in cursor if find_in_text(row["source_ref"], row["body"]) is None]
    if not wrong:
        return Finding("ok")
    return Finding("failed", tuple(wrong[:SHOWN]), len(wrong), "the quotation is not in the raw item")


def _ask_captures(db: Database, settings: Settings, now: datetime) -> Finding:
    row = db.fetch_one(queries("audits").anything_captured)
    if row is None or not row["ever"]:
        return Finding("unknown", detail="nothing was ever captured, and no hook has reported yet")
    return _find(queries("audits").silent_hosts, age=SILENT_AFTER)(db, settings, now)


def _ask_triggers(db: Database, settings: Settings, now: datetime) -> Finding:
    there = {row["id"] for row in db.fetch_all(queries("audits").triggers)}
    missing = sorted(REQUIRED_TRIGGERS - there)
    if not missing:
        return Finding("ok")
    return Finding("failed", tuple(missing), len(missing), "missing or switched off; run the migrations' statements")


def _audits() -> tuple[Audit, ...]:
    q = queries("audits")
    return (
        Audit("captures_arriving", "raw_items",
              "Do turns arrive from every machine whose hooks report?", "error", _ask_captures),
        Audit("triggers_present", "raw_items",
              "Are all triggers in place that refuse changes and fill what search needs?", "error", _ask_triggers),
        Audit("queue_complete", "turn_embeddings",
              "Is everything without a vector in the queue to get one?", "error", _find(q.not_queued)),
        Audit("turns_embedded", "turn_embeddings",
              "Has every turn older than an hour its vector in the live space?", "warn",
              _find(q.unembedded_turns, age=UNEMBEDDED_AFTER)),
        Audit("tails_closed", "episodes",
              "Are tails closed within two hours of being due?", "warn", _find(q.late_tails, age=LATE_AFTER)),
        Audit("distill_state_complete", "episodes",
              "Has every closed episode, and every item that is no turn, its place in distill_state?", "error",
              _find(q.units_without_state)),
        Audit("units_distilled", "distilled_notes",
              "Is every unit distilled within two hours?", "warn", _find(q.late_units, age=LATE_AFTER)),
        Audit("none_parked", "distilled_notes",
              "Is no unit parked after failing on its content?", "warn", _find(q.parked_units)),
        Audit("notes_grounded", "distilled_notes",
              "Does every live note quote what its raw item says?", "error", _ask_grounding),
        Audit("notes_embedded", "note_embeddings",
              "Has every live note older than an hour its vector in the live space?", "warn",
              _find(q.unembedded_notes, age=UNEMBEDDED_AFTER)),
        Audit("stages_running", "distilled_notes",
              "Do the stages run while work is pending?", "error",
              _find(q.idle_stages, age=STAGE_IDLE_AFTER, attempts=EMBED_ATTEMPTS)),
        Audit("stages_succeeding", "distilled_notes",
              "Did each stage's latest pass succeed?", "warn", _find(q.failing_stages, stages=STAGES)),
    )  # fmt: skip


AUDITS = _audits()
