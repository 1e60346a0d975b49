"""What a regeneration writes: its snapshot with the diff, and later the switch, each in one transaction.

The switch reads nothing but these rows, so that a person can accept days later what was held; a unit whose notes or
state changed since it was read is left as it is ("moved on"), for what was decided meanwhile counts more.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from argus_memory.db import Connection, queries
from argus_memory.records import Candidate
from argus_memory.rules.carry_over import Place
from argus_memory.rules.regeneration import Line, NewNote
from argus_memory.settings import Settings
from argus_memory.upkeep.regenerate_decided import ask_fates
from argus_memory.upkeep.regenerate_episodes import switch_episodes
from argus_memory.upkeep.regenerate_make import Remade
from argus_memory.upkeep.regenerate_read import Replay, ReplayKey, Stored, read_stored


@dataclass(frozen=True, slots=True)
class UnitDiff:
    """One replayed unit: how it was, what was made, and the diff. `remade` None: `outcome` says why not."""

    replay: Replay
    stored: Stored
    outcome: str
    remark: str | None = None
    remade: Remade | None = None
    lines: tuple[Line, ...] = ()


@dataclass(slots=True)
class Switched:
    """units switched; moved_on: left as they are; the changes of notes that were made."""

    counts: Counter[str] = field(default_factory=Counter)
    reworded: list[int] = field(default_factory=list)


def write_diff(
    conn: Connection, regeneration_id: int, diffs: Sequence[UnitDiff], *, reject: bool, now: datetime
) -> None:
    """Snapshot and diff; `reject`: also write down what the gate refused."""
    q = queries("regeneration")
    with conn.cursor() as cursor:
        cursor.executemany(q.insert_unit, [_unit_params(regeneration_id, diff) for diff in diffs])
        cursor.executemany(
            q.insert_line, [_line_params(regeneration_id, diff, line) for diff in diffs for line in diff.lines]
        )
        if reject:
            rejections = [_rejection_params(diff, *each, now) for diff in diffs for each in _rejected(diff)]
            cursor.executemany(queries("distill").insert_rejection, rejections)


def _unit_params(regeneration_id: int, diff: UnitDiff) -> dict[str, Any]:
    replay, remade = diff.replay, diff.remade
    return {
        "regeneration_id": regeneration_id,
        "unit_kind": replay.kind,
        "unit_id": replay.id,
        "session": replay.session,
        "raw_ids": list(replay.raw_ids) or None,
        "said_at": replay.said_at,
        "outcome": diff.outcome,
        "fingerprint": diff.stored.fingerprint,
        "notes_before": sum(note.gone is None for note in diff.stored.notes),
        "candidates": len(remade.notes) + len(remade.rejected) if remade else 0,
        "rejected": len(remade.rejected) if remade else 0,
        "model": remade.model if remade else None,
        "model_real": remade.model_real if remade else None,
        "remark": diff.remark or (remade.remark if remade else None),
    }


def _line_params(regeneration_id: int, diff: UnitDiff, line: Line) -> dict[str, Any]:
    old, new = line.old, line.new
    return {
        "regeneration_id": regeneration_id,
        "unit_kind": diff.replay.kind,
        "unit_id": diff.replay.id,
        "change": line.change,
        "old_note_id": old.id if old else None,
        "old_uid": old.uid if old else None,
        "old_text": old.content if old else None,
        "new_uid": new.uid if new else None,
        "new_text": new.content if new else None,
        "candidate": Jsonb(dict(new.params)) if new else None,
        "detail": line.detail,
    }


def _rejected(diff: UnitDiff) -> tuple[tuple[Candidate, str, str], ...]:
    return diff.remade.rejected if diff.remade else ()


def _rejection_params(
    diff: UnitDiff, candidate: Candidate, reason: str, detail: str, now: datetime
) -> dict[str, Any]:
    replay = diff.replay
    return {
        "unit_kind": replay.kind,
        "unit_id": replay.id,
        "raw_id": replay.id if replay.kind == "item" else None,
        "episode_id": replay.id if replay.kind == "episode" else None,
        "title": candidate.title,
        "content": candidate.content,
        "source_ref": candidate.source_ref,
        "reason": reason,
        "detail": detail,
        "model": diff.remade.model if diff.remade else None,
        "now": now,
    }


def switch(conn: Connection, settings: Settings, regeneration_id: int, *, now: datetime) -> Switched:
    """Make the notes of every unit that did not move on as the diff says, in the caller's transaction."""
    q = queries("regeneration")
    units = [u for u in conn.execute(q.units, {"id": regeneration_id}).fetchall() if u["outcome"] == "made"]
    lines: dict[ReplayKey, list[DictRow]] = defaultdict(list)
    for line in conn.execute(q.lines, {"id": regeneration_id}):
        lines[(line["unit_kind"], line["unit_id"])].append(line)
    replays = _with_episodes(conn, [_replay_of(unit) for unit in units])
    stored = read_stored(conn, replays, lock=True)
    fit = {r.key: r for r, u in zip(replays, units, strict=True) if stored[r.key].fingerprint == u["fingerprint"]}
    episode_of = _switch_sessions(conn, settings, replays, fit, now)
    done = Switched()
    for unit in units:
        key: ReplayKey = (unit["unit_kind"], unit["unit_id"])
        if key not in fit:
            done.counts["moved_on"] += 1
            continue
        _switch_unit(conn, unit, episode_of.get(key), lines[key], now, done)
        done.counts["switched"] += 1
    conn.execute(q.drop_vectors, {"ids": done.reworded})
    conn.execute(q.queue_vectors, {"ids": done.reworded})
    return done


