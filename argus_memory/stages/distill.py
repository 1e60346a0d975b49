"""Distill: closed episodes and captured items become grounded notes.

    1. claim the newest unit that is due (a lease: no transaction waits for a model)
    2. read it, or pass it over with a reason (a near-duplicate, a replaced episode, a health probe)
    3. candidates: from the chain of models, or from the extractive distiller where none is configured
    4. the write-gate judges each
    5. one transaction: survivors, tombstones, rejections, state; or one with the failure

A pass ends early, and says so, when a person must act (no key, no such model, budget used up) or when the models
could not be reached twice in a row: what is left stays pending.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any

from argus_memory.db import Database, queries
from argus_memory.errors import (
    ConfigurationFailure,
    ContentFailure,
    InfraFailure,
    ModelFailure,
    NotFound,
    Unreachable,
)
from argus_memory.models import extractive
from argus_memory.models.llm import LlmDoor
from argus_memory.models.llm_distill import distill
from argus_memory.records import Candidate, Unit
from argus_memory.rules.gate import judge
from argus_memory.settings import DISTILL_BATCH, Settings
from argus_memory.stages.distill_units import (
    Claim,
    PassedOver,
    UnitKey,
    claim_unit,
    name_run,
    read_unit,
    release_claim,
    renew_claim,
)
from argus_memory.stages.distill_write import Written, fail_unit, pass_over, unpark, write_unit
from argus_memory.stages.model_door import open_door
from argus_memory.stages.passes import describe_error, stage_pass

STAGE = "distill"
INFRA_IN_A_ROW = 2  # failures after which the models are taken to be away

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class DistillReport:
    """Counts of one pass. `stopped` says why it ended before the work did, None when it did not."""

    units_distilled: int = 0
    units_skipped: int = 0
    notes_created: int = 0
    notes_kept: int = 0
    notes_tombstoned: int = 0
    notes_rejected: int = 0
    content_failures: int = 0
    transient_failures: int = 0
    parked: int = 0
    claims_lost: int = 0
    pending: int = 0
    waiting: int = 0
    stopped: str | None = None


@dataclass(frozen=True, slots=True)
class Made:
    """What was made of a unit, before the gate, and by which model."""

    candidates: Sequence[Candidate]
    model: str
    model_real: str | None
    remark: str | None = None


def distill_pending(
    db: Database,
    settings: Settings,
    *,
    now: datetime,
    limit: int = DISTILL_BATCH,
    units: Sequence[UnitKey] | None = None,
    run_id: str | None = None,
) -> DistillReport:
    """One pass over at most `limit` units, newest first; `units` names the only ones to take, due or not.

    A failing unit never fails the pass; raises Unreachable without a database.
    """
    report = DistillReport()
    with stage_pass(db, STAGE, run_id=run_id) as trace:
        door = open_door(db, settings, run_id=run_id)
        done: list[UnitKey] = []
        away = 0
        while len(done) < limit and report.stopped is None:
            claim = claim_unit(db, name_run(trace.id), now=now, units=units, done=done)
            if claim is None:
                break
            done.append((claim.kind, claim.id))
            outcome = _distill_one(db, settings, door, claim, now)
            report = _count(report, outcome)
            away = away + 1 if isinstance(outcome, _Failed) and outcome.kind == InfraFailure.kind else 0
            if away >= INFRA_IN_A_ROW:
                report = replace(report, stopped="the models cannot be reached")
        left = db.fetch_one(queries("distill").count_pending, {"now": now})
        assert left is not None
        report = replace(report, pending=left["pending"], waiting=left["waiting"])
        trace.counts.update(asdict(report))
    if report.stopped:
        log.warning("distill stopped with %s units pending: %s", report.pending, report.stopped)
    return report


@dataclass(frozen=True, slots=True)
class _Failed:
    kind: str
    parked: bool
    message: str


_Outcome = Written | PassedOver | _Failed | None


def _distill_one(db: Database, settings: Settings, door: LlmDoor, claim: Claim, now: datetime) -> _Outcome:
    """One unit from claim to commit; None when the claim was lost."""
    try:
        unit = read_unit(db, claim)
        if isinstance(unit, PassedOver):
            pass_over(db, claim, unit.reason, now=now)
            return unit
        made = make_candidates(settings, door, unit, lambda: renew_claim(db, claim, at=datetime.now(UTC)))
        verdicts = [judge(candidate, unit) for candidate in made.candidates]
        return write_unit(
            db, claim, unit, verdicts, model=made.model, model_real=made.model_real, remark=made.remark, now=now
        )
    except ModelFailure as failure:
        return _fail(db, claim, failure, settings, now)
    except Unreachable:
        raise
    except Exception as error:  # one unit's unforeseen fault must not starve those behind it
        log.exception("distilling %s %s failed", claim.kind, claim.id)
        return _fail(db, claim, ContentFailure(f"a fault in Argus: {describe_error(error)}"), settings, now)
    except BaseException:
        release_claim(db, claim)
        raise


def make_candidates(settings: Settings, door: LlmDoor, unit: Unit, renew: Callable[[], None]) -> Made:
    """Candidates of one unit; `renew` is called before each wait for a model. Raises ModelFailure."""
    if not settings.distill_model:
        kind = "turn" if unit.kind == "episode" else unit.item_kind
        return Made(extractive.extract(unit.turns, item_kind=kind), extractive.MODEL, None)
    made = distill(door, unit, settings.distill_model, context_tokens=settings.llm_context, before_part=renew)
    remark = f"only the first {made.parts} of {made.parts + made.left_out} parts were read" if made.left_out else None
    return Made(made.candidates, made.info.model, made.info.model_real, remark)


def _fail(db: Database, claim: Claim, failure: ModelFailure, settings: Settings, now: datetime) -> _Failed:
    parked = fail_unit(db, claim, failure, settings.distill_model, now=now)
    return _Failed(failure.kind, parked, str(failure))


def _count(report: DistillReport, outcome: _Outcome) -> DistillReport:
    changes: dict[str, Any]
    if outcome is None:
        changes = {"claims_lost": report.claims_lost + 1}
    elif isinstance(outcome, PassedOver):
        changes = {"units_skipped": report.units_skipped + 1}
    elif isinstance(outcome, Written):
        changes = {
            "units_distilled": report.units_distilled + 1,
            "notes_created": report.notes_created + outcome.created,
            "notes_kept": report.notes_kept + outcome.kept,
            "notes_tombstoned": report.notes_tombstoned + outcome.tombstoned,
            "notes_rejected": report.notes_rejected + outcome.rejected,
        }
    elif outcome.kind == ContentFailure.kind:
        changes = {"content_failures": report.content_failures + 1, "parked": report.parked + outcome.parked}
    else:
        changes = {"transient_failures": report.transient_failures + 1}
        if outcome.kind == ConfigurationFailure.kind:
            changes["stopped"] = outcome.message
    return replace(report, **changes)


def retry_parked(db: Database, unit: UnitKey) -> None:
    """Give a parked unit another five tries; raises NotFound when it is not parked."""
    if not unpark(db, unit):
        raise NotFound(f"{unit[0]} {unit[1]} is not parked; `argus status` counts the parked units")


def drop_parked(db: Database, unit: UnitKey, actor: str, *, now: datetime) -> None:
    """Give a parked unit up: its turns stay on record, nothing is distilled of it. Raises NotFound when it is not
    parked."""
    params = {"unit_kind": unit[0], "unit_id": unit[1], "actor": actor, "now": now}
    if db.fetch_one(queries("distill").drop_unit, params) is None:
        raise NotFound(f"{unit[0]} {unit[1]} is not parked; `argus status` counts the parked units")


def find_parked(db: Database) -> list[dict[str, Any]]:
    """Parked units, newest first, each with its last error."""
    return list(db.fetch_all(queries("distill").find_parked))
