"""Redaction: words that must not be kept are taken out of the whole live database, dead rows included.

    1. find the span in the raw item (or take it whole)
    2. argus_redact: one transaction over all tables (migration 0020)
    3. sweep: each changed table is rewritten, and the planner's samples of it, so that no page keeps a dead row
    4. tell what is out of reach: backups made earlier, the write-ahead log, exported files, identifiers

A sweep that cannot have its table, or is held up by an open transaction, stays on record in redaction_sweeps and is
taken up again by the next redaction and by housekeeping.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

import psycopg
from psycopg import sql
from psycopg.rows import dict_row

from argus_memory.db import Connection, Database, queries
from argus_memory.errors import NotFound, UsageError
from argus_memory.rules.grounding import MIN_LETTERS, find_in_text
from argus_memory.stages.acting import as_actor

SWEEP_SECONDS: Final = 10.0  # to wait for readers of the past, and again for each table
LOCK_TIMEOUT: Final = "5s"
REPLACEMENT_MAX: Final = 80  # characters


@dataclass(frozen=True, slots=True)
class Remnant:
    """A backup that still holds the words; `days` is its age."""

    path: str
    made_at: datetime
    days: float


@dataclass(frozen=True, slots=True)
class RedactReceipt:
    """What a redaction changed, and what it could not reach.

    tables: rows changed. kept: "table.column" of names and keys that hold the words and cannot lose them. swept:
    tables rewritten; unswept: those that wait. exported: notes whose files are to be exported again. wal_until: log
    written before it holds the words until the server recycles it.
    """

    outcome: str
    raw_id: int
    raws: tuple[int, ...] = ()
    notes: tuple[int, ...] = ()
    tables: Mapping[str, int] | None = None
    kept: tuple[str, ...] = ()
    length_class: str | None = None
    hash: str | None = None
    swept: tuple[str, ...] = ()
    unswept: tuple[str, ...] = ()
    exported: tuple[int, ...] = ()
    dumps: tuple[Remnant, ...] = ()
    wal_until: datetime | None = None


def redact(
    db: Database,
    *,
    note_id: int | None = None,
    raw_id: int | None = None,
    text: str | None = None,
    reason: str | None = None,
    actor: str,
    now: datetime,
    replacement: str | None = None,
    dry_run: bool = False,
) -> RedactReceipt:
    """Take `text` (all of it without one) of a raw item, or of the one a note quotes, out of the store.

    A dry run tells what would change. Raises NotFound, or UsageError for words that stand in too many places.
    """
    if replacement is not None and len(replacement) > REPLACEMENT_MAX:
        raise UsageError(f"replacement: has {len(replacement)} characters, at most {REPLACEMENT_MAX} are taken")
    if text is not None and not text.strip():
        raise UsageError("text: is empty; leave it out to redact the whole source")
    with db.transaction() as conn:
        receipt = redact_in(
            conn,
            note_id=note_id,
            raw_id=raw_id,
            text=text,
            reason=reason,
            actor=actor,
            now=now,
            replacement=replacement,
        )
        if dry_run:
            conn.rollback()
            return replace(receipt, outcome="dry-run", wal_until=None)
    if receipt.outcome == "no-op":
        return receipt
    swept, unswept = sweep(db, now=now)
    return replace(receipt, swept=swept, unswept=unswept)


def redact_in(
    conn: Connection,
    *,
    note_id: int | None = None,
    raw_id: int | None = None,
    text: str | None = None,
    reason: str | None = None,
    actor: str,
    now: datetime,
    replacement: str | None = None,
) -> RedactReceipt:
    """The same in the caller's transaction, after which `sweep` is due. Nothing is swept yet."""
    raw = _find_raw(conn, note_id, raw_id)
    start, end = (None, None) if text is None else _find_span(text, raw)
    as_actor(conn, actor, now=now)
    params = {
        "raw_id": raw["id"],
        "start": start,
        "end": end,
        "replacement": replacement,
        "actor": actor,
        "reason": reason,
    }
    return _receipt(conn, raw["id"], _call(conn, params), now)


