"""Capture: what was said becomes an immutable row, or a counted reason why it did not.

`accept` does, in one transaction for the whole request:

1. judge each item by itself: malformed (refuses the request), excluded, our own text, only a secret, poison;
2. mask secrets, compute the keys, find the project;
3. insert what is new (triggers make it searchable and queue it), look up what was there before;
4. write the redactions, the outcomes and the hook's signs.

No model, no Dagster: the person's wait ends here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import orjson

from argus_memory.db import Connection, Database, queries
from argus_memory.errors import InvalidItem, UsageError
from argus_memory.records import Receipt, Redaction
from argus_memory.rules.identity import dedup_key, identity_key, parse_stamp
from argus_memory.settings import CAPTURE_MAX_ITEMS, Settings
from argus_memory.stages.capture_items import Item, judge_item, read_item
from argus_memory.stages.hook_signs import record_hook
from argus_memory.stages.near_duplicates import (
    find_near_duplicate,
    link_near_duplicate,
    record_fingerprint,
)
from argus_memory.stages.projects import Attribution, attribute
from argus_memory.transcripts.exclude import excluded

q = queries("capture")


@dataclass(slots=True)
class _Row:
    """One item on its way into raw_items."""

    place: int
    item: Item
    redactions: tuple[Redaction, ...]
    dedup: str
    identity: str | None
    said_at: datetime


@dataclass(slots=True)
class _Request:
    """What a request's items have become so far; receipts by place."""

    receipts: list[Receipt | None]
    rows: list[_Row] = field(default_factory=list)
    repeats: dict[int, int] = field(default_factory=dict)  # place → place of the same item in this request
    outcomes: Counter[tuple[str, str | None, str, str | None]] = field(default_factory=Counter)
    redactions: list[tuple[int | None, str, Redaction]] = field(default_factory=list)


def accept(
    db: Database,
    settings: Settings,
    items: Sequence[object],
    *,
    now: datetime,
    hook: Mapping[str, Any] | None = None,
) -> list[Receipt]:
    """Receipts in the order of `items` (dicts as `POST /capture` takes them); all or nothing.

    `hook` is the sender's sign of life, kept with them. Raises InvalidItem naming field and index, UsageError for
    too many items, Unreachable without a database.
    """
    if len(items) > CAPTURE_MAX_ITEMS:
        raise UsageError(f"items: {len(items)} in one request, at most {CAPTURE_MAX_ITEMS} are taken")
    request = _read(items, settings, now, own=bool(hook and hook.get("argus_session")))
    with db.transaction() as conn:
        if len(request.rows) > 1:
            conn.execute(q.lock_bulk)
        if request.rows:
            _store(conn, request, now)
        _write_audit(conn, request, now)
        if hook is not None:
            record_hook(conn, hook, now)
    for place, first in request.repeats.items():
        earlier = request.receipts[first]
        assert earlier is not None
        request.receipts[place] = Receipt(earlier.id, duplicate=True)
    return [receipt for receipt in request.receipts if receipt is not None]


def _read(items: Sequence[object], settings: Settings, now: datetime, *, own: bool) -> _Request:
    """Everything that needs no database: validation, skips, masking, keys, repeats within the request."""
    request = _Request([None] * len(items))
    kept_out: dict[str | None, bool] = {None: False}
    places: dict[str, int] = {}
    for place, given in enumerate(items):
        try:
            item = read_item(given)
        except InvalidItem as error:
            raise InvalidItem(error.field, error.problem, place) from None
        if item.cwd not in kept_out:
            kept_out[item.cwd] = excluded(item.cwd, settings.exclude)
        skipped, item, redactions = judge_item(item, is_excluded=kept_out[item.cwd], is_own=own)
        if skipped:
            request.receipts[place] = Receipt(None, skipped=skipped, redactions=redactions)
            request.outcomes[item.source, item.session, "skipped", skipped] += 1
            request.redactions += [(None, item.source, redaction) for redaction in redactions]
            continue
        time = parse_stamp(item.original_timestamp)
        if time is None and item.original_timestamp is not None:
            item.metadata["timestamp_problem"] = "unreadable"  # the time is lost, never the turn
        row = _Row(
            place,
            item,
            redactions,
            dedup_key(item.session, item.original_timestamp, item.body),
            identity_key(
                item.uuid, role=item.role or "", body=item.body, said_at=time if item.kind == "turn" else None
            ),
            min(time or now, now),
        )
        known = [key for key in (row.dedup, row.identity) if key]
        first = next((places[key] for key in known if key in places), None)
        for key in known:
            places.setdefault(key, place if first is None else first)
        if first is None:
            request.rows.append(row)
        else:
            request.repeats[place] = first
            request.outcomes[item.source, item.session, "duplicate", None] += 1
    return request