def _replay_of(unit: DictRow) -> Replay:
    return Replay(
        unit["unit_kind"], unit["unit_id"], None, unit["said_at"], unit["session"], tuple(unit["raw_ids"] or ())
    )


def _with_episodes(conn: Connection, replays: Sequence[Replay]) -> list[Replay]:
    """Spans with the episodes that hold their turns now."""
    raw_ids = [raw_id for replay in replays for raw_id in replay.raw_ids]
    if not raw_ids:
        return list(replays)
    found = conn.execute(queries("regeneration").episodes_at, {"raw_ids": raw_ids}).fetchall()
    now_in = {row["raw_id"]: row["episode_id"] for row in found}
    return [
        Replay(
            r.kind, r.id, r.project, r.said_at, r.session, r.raw_ids,
            tuple(sorted({now_in[raw_id] for raw_id in r.raw_ids if raw_id in now_in})),
        )
        for r in replays
    ]  # fmt: skip


def _switch_sessions(
    conn: Connection,
    settings: Settings,
    replays: Sequence[Replay],
    fit: dict[ReplayKey, Replay],
    now: datetime,
) -> dict[ReplayKey, int]:
    """The episode of each unit; sessions with a span that moved on are taken out of `fit` whole."""
    episode_of: dict[ReplayKey, int] = {r.key: r.id for r in fit.values() if r.kind == "episode"}
    by_session: dict[str, list[Replay]] = defaultdict(list)
    for replay in replays:
        if replay.kind == "span" and replay.session is not None:
            by_session[replay.session].append(replay)
    for session, spans in sorted(by_session.items()):
        fits = all(span.key in fit for span in spans)
        made = switch_episodes(conn, settings, session, spans, now=now) if fits else None
        for span in spans:
            if made is None:
                fit.pop(span.key, None)
            else:
                episode_of[span.key] = made[span.id]
    return episode_of


def _switch_unit(
    conn: Connection,
    unit: DictRow,
    episode_id: int | None,
    lines: Sequence[DictRow],
    now: datetime,
    done: Switched,
) -> None:
    q = queries("regeneration")
    params: Mapping[str, Any] = {
        "model": unit["model"], "model_real": unit["model_real"], "episode_id": episode_id, "now": now,
    }  # fmt: skip
    gone: list[int] = []
    notes = 0
    made = {line["id"]: _new_note(line) for line in lines if line["candidate"]}
    fates = ask_fates(conn, list(made.values()))
    for line in lines:
        change = line["change"]
        if change == "added" and fates.forbids(made[line["id"]]):
            change = "refused-by-decision"  # decided since the diff was made
        if change == "changed" and fates.forbids(made[line["id"]]):
            change = "kept-by-decision"
        if change == "added":
            row = conn.execute(queries("distill").insert_note, {**line["candidate"], **params}).fetchone()
            assert row is not None
            fates.bear(conn, made[line["id"]], row["id"], now=now)
        elif change == "refused-by-decision":
            fates.withhold(conn, made[line["id"]], now=now)
        elif change in ("changed", "unchanged"):
            conn.execute(q.rewrite_note, {**line["candidate"], **params, "id": line["old_note_id"]})
            done.reworded += [line["old_note_id"]] if change == "changed" else []
        elif change == "removed":
            gone.append(line["old_note_id"])
        notes += change not in ("removed", "refused-by-decision")
        done.counts[change.replace("-", "_")] += 1
    conn.execute(queries("distill").tombstone_notes, {"ids": gone, "now": now})
    kind = "item" if unit["unit_kind"] == "item" else "episode"
    state = {"unit_kind": kind, "unit_id": episode_id or unit["unit_id"], "notes": notes}
    finished = {**params, **state, "rejected": unit["rejected"], "remark": unit["remark"]}
    conn.execute(q.finish_unit, finished)
    if kind == "episode":
        conn.execute(queries("distill").mark_episode, finished)


def _new_note(line: DictRow) -> NewNote:
    made = line["candidate"]
    return NewNote(
        line["new_uid"], line["new_text"], Place(made["raw_id"], made["source_start"], made["source_end"]), made
    )