def sweep(db: Database, *, now: datetime, seconds: float = SWEEP_SECONDS) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Rewrite every table that a redaction left dead rows in; returns those done and those that wait."""
    done: list[str] = []
    waiting: list[str] = []
    q = queries("redact")
    with psycopg.connect(db.dsn, autocommit=True, row_factory=dict_row) as conn:
        open_sweeps = conn.execute(q.open_sweeps).fetchall()
        if not open_sweeps:
            return (), ()
        conn.execute(sql.SQL("set lock_timeout = {}").format(LOCK_TIMEOUT))
        newest = max((row["xid"] for row in open_sweeps), key=int)
        clear = _wait_for_readers(conn, newest, seconds)
        for row in open_sweeps:
            (done if clear and _rewrite(conn, row["relation"]) else waiting).append(row["relation"])
        # The planner's samples of texts were renewed with each table; the old ones are dead rows of the catalogue.
        if done and _rewrite(conn, "pg_catalog.pg_statistic", analyze=False):
            for relation in done:
                conn.execute(q.mark_swept, {"relation": relation, "now": now})
            return tuple(done), tuple(waiting)
    return (), tuple(sorted([*done, *waiting]))


def _wait_for_readers(conn: Connection, xid: str, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while True:
        row = conn.execute(queries("redact").watchers_of_the_past, {"xid": xid}).fetchone()
        assert row is not None
        if row["n"] == 0:
            return True
        if time.monotonic() > end:
            return False
        time.sleep(0.05)


def _rewrite(conn: Connection, relation: str, *, analyze: bool = True) -> bool:
    """VACUUM FULL: only a new file leaves nothing in the free space of pages. False where it could not be had."""
    row = conn.execute(queries("redact").may_sweep, {"relation": relation}).fetchone()
    catalogue = relation.startswith("pg_catalog.")
    if not catalogue and (row is None or not row["may"]):
        return False
    name = sql.Identifier(*relation.replace('"', "").split("."))
    options = sql.SQL("full, analyze" if analyze else "full")
    try:
        conn.execute(sql.SQL("vacuum ({}) {}").format(options, name))
    except (psycopg.errors.LockNotAvailable, psycopg.errors.InsufficientPrivilege):
        return False
    return True


def _find_raw(conn: Connection, note_id: int | None, raw_id: int | None) -> Mapping[str, Any]:
    q = queries("redact")
    if note_id is not None:
        note = conn.execute(q.note_raw, {"id": note_id}).fetchone()
        if note is None:
            raise NotFound(f"there is no note {note_id}")
        raw_id = note["raw_id"]
    row = conn.execute(q.find_raw, {"id": raw_id}).fetchone()
    if row is None:
        raise NotFound(f"there is no raw item {raw_id}")
    return row


def _find_span(text: str, raw: Mapping[str, Any]) -> tuple[int, int]:
    """Where the words stand; white space and case do not count."""
    if sum(char.isalnum() for char in text) < MIN_LETTERS:
        raise UsageError("text: fewer than four letters or digits stand in too many places: name more of the text")
    body: str = raw["body"]
    place = find_in_text(text, body)
    if place is None and len(lower := body.lower()) == len(body):
        place = find_in_text(text.lower(), lower)
    if place is None:
        raise NotFound(
            f"these words do not stand in raw item {raw['id']}, which the note quotes: name them as they were said,"
            " or leave the text out to redact the whole source"
        )
    return place


def _call(conn: Connection, params: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        row = conn.execute(queries("redact").redact, params).fetchone()
    except psycopg.Error as error:
        if error.sqlstate in ("AR002", "AR404"):
            raise UsageError(error.diag.message_primary or "cannot be redacted") from None
        raise
    assert row is not None
    done: Mapping[str, Any] = row["done"]
    return done


def _receipt(conn: Connection, raw_id: int, done: Mapping[str, Any], now: datetime) -> RedactReceipt:
    q = queries("redact")
    exported: Sequence[Mapping[str, Any]] = conn.execute(q.exported, {"ids": done["notes"]}).fetchall()
    dumps = conn.execute(q.dumps, {"now": now}).fetchall()
    return RedactReceipt(
        "changed" if done["raws"] else "no-op",
        raw_id,
        tuple(done["raws"]),
        tuple(sorted(set(done["notes"]))),
        done["tables"],
        tuple(done["kept"]),
        done["length_class"],
        done["hash"],
        exported=tuple(row["id"] for row in exported),
        dumps=tuple(
            Remnant(row["path"], row["finished_at"], round((now - row["finished_at"]).total_seconds() / 86400, 2))
            for row in dumps
        ),
        wal_until=now,
    )
