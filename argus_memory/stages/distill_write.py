"""What distillation writes: a unit's notes, its rejections and its state, in one transaction each time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from psycopg.rows import DictRow

from argus_memory.db import Connection, Database, queries
from argus_memory.errors import ConfigurationFailure, ContentFailure, ModelFailure
from argus_memory.records import Candidate, Unit
from argus_memory.rules.dead_ends import with_dead_end
from argus_memory.rules.decided import Fate
from argus_memory.rules.gate import Accepted, Rejected
from argus_memory.rules.uid import note_uid, text_key
from argus_memory.settings import DISTILL_FAILURE_CAP
from argus_memory.stages.acting import MACHINE, as_actor
from argus_memory.stages.decided import carry
from argus_memory.stages.distill_decided import ask_decisions
from argus_memory.stages.distill_units import Claim, UnitKey

CONFIGURATION_PAUSE: Final = timedelta(minutes=10)  # a person must act; asked again now and then
FIRST_PAUSE: Final = timedelta(minutes=1)
LONGEST_PAUSE: Final = timedelta(hours=1)
DETAIL_CHARS: Final = 1000


@dataclass(frozen=True, slots=True)
class Written:
    """Counts of one unit: notes new, kept with their identity, taken away; candidates rejected."""

    created: int = 0
    kept: int = 0
    tombstoned: int = 0
    rejected: int = 0


def write_unit(
    db: Database,
    claim: Claim,
    unit: Unit,
    verdicts: Sequence[Accepted | Rejected],
    *,
    model: str,
    model_real: str | None,
    remark: str | None = None,
    now: datetime,
) -> Written | None:
    """Survivors in, the unit's earlier notes kept or tombstoned, rejections and state, all or nothing.

    None when the claim was lost meanwhile (the episode was replaced, or the lease ran out): nothing is written.
    """
    with db.transaction() as conn:
        if conn.execute(queries("distill").lock_claim, claim.params).fetchone() is None:
            return None
        as_actor(conn, MACHINE, now=now)
        earlier = conn.execute(queries("distill").earlier_notes, claim.params).fetchall()
        survivors, rejected = _sort_out(earlier, unit, verdicts)
        survivors, fates, decided = ask_decisions(conn, unit, survivors, now=now)
        rejected += decided
        written = _write_notes(conn, earlier, unit, survivors, fates, model, model_real, now)
        for candidate_rejected in rejected:
            _write_rejection(conn, claim, unit, candidate_rejected, model, now)
        params = {
            **claim.params,
            "status": "done",
            "model": model,
            "model_real": model_real,
            "notes_created": written.created + written.kept,
            "notes_rejected": len(rejected),
            "remark": remark,
            "now": now,
        }
        conn.execute(queries("distill").finish_unit, params)
        if claim.kind == "episode":
            conn.execute(queries("distill").mark_episode, params)
        return Written(written.created, written.kept, written.tombstoned, len(rejected))


def _sort_out(
    earlier: Sequence[DictRow], unit: Unit, verdicts: Sequence[Accepted | Rejected]
) -> tuple[dict[str, Accepted], list[Rejected]]:
    """Survivors by uid; a second candidate of one uid, and one a person or a judge took away, is rejected."""
    standing = {row["uid"] for row in earlier if row["standing"]}
    taken_away = {row["uid"]: row["deleted_reason"] for row in earlier if row["uid"] not in standing}
    survivors: dict[str, Accepted] = {}
    rejected: list[Rejected] = []
    for verdict in verdicts:
        if isinstance(verdict, Rejected):
            rejected.append(verdict)
            continue
        candidate = verdict.candidate
        uid = note_uid(candidate.category, candidate.content, unit.project)
        if uid in survivors:
            rejected.append(Rejected(candidate, "repeat", "the same fact was made twice of this unit"))
        elif uid in taken_away:
            reason = taken_away[uid] or "no reason given"
            rejected.append(Rejected(candidate, "taken-away", f"the same fact was tombstoned before: {reason}"))
        else:
            survivors[uid] = verdict
    return survivors, rejected


def _write_notes(
    conn: Connection,
    earlier: Sequence[DictRow],
    unit: Unit,
    survivors: dict[str, Accepted],
    fates: dict[str, Fate],
    model: str,
    model_real: str | None,
    now: datetime,
) -> Written:
    q = queries("distill")
    standing: dict[str, int] = {}
    for row in earlier:
        if row["standing"]:
            standing.setdefault(row["uid"], row["id"])
    created = 0
    for uid, verdict in survivors.items():
        params = {**_note_params(verdict, unit, uid), "model": model, "model_real": model_real, "now": now}
        if uid in standing:
            conn.execute(q.keep_note, {**params, "id": standing[uid]})
        else:
            made = conn.execute(q.insert_note, params).fetchone()
            assert made is not None
            carry(conn, made["id"], fates[uid], now=now)
            created += 1
    kept = [note_id for uid, note_id in standing.items() if uid in survivors]
    # What a person vouched for stays, also where the model did not make it again.
    kept += [row["id"] for row in earlier if row["standing"] and row["vouched"] and row["id"] not in kept]
    gone = [row["id"] for row in earlier if row["standing"] and row["id"] not in kept]
    conn.execute(q.tombstone_notes, {"ids": gone, "now": now})
    return Written(created=created, kept=len(kept), tombstoned=len(gone))


def _note_params(verdict: Accepted, unit: Unit, uid: str) -> dict[str, Any]:
    candidate, span = verdict.candidate, verdict.span
    return {
        "uid": uid,
        "text_key": text_key(candidate.content),
        "raw_id": span.turn.raw_id,
        "episode_id": unit.id if unit.kind == "episode" else None,
        "title": candidate.title.strip(),
        "content": candidate.content.strip(),
        "category": candidate.category,
        "importance": candidate.importance,
        "project": unit.project,
        "keywords": list(candidate.keywords),
        "tags": with_dead_end(candidate.tags, candidate.content),
        "context": candidate.context,
        "source_ref": candidate.source_ref,
        "source_start": span.start,
        "source_end": span.end,
        "role": span.turn.role if unit.kind == "episode" else None,
        "said_at": span.turn.said_at,
    }


def _write_rejection(
    conn: Connection, claim: Claim, unit: Unit, verdict: Rejected, model: str, now: datetime
) -> None:
    candidate: Candidate = verdict.candidate
    known = {turn.raw_id for turn in unit.turns}
    params = {
        **claim.params,
        "raw_id": candidate.raw_id if candidate.raw_id in known else unit.id if unit.kind == "item" else None,
        "episode_id": unit.id if unit.kind == "episode" else None,
        "title": candidate.title,
        "content": candidate.content,
        "source_ref": candidate.source_ref,
        "reason": verdict.reason,
        "detail": verdict.detail,
        "model": model,
        "now": now,
    }
    conn.execute(queries("distill").insert_rejection, params)


def pass_over(db: Database, claim: Claim, reason: str, *, now: datetime) -> None:
    """Close a unit that is not to be distilled."""
    empty = {"model": None, "model_real": None, "notes_created": None, "notes_rejected": None}
    with db.transaction() as conn:
        if conn.execute(queries("distill").lock_claim, claim.params).fetchone():
            params = {**claim.params, **empty, "status": "skipped", "remark": reason, "now": now}
            conn.execute(queries("distill").finish_unit, params)


def pause_after(failure: ModelFailure, attempts: int) -> timedelta:
    """How long a failed unit waits: ten minutes for a person to act, else one minute doubling up to an hour."""
    if isinstance(failure, ConfigurationFailure):
        return CONFIGURATION_PAUSE
    return min(LONGEST_PAUSE, FIRST_PAUSE * int(2 ** min(max(attempts - 1, 0), 10)))


def fail_unit(db: Database, claim: Claim, failure: ModelFailure, models: Sequence[str], *, now: datetime) -> bool:
    """Write a failure down; returns whether the unit is parked by it. Only content failures count."""
    with db.transaction() as conn:
        state = conn.execute(queries("distill").lock_claim, claim.params).fetchone()
        if state is None:
            return False
        counted = state["content_failures"] + isinstance(failure, ContentFailure)
        parked = isinstance(failure, ContentFailure) and counted >= DISTILL_FAILURE_CAP
        params = {
            **claim.params,
            "class": failure.kind,
            "status_code": failure.status,
            "detail": str(failure)[:DETAIL_CHARS],
            "model": ", ".join(models) or None,
            "attempt": claim.attempts,
            "parked": parked,
            "content_failures": counted,
            "next_attempt_at": None if parked else now + pause_after(failure, claim.attempts),
            "now": now,
        }
        conn.execute(queries("distill").insert_failure, params)
        conn.execute(queries("distill").fail_unit, params)
        return parked


def unpark(db: Database, unit: UnitKey) -> bool:
    """Make a parked unit pending again with a clean count; False when it is not parked."""
    with db.transaction() as conn:
        params = {"unit_kind": unit[0], "unit_id": unit[1]}
        return conn.execute(queries("distill").unpark_unit, params).fetchone() is not None
