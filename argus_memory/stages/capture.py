"""Capture: what was said becomes an immutable row, or a counted reason why it did not.

`accept` does, all or nothing for the whole request:

1. read each item: malformed refuses the request; excluded, our own text and poison are counted and left;
2. find the projects;
3. portion by portion mask secrets, compute the keys and insert what is new (triggers make it searchable and queue
   it), the database working on one portion while the next is masked;
4. look up what was there before, write redactions, outcomes and the hook's signs, in the same transaction.

No model, no Dagster: the person's wait ends here.
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import orjson
from psycopg import Cursor
from psycopg.rows import DictRow

from argus_memory.db import Connection, Database, queries
from argus_memory.errors import InvalidItem, Unreachable, UsageError
from argus_memory.records import CANARY_PROJECT, Receipt, Redaction
from argus_memory.rules.identity import dedup_key, identity_key, parse_stamp
from argus_memory.rules.project_keys import Place
from argus_memory.settings import CAPTURE_MAX_ITEMS, Settings
from argus_memory.stages.capture_items import EXCLUDED, OWN_TEXT, Item, find_reason, is_excluded, mask_item, read_item
from argus_memory.stages.hook_signs import HookSigns, read_hook, record_hook
from argus_memory.stages.near_duplicates import Document, link_near_duplicates
from argus_memory.stages.projects import Attribution, resolve_places

q = queries("capture")
log = logging.getLogger(__name__)
CLOCK_SKEW = timedelta(minutes=1)  # a sender's clock may be ahead by so much without a remark
PORTION = 200  # items that are masked while the database inserts the ones before them
OWN_TOKEN_MIN = 8  # characters; a shorter setting would be found in ordinary words


@dataclass(slots=True)
class _Row:
    """One item on its way into raw_items; `index` is its place in the request, `id` what it became if it was new."""

    index: int
    item: Item
    redactions: tuple[Redaction, ...]
    dedup: str
    identity: str | None
    said_at: datetime
    id: int | None = None


@dataclass(slots=True)
class _Request:
    """What a request's items have become so far; receipts by place in the request."""

    receipts: list[Receipt | None]
    items: list[tuple[int, Item]] = field(default_factory=list)
    outcomes: Counter[tuple[str, str | None, str, str | None]] = field(default_factory=Counter)
    redactions: list[tuple[int | None, str, Redaction]] = field(default_factory=list)

    def skip(self, index: int, item: Item, reason: str, redactions: tuple[Redaction, ...] = ()) -> None:
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
    also: Callable[[Connection, Sequence[Receipt]], None] | None = None,
) -> list[Receipt]:
    """Receipts in the order of `items` (dicts as `POST /capture` takes them); all or nothing.

    `hook` is the sender's sign of life, kept with them; `also` is done in their transaction.
    Raises InvalidItem naming field and index (the refusal is
    counted), UsageError for too many items, Unreachable without a database.
    """
    if len(items) > CAPTURE_MAX_ITEMS:
        raise UsageError(f"items: {len(items)} in one request, at most {CAPTURE_MAX_ITEMS} are taken")
    try:
        signs = None if hook is None else read_hook(hook)
        request = _read(items, settings, own=signs is not None and signs.is_own)
        _write(db, request, _own_tokens(settings), signs, now, also)
    except InvalidItem as error:
        _record_refusal(db, error, items, now)
        raise
    return [receipt for receipt in request.receipts if receipt is not None]


def _read(items: Sequence[object], settings: Settings, *, own: bool) -> _Request:
    """Validation, and what is skipped by its place, its sender or as poison."""
    request = _Request([None] * len(items))
    kept_out: dict[str, bool] = {}
    for index, given in enumerate(items):
        try:
            item = read_item(given)
        except InvalidItem as error:
            raise InvalidItem(error.field, error.problem, index) from None
        if own:
            reason: str | None = OWN_TEXT
        else:
            reason = EXCLUDED if is_excluded(item, settings.exclude, kept_out) else find_reason(item)
        if reason:
            request.skip(index, item, reason)
        else:
            request.items.append((index, item))
    return request


def _own_tokens(settings: Settings) -> tuple[str, ...]:
    """This installation's own secrets, masked wherever they stand."""
    known = (settings.capture_token, settings.mcp_token, settings.admin_token, settings.llm_api_key,
             settings.telegram_token)  # fmt: skip
    return tuple(token for token in known if token and len(token) >= OWN_TOKEN_MIN)


