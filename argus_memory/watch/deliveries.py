"""What a person or a task does with the outbox: put a message in, look, try again, send a test."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any, Final
from uuid import UUID, uuid4

from argus_memory.db import Database, queries
from argus_memory.errors import Conflict, NotFound, UsageError
from argus_memory.settings import Settings
from argus_memory.watch.alerts import put_delivery
from argus_memory.watch.channels import MAIN, describe_lack, find_channels
from argus_memory.watch.message_text import LINK_MAX, hide_secrets
from argus_memory.watch.sender_state import load_state

TEXT_MAX_BYTES: Final = 64 * 1024
_LIMITS: Final = {"title": 500, "channel": 64, "task": 64, "key": 200, "link": LINK_MAX}  # characters
STATUSES: Final = ("pending", "sending", "sent", "folded", "gave-up")
_LINK: Final = re.compile(r"https?://[^\s/]+(/\S*)?")
_FIELDS: Final = ("channel", "title", "text", "link", "key", "task", "rid")


@dataclass(frozen=True, slots=True)
class DeliverReceipt:
    """`sending`: the message is on its way; else it is kept, and `why`. `note`: what differs from the intent."""

    id: int
    duplicate: bool
    channel: str
    sending: bool
    why: str | None
    note: str | None


def accept_delivery(db: Database, settings: Settings, intent: Mapping[str, Any], *, now: datetime) -> DeliverReceipt:
    """Put a deliver intent into the outbox: {"text", "channel"?, "title"?, "link"?, "key"?, "task"?, "rid"?}.

    The same key of the same task is one message for ever. A run nobody knows of is left out, and the receipt says so:
    the message counts for more. Raises UsageError naming the field.
    """
    given = {name: _text(intent, name) for name in _FIELDS}
    _check(given)
    channel = given["channel"] or MAIN
    key = f"deliver:{given['task'] or ''}:{_apart(given['key'], settings) or uuid4()}"
    lost_run = None
    with db.transaction() as conn:
        if given["rid"] and conn.execute(queries("deliveries").find_run, {"rid": given["rid"]}).fetchone() is None:
            lost_run = f"no run {given['rid']} is known, the message stands without it"
        id_ = put_delivery(
            conn,
            key=key,
            kind="deliver",
            channel=channel,
            title=hide_secrets(given["title"] or "", settings),
            body=hide_secrets(given["text"] or "", settings),
            link=hide_secrets(given["link"], settings) if given["link"] else None,
            task=given["task"],
            rid=None if lost_run else given["rid"],
            now=now,
        )
    if id_ is not None:
        return _receipt(db, settings, id_, False, channel, lost_run)
    known = db.fetch_one(queries("deliveries").find_by_key, {"key": key})
    assert known is not None  # rows of the outbox are never deleted
    return _receipt(db, settings, known["id"], True, known["channel"], lost_run)


def _receipt(
    db: Database, settings: Settings, id_: int, duplicate: bool, channel: str, lost_run: str | None
) -> DeliverReceipt:
    route = find_channels(settings).find_route(channel)
    why = None if route else describe_lack(settings)
    if route and load_state(db).of(route.target.service).status == "refused":
        why = f"{route.target.service} refuses the token or address: kept, see `argus status`"
    notes = [note for note in (route.note if route else None, lost_run) if note]
    return DeliverReceipt(id_, duplicate, channel, why is None, why, "; ".join(notes) or None)


def _apart(key: str | None, settings: Settings) -> str | None:
    """The key as rows and receivers may see it; one that holds a secret becomes a digest, apart from all others."""
    if key is None or hide_secrets(key, settings) == key:
        return key
    return sha256(key.encode()).hexdigest()


def _text(intent: Mapping[str, Any], name: str) -> str | None:
    value = intent.get(name)
    if value is not None and not isinstance(value, str):
        raise UsageError(f"{name}: is no text, text is needed")
    return value.strip() or None if value else None


def _check(given: Mapping[str, str | None]) -> None:
    text, link, rid = given["text"], given["link"], given["rid"]
    if text is None:
        raise UsageError("text: is empty, there is nothing to deliver")
    size = len(text.encode("utf-8", "replace"))
    if size > TEXT_MAX_BYTES:
        raise UsageError(f"text: has {size:,} bytes, {TEXT_MAX_BYTES:,} are the limit: send a link to the rest")
    for name, most in _LIMITS.items():
        value = given[name]
        if value is not None and len(value) > most:
            raise UsageError(f"{name}: has {len(value):,} characters, {most} are the limit")
        if value is not None and name != "title" and not value.isprintable():
            raise UsageError(f"{name}: holds characters that cannot be printed")
    if link is not None and not _LINK.fullmatch(link):
        raise UsageError("link: is no address that begins with http:// or https://")
    if rid is not None:
        try:
            UUID(rid)
        except ValueError:
            raise UsageError(f"rid: {rid[:50]!r} is no run's id (a UUID)") from None


@dataclass(frozen=True, slots=True)
class DeliveryList:
    """The newest `deliveries`; `count` of all that fit the question. `why`: the reason nothing can be sent."""

    count: int
    deliveries: list[dict[str, Any]]
    why: str | None


def list_deliveries(
    db: Database, settings: Settings, *, key: str | None = None, status: str | None = None, limit: int = 100
) -> DeliveryList:
    """Messages, newest first. Raises UsageError on an unknown status."""
    if status is not None and status not in STATUSES:
        raise UsageError(f"status: {status!r} is not one of {', '.join(STATUSES)}")
    params = {"key": key, "status": status, "limit": limit}
    counted = db.fetch_one(queries("deliveries").count_deliveries, params)
    rows = [dict(row) for row in db.fetch_all(queries("deliveries").list_deliveries, params)]
    why = describe_lack(settings) if find_channels(settings).is_empty else None
    return DeliveryList(counted["count"] if counted else 0, rows, why)


def retry_delivery(db: Database, id_: int, *, now: datetime) -> None:
    """Send it at the next pass. Raises NotFound, and Conflict for one that is sent or on its way."""
    if db.fetch_one(queries("deliveries").retry_delivery, {"id": id_, "now": now}) is not None:
        return
    row = find_delivery(db, id_)
    raise Conflict(f"message {id_} is {row['status']}: only one that waits or was given up is tried again")


def find_delivery(db: Database, id_: int) -> Mapping[str, Any]:
    """id, status, last_error and target. Raises NotFound."""
    row = db.fetch_one(queries("deliveries").find_delivery, {"id": id_})
    if row is None:
        raise NotFound(f"there is no message {id_}: `argus deliveries list` shows them")
    return row


def put_test(db: Database, settings: Settings, channel: str, *, now: datetime) -> int:
    """A test message for a channel. Raises UsageError where it does not exist: a fallback would test another."""
    channels = find_channels(settings)
    if channels.is_empty:
        raise UsageError(describe_lack(settings))
    if channel not in channels.by_name and channel != MAIN:
        raise UsageError(f"there is no channel {channel!r}: it is one of {', '.join(sorted(channels.by_name))}")
    with db.transaction() as conn:
        id_ = put_delivery(
            conn,
            key=f"test:{uuid4()}",
            kind="answer",
            channel=channel,
            title="A test message of Argus",
            body=f"The channel “{channel}” works.",
            now=now,
        )
    assert id_ is not None  # its key is new
    return id_
