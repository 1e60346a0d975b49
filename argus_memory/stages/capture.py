"""Capture: what was said becomes an immutable row, or a counted reason why it did not.

`accept` does, all or nothing for the whole request:

1. judge each item by itself: malformed (refuses the request), excluded, our own text, only a secret, poison;
2. mask secrets, compute the keys, find the project;
3. insert what is new (triggers make it searchable and queue it), look up what was there before;
4. write redactions, outcomes and the hook's signs, in the same transaction.

No model, no Dagster: the person's wait ends here.
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import orjson

from argus_memory.db import Connection, Database, queries
from argus_memory.errors import InvalidItem, Unreachable, UsageError
from argus_memory.records import CANARY_PROJECT, Receipt, Redaction
from argus_memory.rules.identity import dedup_key, identity_key, parse_stamp
from argus_memory.rules.project_keys import Place
from argus_memory.settings import CAPTURE_MAX_ITEMS, Settings
from argus_memory.stages.capture_items import EXCLUDED, OWN_TEXT, Item, is_excluded, judge_item, read_item
from argus_memory.stages.hook_signs import HookSigns, read_hook, record_hook
from argus_memory.stages.near_duplicates import Document, link_near_duplicates
from argus_memory.stages.projects import Attribution, resolve_places

q = queries("capture")
log = logging.getLogger(__name__)
CLOCK_SKEW = timedelta(minutes=1)  # a sender's clock may be ahead by so much without a remark


@dataclass(slots=True)
class _Row:
    """One item on its way into raw_items; `index` is its place in the request."""

    index: int
    item: Item
    place: Place
    redactions: tuple[Redaction, ...]
    dedup: str
    identity: str | None
    said_at: datetime


@dataclass(slots=True)
class _Request:
    """What a request's items have become so far; receipts by place in the request."""

    receipts: list[Receipt | None]
    rows: list[_Row] = field(default_factory=list)
    outcomes: Counter[tuple[str, str | None, str, str | None]] = field(default_factory=Counter)
    redactions: list[tuple[int | None, str, Redaction]] = field(default_factory=list)

    def skip(self, index: int, item: Item, reason: str, redactions: tuple[Redaction, ...]) -> None:
        self.receipts[index] = Receipt(None, skipped=reason, redactions=redactions)
        self.outcomes[item.source, item.session, "skipped", reason] += 1
        self.redactions += [(None, item.source, redaction) for redaction in redactions]


def accept(
    db: Database,
    settings: Settings,
    items: Sequence[object],
    *,
    now: datetime,
    hook: Mapping[str, Any] | None = None,
) -> list[Receipt]:
    """Receipts in the order of `items` (dicts as `POST /capture` takes them); all or nothing.

    `hook` is the sender's sign of life, kept with them. Raises InvalidItem naming field and index (the refusal is
    counted), UsageError for too many items, Unreachable without a database.
    """
    if len(items) > CAPTURE_MAX_ITEMS:
        raise UsageError(f"items: {len(items)} in one request, at most {CAPTURE_MAX_ITEMS} are taken")
    try:
        signs = None if hook is None else read_hook(hook)
        request = _read(items, settings, now, own=signs is not None and signs.is_own)
    except InvalidItem as error:
        _record_refusal(db, error, items, now)
        raise
    _write(db, request, signs, now)
    return [receipt for receipt in request.receipts if receipt is not None]


def _read(items: Sequence[object], settings: Settings, now: datetime, *, own: bool) -> _Request:
    """Everything that needs no database: validation, skips, masking, keys."""
    request = _Request([None] * len(items))
    kept_out: dict[str, bool] = {}
    secrets = tuple(
        token
        for token in (settings.capture_token, settings.mcp_token, settings.admin_token, settings.llm_api_key,
                      settings.telegram_token)
        if token and len(token) >= 8
    )  # fmt: skip
    for index, given in enumerate(items):
        try:
            item = read_item(given)
            if own:
                reason, redactions = OWN_TEXT, ()
            elif is_excluded(item, settings.exclude, kept_out):
                reason, redactions = EXCLUDED, ()
            else:
                reason, redactions = judge_item(item, secrets)  # type: ignore[assignment]
        except InvalidItem as error:
            raise InvalidItem(error.field, error.problem, index) from None
        if reason:
            request.skip(index, item, reason, redactions)
            continue
        request.rows.append(_to_row(index, item, redactions, now))
    return request


def _to_row(index: int, item: Item, redactions: tuple[Redaction, ...], now: datetime) -> _Row:
    """Keys and time. A timestamp that cannot be read, or lies ahead, costs the time and never the turn."""
    stamp = item.original_timestamp
    time = parse_stamp(stamp)
    if stamp is not None and (time is None or time > now + CLOCK_SKEW):
        problem = "unreadable" if time is None else "in the future"
        item.metadata = {**item.metadata, "timestamp_problem": f"{problem}: the time of capture stands for it"}
    identity = identity_key(
        item.uuid, role=item.role or "", body=item.body, said_at=time if item.kind == "turn" else None
    )
    dedup = dedup_key(item.session, stamp, item.body)
    return _Row(index, item, item.place, redactions, dedup, identity, min(time or now, now))