def _write(
    db: Database,
    request: _Request,
    own_tokens: tuple[str, ...],
    signs: HookSigns | None,
    now: datetime,
    also: Callable[[Connection, Sequence[Receipt]], None] | None,
) -> None:
    """The request's one transaction; without anything to write there is none."""
    projects = resolve_places(db, [item.place for _, item in request.items]) if request.items else {}
    if not (request.items or request.outcomes or signs):
        return
    with db.transaction() as conn:
        rows = _insert(conn, request, projects, own_tokens, now) if request.items else []
        _settle(conn, request, rows, projects, now)
        _write_audit(conn, request, now)
        if signs is not None:
            record_hook(conn, signs, now)
        if also is not None:
            also(conn, [receipt for receipt in request.receipts if receipt is not None])


def _insert(
    conn: Connection,
    request: _Request,
    projects: Mapping[Place, Attribution],
    own_tokens: tuple[str, ...],
    now: datetime,
) -> list[_Row]:
    """The rows, masked and inserted; those that were new have their id."""
    if len(request.items) == 1:
        rows = _mask(request, request.items, own_tokens, now)
        if rows:
            _take_ids(rows, conn.execute(q.insert_item, {**_values(rows[0], projects), "now": now}).fetchall())
        return rows
    sent: list[tuple[list[_Row], Cursor[DictRow]]] = []
    with conn.pipeline():  # execute() returns before the answer is there
        conn.execute(q.lock_bulk)
        for start in range(0, len(request.items), PORTION):
            rows = _mask(request, request.items[start : start + PORTION], own_tokens, now)
            if rows:
                values = [_values(row, projects) for row in rows]
                columns: dict[str, Any] = {name: [each[name] for each in values] for name in values[0]}
                sent.append((rows, conn.execute(q.insert_items, {**columns, "now": now})))
        for rows, cursor in sent:
            _take_ids(rows, cursor.fetchall())
    return [row for rows, _ in sent for row in rows]


def _take_ids(rows: list[_Row], inserted: list[DictRow]) -> None:
    """Give the rows that were new their ids; of copies within the request the first was inserted."""
    ids = {(row["dedup_key"], row["identity_key"]): row["id"] for row in inserted}
    for row in rows:
        row.id = ids.pop((row.dedup, row.identity), None)


def _mask(
    request: _Request, items: Sequence[tuple[int, Item]], own_tokens: tuple[str, ...], now: datetime
) -> list[_Row]:
    rows = []
    for index, item in items:
        try:
            reason, redactions = mask_item(item, own_tokens)
        except InvalidItem as error:
            raise InvalidItem(error.field, error.problem, index) from None
        if reason:
            request.skip(index, item, reason, redactions)
        else:
            rows.append(_to_row(index, item, redactions, now))
    return rows


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
    return _Row(
        index, item, redactions, dedup_key(item.session, stamp, item.body), identity, min(time or now, now)
    )


def _settle(
    conn: Connection,
    request: _Request,
    rows: Sequence[_Row],
    projects: Mapping[Place, Attribution],
    now: datetime,
) -> None:
    """A receipt for each row: link documents that were fetched before, find what was there already."""
    documents = [
        Document(row.id, projects[row.item.place].project, row.item.body)
        for row in rows
        if row.id is not None and row.item.kind == "document" and row.item.project != CANARY_PROJECT
    ]
    near = link_near_duplicates(conn, documents, now)
    known = _find_first(conn, [row for row in rows if row.id is None])
    for row in rows:
        if row.id is not None:
            receipt = Receipt(row.id, redactions=row.redactions, near_duplicate_of=near.get(row.id))
            request.redactions += [(row.id, row.item.source, redaction) for redaction in row.redactions]
        else:
            first = min(known[key] for key in (row.dedup, row.identity) if key in known)
            receipt = Receipt(first, duplicate=True, redactions=row.redactions)
            request.outcomes[row.item.source, row.item.session, "duplicate", None] += 1
        request.receipts[row.index] = receipt


def _values(row: _Row, projects: Mapping[Place, Attribution]) -> dict[str, Any]:
    item = row.item
    attribution = projects[item.place]
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
