"""Regenerate: snapshot → replay raw → episodes → candidates in memory → diff → one switch, or only show.

    1. one at a time (a lock that dies with its process); what a dead one left running is called abandoned
    2. read the units of the days, as they are stored; cut their turns again by the present rules
    3. make each unit's notes anew in memory, by the present models and prompts, past the gate
    4. write snapshot and diff
    5. switch: all units in one transaction, unless it is only shown, or more is lost than ARGUS_REGENERATE_LOSS

Ended at any point, the old notes stand: the only transaction that touches them is the last. A unit that cannot be
made (its model refuses) keeps its notes; when models are away nothing is switched at all.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import date, datetime
from typing import Any, Literal

from psycopg.types.json import Jsonb

from argus_memory.db import Connection, Database, queries
from argus_memory.errors import ArgusError, ConfigurationFailure, Conflict, InfraFailure, ModelFailure, NotFound
from argus_memory.models import extractive
from argus_memory.rules.regeneration import CHANGES, diff_unit, loss_of
from argus_memory.settings import Settings
from argus_memory.stages.acting import as_actor
from argus_memory.stages.distill import INFRA_IN_A_ROW
from argus_memory.stages.distill_units import PassedOver
from argus_memory.stages.model_door import open_door
from argus_memory.stages.passes import describe_error, stage_pass
from argus_memory.upkeep.process import Clock, utc_now
from argus_memory.upkeep.regenerate_decided import ask_fates
from argus_memory.upkeep.regenerate_episodes import replay_episodes
from argus_memory.upkeep.regenerate_lock import one_at_a_time
from argus_memory.upkeep.regenerate_make import Maker, make_with, remake
from argus_memory.upkeep.regenerate_read import Days, Replay, Stored, read_stored, read_units
from argus_memory.upkeep.regenerate_write import UnitDiff, switch, write_diff

Mode = Literal["switch", "dry-run", "reconcile"]
STAGE = "regenerate"

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Regeneration:
    """How one ended. loss: share of the standing notes not made again, None where none stood; days: counts by day."""

    id: int
    mode: Mode
    status: str
    counts: Mapping[str, int]
    loss: float | None
    loss_guard: float
    error: str | None = None
    days: Mapping[date, Mapping[str, int]] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Every field, days as ISO text."""
        return asdict(self) | {"days": {day.isoformat(): dict(counts) for day, counts in self.days.items()}}


def regenerate(
    db: Database,
    settings: Settings,
    days: Days,
    *,
    actor: str,
    mode: Mode = "switch",
    clock: Clock = utc_now,
    run_id: str | None = None,
    maker: Maker | None = None,
) -> Regeneration:
    """Make the notes of these days anew. Raises Conflict while another one works, Unreachable without a database.

    `maker` makes a unit's candidates; None: the present models.
    """
    with one_at_a_time(db), stage_pass(db, STAGE, run_id=run_id) as trace:
        maker = maker or make_with(settings, open_door(db, settings, run_id=run_id))
        started = _begin(db, settings, days, actor=actor, mode=mode, now=clock(), run_id=run_id)
        try:
            done = _run(db, settings, days, started, mode, actor, clock, maker)
        except BaseException as error:
            _fail(db, started, describe_error(error), now=clock())
            raise
        trace.counts.update(done.counts)
        trace.error = done.error if done.status == "failed" else None
        return done


def accept(
    db: Database, settings: Settings, regeneration_id: int, actor: str, *, clock: Clock = utc_now
) -> Regeneration:
    """Switch what was held or only shown. Raises NotFound, or Conflict where it is neither."""
    with one_at_a_time(db), db.transaction() as conn:
        row = _lock_open(conn, regeneration_id)
        now = clock()
        as_actor(conn, actor, now=now)
        done = switch(conn, settings, regeneration_id, now=now)
        counts = {f"did_{name}": count for name, count in done.counts.items()}
        params = {"id": regeneration_id, "status": "switched", "actor": actor, "now": now, "counts": Jsonb(counts)}
        conn.execute(queries("regeneration").decide, params)
        return _report(conn, regeneration_id, row["mode"])


def dismiss(db: Database, regeneration_id: int, actor: str, *, now: datetime) -> Regeneration:
    """Let the old notes stand, for good. Raises NotFound, or Conflict where there is nothing to dismiss."""
    with db.transaction() as conn:
        row = _lock_open(conn, regeneration_id)
        params = {"id": regeneration_id, "status": "dismissed", "actor": actor, "now": now, "counts": Jsonb({})}
        conn.execute(queries("regeneration").decide, params)
        return _report(conn, regeneration_id, row["mode"])


def _lock_open(conn: Connection, regeneration_id: int) -> Mapping[str, Any]:
    row = conn.execute(queries("regeneration").lock_regeneration, {"id": regeneration_id}).fetchone()
    if row is None:
        raise NotFound(f"there is no regeneration {regeneration_id}; `argus regenerate list` shows them")
    if row["status"] not in ("held", "shown"):
        by = f" by {row['decided_by']}" if row["decided_by"] else ""
        raise Conflict(f"regeneration {regeneration_id} waits for nobody: it was {row['status']}{by}")
    return row


def _begin(
    db: Database, settings: Settings, days: Days, *, actor: str, mode: Mode, now: datetime, run_id: str | None
) -> int:
    q = queries("regeneration")
    params = {
        **days.params, "mode": mode, "actor": actor, "now": now, "run_id": run_id,
        "model": ", ".join(settings.distill_model) or extractive.MODEL, "loss_guard": settings.regenerate_loss,
    }  # fmt: skip
    with db.transaction() as conn:
        for row in conn.execute(q.abandon_dead, {"now": now}).fetchall():
            log.warning("regeneration %s was ended before it was done; nothing of it was switched", row["id"])
        begun = conn.execute(q.begin, params).fetchone()
        assert begun is not None
        return int(begun["id"])