def _write(db: Database, request: _Request, signs: HookSigns | None, now: datetime) -> None:
    """The request's one transaction; without anything to write there is none."""
    projects = resolve_places(db, [row.place for row in request.rows]) if request.rows else {}
    if not (request.rows or request.outcomes or signs):
        return
    with db.transaction() as conn:
        if len(request.rows) > 1:
            conn.execute(q.lock_bulk)
        if request.rows:
            _store(conn, request, projects, now)
        _write_audit(conn, request, now)
        if signs is not None:
            record_hook(conn, signs, now)


def _store(conn: Connection, request: _Request, projects: Mapping[Place, Attribution], now: datetime) -> None:
    """Insert what is new, find the ids of what was there, link documents that were fetched before."""
    inserted = _insert(conn, request.rows, projects, now)
    # Of copies within the request the first was inserted.
    new = {row.index: raw_id for row in request.rows if (raw_id := inserted.pop((row.dedup, row.identity), None))}
    known = _find_first(conn, [row for row in request.rows if row.index not in new])
    documents = [row for row in request.rows if row.index in new and row.item.kind == "document"]
    near = link_near_duplicates(
        conn,
        [
            Document(new[row.index], projects[row.place].project, row.item.body)
            for row in documents
            if row.item.project != CANARY_PROJECT
        ],
        now,
    )
    for row in request.rows:
        raw_id = new.get(row.index)
        if raw_id is not None:
            receipt = Receipt(raw_id, redactions=row.redactions, near_duplicate_of=near.get(raw_id))
            request.redactions += [(raw_id, row.item.source, redaction) for redaction in row.redactions]
        else:
            first = min(known[key] for key in (row.dedup, row.identity) if key in known)
            receipt = Receipt(first, duplicate=True, redactions=row.redactions)
            request.outcomes[row.item.source, row.item.session, "duplicate", None] += 1
        request.receipts[row.index] = receipt


def _insert(
    conn: Connection, rows: Sequence[_Row], projects: Mapping[Place, Attribution], now: datetime
) -> dict[tuple[str, str | None], int]:
    """Both keys → id of the rows that were new."""
    values = [_values(row, projects[row.place]) for row in rows]
    if len(values) == 1:
        found = conn.execute(q.insert_item, {**values[0], "now": now})
    else:
        columns: dict[str, Any] = {name: [each[name] for each in values] for name in values[0]}
        found = conn.execute(q.insert_items, {**columns, "now": now})
    return {(row["dedup_key"], row["identity_key"]): row["id"] for row in found}


def _values(row: _Row, attribution: Attribution) -> dict[str, Any]:
    item = row.item
    return {
        "source": item.source,
        "kind": item.kind,
        "body": item.body,
        "cwd": item.cwd,
        "session": item.session,
        "project": attribution.project,
        "method": attribution.method,
        "confidence": attribution.confidence,
        "metadata": _to_json(item.metadata),
        "dedup_key": row.dedup,
        "identity_key": row.identity,
        "position": item.position,
        "said_at": row.said_at,
    }


def _to_json(metadata: Mapping[str, Any]) -> str:
    try:
        return orjson.dumps(metadata).decode()
    except TypeError:  # a number above 64 bits
        return json.dumps(metadata, ensure_ascii=False, allow_nan=False)


def _find_first(conn: Connection, rows: Sequence[_Row]) -> dict[str | None, int]:
    """Either key → id of the first row with it."""
    if not rows:
        return {}
    params = {
        "dedup_keys": [row.dedup for row in rows],
        "identity_keys": [row.identity for row in rows if row.identity],
    }
    keys: dict[str | None, int] = {}
    for row in conn.execute(q.find_first, params):
        keys.setdefault(row["dedup_key"], row["id"])
        if row["identity_key"]:
            keys.setdefault(row["identity_key"], row["id"])
    return keys


def _write_audit(conn: Connection, request: _Request, now: datetime) -> None:
    if request.redactions:
        raw_ids, sources, redactions = zip(*request.redactions, strict=True)
        params = {
            "raw_id": list(raw_ids),
            "source": list(sources),
            "kind": [redaction.kind for redaction in redactions],
            "count": [redaction.count for redaction in redactions],
            "now": now,
        }
        conn.execute(q.insert_redactions, params)
    if request.outcomes:
        _write_outcomes(conn, request.outcomes, now)


def _write_outcomes(
    conn: Connection, outcomes: Mapping[tuple[str, str | None, str, str | None], int], now: datetime
) -> None:
    sources, sessions, kinds, reasons = zip(*outcomes, strict=True)
    params = {
        "source": list(sources), "session": list(sessions), "outcome": list(kinds), "reason": list(reasons),
        "count": list(outcomes.values()), "now": now,
    }  # fmt: skip
    conn.execute(q.insert_outcomes, params)


def _record_refusal(db: Database, error: InvalidItem, items: Sequence[object], now: datetime) -> None:
    """Count a refused request by the field that was wrong; its caller hears of it either way."""
    item = items[error.index] if error.index is not None else None
    source = item.get("source") if isinstance(item, Mapping) else None
    name = source if isinstance(source, str) and source.isascii() and source.isprintable() else "unknown"
    try:
        with db.transaction() as conn:
            _write_outcomes(conn, {(name[:32], None, "refused", error.field[:100]): 1}, now)
    except Unreachable as away:
        log.warning("a refused capture could not be counted: %s", away)