def _store(conn: Connection, request: _Request, now: datetime) -> None:
    """Insert what is new, find the ids of what was there, link documents that were fetched before."""
    new = _insert(conn, request.rows, now)
    missing = [row for row in request.rows if row.dedup not in new]
    known = _find_first(conn, missing) if missing else {}
    for row in request.rows:
        if row.dedup in new:
            raw_id = new[row.dedup]
            near = _near_duplicate(conn, raw_id, row.item) if row.item.kind == "document" else None
            request.receipts[row.place] = Receipt(raw_id, redactions=row.redactions, near_duplicate_of=near)
            request.redactions += [(raw_id, row.item.source, redaction) for redaction in row.redactions]
        else:
            raw_id = known.get(row.identity or "") or known[row.dedup]
            request.receipts[row.place] = Receipt(raw_id, duplicate=True, redactions=row.redactions)
            request.outcomes[row.item.source, row.item.session, "duplicate", None] += 1


def _insert(conn: Connection, rows: Sequence[_Row], now: datetime) -> dict[str, int]:
    """Dedup key → id of the rows that were new."""
    projects = _attribute(conn, rows)
    columns: dict[str, Any] = {
        "source": [row.item.source for row in rows],
        "kind": [row.item.kind for row in rows],
        "body": [row.item.body for row in rows],
        "cwd": [row.item.cwd for row in rows],
        "session": [row.item.session for row in rows],
        "project": [project.project for project in projects],
        "method": [project.method for project in projects],
        "confidence": [project.confidence for project in projects],
        "metadata": [orjson.dumps(row.item.metadata).decode() for row in rows],
        "dedup_key": [row.dedup for row in rows],
        "identity_key": [row.identity for row in rows],
        "position": [row.item.position for row in rows],
        "said_at": [row.said_at for row in rows],
        "now": now,
    }
    return {row["dedup_key"]: row["id"] for row in conn.execute(q.insert_items, columns)}


def _attribute(conn: Connection, rows: Sequence[_Row]) -> list[Attribution]:
    """The project of each row; a request's items mostly share one, so each place is asked once."""
    known: dict[bytes, Attribution] = {}
    found = []
    for row in rows:
        item = row.item
        place = orjson.dumps([item.project, item.repo, item.cwd, item.host])
        if place not in known:
            known[place] = attribute(
                conn, explicit=item.project, repo=item.repo, cwd=item.cwd, host=item.host
            )
        found.append(known[place])
    return found


def _find_first(conn: Connection, rows: Sequence[_Row]) -> dict[str, int]:
    """Either key → id of the first row with it."""
    found = conn.execute(
        q.find_first,
        {
            "dedup_keys": [row.dedup for row in rows],
            "identity_keys": [row.identity for row in rows if row.identity],
        },
    ).fetchall()
    keys: dict[str, int] = {}
    for row in sorted(found, key=lambda row: int(row["id"])):
        for key in (row["identity_key"], row["dedup_key"]):
            if key:
                keys.setdefault(key, int(row["id"]))
    return keys


def _near_duplicate(conn: Connection, raw_id: int, item: Item) -> int | None:
    """The earlier document this one nearly repeats; it is linked and not distilled again."""
    found = find_near_duplicate(conn, raw_id, item.body)
    record_fingerprint(conn, raw_id, item.body)
    if found is None:
        return None
    of_raw_id, similarity = found
    link_near_duplicate(conn, raw_id, of_raw_id, similarity)
    return of_raw_id


def _write_audit(conn: Connection, request: _Request, now: datetime) -> None:
    if request.redactions:
        conn.execute(
            q.insert_redactions,
            {
                "raw_id": [raw_id for raw_id, _, _ in request.redactions],
                "source": [source for _, source, _ in request.redactions],
                "kind": [redaction.kind for _, _, redaction in request.redactions],
                "count": [redaction.count for _, _, redaction in request.redactions],
                "now": now,
            },
        )
    if request.outcomes:
        conn.execute(
            q.insert_outcomes,
            {
                "source": [key[0] for key in request.outcomes],
                "session": [key[1] for key in request.outcomes],
                "outcome": [key[2] for key in request.outcomes],
                "reason": [key[3] for key in request.outcomes],
                "count": list(request.outcomes.values()),
                "now": now,
            },
        )