def _run(
    db: Database,
    settings: Settings,
    days: Days,
    started: int,
    mode: Mode,
    actor: str,
    clock: Clock,
    maker: Maker,
) -> Regeneration:
    with db.transaction() as conn:
        replayed = replay_episodes(conn, settings, days, now=clock())
        spans = [replay for recut in replayed.recuts for replay in recut.replays]
        gone = {episode for span in spans for episode in span.episodes}
        units = [u for u in read_units(conn, days) if u.kind == "item" or u.id not in gone] + spans
        stored = read_stored(conn, units)
        waiting = conn.execute(queries("regeneration").count_waiting, days.params).fetchone()
        assert waiting is not None
    diffs, error = _remake_all(db, units, stored, maker)
    counts = _count(diffs) | {
        "recut": len(spans), "sessions_left": replayed.left, "waiting": waiting["n"],
    }  # fmt: skip
    lost, stood = loss_of(line for diff in diffs for line in diff.lines)
    loss = lost / stood if stood else None
    with db.transaction() as conn:
        write_diff(conn, started, diffs, reject=mode == "switch", now=clock())
        params = {"id": started, "units": len(diffs), "counts": Jsonb(counts), "loss": loss}
        conn.execute(queries("regeneration").count_diff, params)
    if error:
        _fail(db, started, error, now=clock())
        with db.transaction() as conn:
            return _report(conn, started, mode)
    return _end(db, settings, started, mode, loss, actor=actor, clock=clock)


def _end(
    db: Database, settings: Settings, started: int, mode: Mode, loss: float | None, *, actor: str, clock: Clock
) -> Regeneration:
    """Switch, hold or only show, in one transaction."""
    q = queries("regeneration")
    above = settings.reconcile_above
    wanted = mode == "switch" or (mode == "reconcile" and above is not None and (loss or 0) >= above)
    held = wanted and (loss or 0) > settings.regenerate_loss
    status = "shown" if not wanted else "held" if held else "switched"
    with db.transaction() as conn:
        row = conn.execute(q.lock_regeneration, {"id": started}).fetchone()
        if row is None or row["status"] != "running":
            raise Conflict(f"regeneration {started} was ended by another one; nothing was switched")
        counts: dict[str, int] = {}
        if status == "switched":
            as_actor(conn, actor, now=clock())
            done = switch(conn, settings, started, now=clock())
            counts = {f"did_{name}": count for name, count in done.counts.items()}
        why = (
            f"{loss or 0:.0%} of the notes would be lost, above {settings.regenerate_loss:.0%}:"
            f" `argus regenerate show {started}` shows the diff, `argus regenerate --accept {started}` switches"
        )
        params = {"id": started, "status": status, "now": clock(), "error": why if held else None}
        conn.execute(q.finish, {**params, "counts": Jsonb(counts)})
        return _report(conn, started, mode)


def _remake_all(
    db: Database, units: list[Replay], stored: Mapping[Any, Stored], maker: Maker
) -> tuple[list[UnitDiff], str | None]:
    """The diff of every unit, and why it ended early, if it did."""
    diffs: list[UnitDiff] = []
    away = 0
    for replay in units:
        before = stored[replay.key]
        try:
            made = remake(db, replay, maker)
        except ConfigurationFailure as failure:
            return diffs, str(failure)
        except ModelFailure as failure:
            diffs.append(UnitDiff(replay, before, "failed", str(failure)[:1000]))
            away = away + 1 if isinstance(failure, InfraFailure) else 0
            if away >= INFRA_IN_A_ROW or (away and len(units) == 1):
                return diffs, "the models cannot be reached"
            continue
        away = 0
        if isinstance(made, PassedOver):
            diffs.append(UnitDiff(replay, before, "passed-over", made.reason))
            continue
        with db.transaction() as conn:
            lines = diff_unit(before.notes, made.notes, ask_fates(conn, made.notes).forbids)
        diffs.append(UnitDiff(replay, before, "made", None, made, tuple(lines)))
    return diffs, None


def _count(diffs: list[UnitDiff]) -> dict[str, int]:
    lines = Counter(line.change for diff in diffs for line in diff.lines)
    outcomes = Counter(diff.outcome for diff in diffs)
    return {
        "made": outcomes["made"],
        "failed": outcomes["failed"],
        "passed_over": outcomes["passed-over"],
        "notes_before": sum(note.gone is None for diff in diffs for note in diff.stored.notes),
        "rejected": sum(len(diff.remade.rejected) for diff in diffs if diff.remade),
        **{change.replace("-", "_"): lines[change] for change in CHANGES},
    }


def _fail(db: Database, started: int, error: str, *, now: datetime) -> None:
    params = {"id": started, "status": "failed", "now": now, "error": error, "counts": Jsonb({})}
    try:
        with db.transaction() as conn:
            conn.execute(queries("regeneration").finish, params)
    except ArgusError as away:  # the row is called abandoned by the next one
        log.warning("the end of regeneration %s could not be recorded: %s", started, away)


def _report(conn: Connection, regeneration_id: int, mode: Mode) -> Regeneration:
    q = queries("regeneration")
    row = conn.execute(q.lock_regeneration, {"id": regeneration_id}).fetchone()
    assert row is not None
    days: dict[date, dict[str, int]] = {}
    for each in conn.execute(q.changes_by_day, {"id": regeneration_id}):
        days.setdefault(each["day"], {})[each["change"].replace("-", "_")] = each["n"]
    return Regeneration(
        regeneration_id, mode, row["status"], row["counts"], row["loss"], row["loss_guard"], row["error"], days
    )
