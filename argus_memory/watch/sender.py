"""The sender: takes messages out of the outbox and sends them, each once, also over an outage of a day.

    1. nothing is configured: everything is kept, and that is said
    2. something is configured since: what waited for more than a day is told in one summary a channel
    3. claim the next message whose channel is free (outbox.py), send it part by part (dispatch.py), until none is due

It runs as a thread of the API; the Dagster sensor calls it while that thread is silent. Two at once do no harm: a
message is leased to one of them, and the pace of a chat is read from what both have noted.

At least once: only a lost answer can make a message go twice. It goes again when the service answers a harmless
question, and it is marked.
"""

from __future__ import annotations

import os
import socket
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import uuid4

from argus_memory.db import Connection, Database, queries
from argus_memory.settings import Settings
from argus_memory.watch import outbox
from argus_memory.watch.alerts import put_delivery
from argus_memory.watch.channels import Service, describe_lack, find_channels
from argus_memory.watch.dispatch import Clock, Dispatcher, Door, open_channels
from argus_memory.watch.message_text import show_time
from argus_memory.watch.sender_state import SenderState, load_state, save_state

FOLD_AFTER: Final = timedelta(days=1)
SUMMARY_LINES: Final = 100


@dataclass(frozen=True, slots=True)
class SendReport:
    """What a pass did. `waiting`: what is left; `why`: the reason nothing can be sent, where that is so."""

    sent: int = 0
    parts: int = 0
    retried: int = 0
    gave_up: int = 0
    folded: int = 0
    waiting: int = 0
    why: str | None = None


def send_pending(
    db: Database, settings: Settings, *, now: datetime, by: str, limit: int = 20, stop: threading.Event | None = None
) -> SendReport:
    """One pass, of `limit` messages at most; `stop` set ends it after the message in hand.

    Raises Unreachable where the database is away; what goes wrong with a service is in the outbox and the state.
    """
    channels = find_channels(settings)
    state = load_state(db)
    before = state.as_json()
    if channels.is_empty:
        state.unconfigured_since = state.unconfigured_since or now
        _save(db, state, before, now)
        return SendReport(waiting=_count_waiting(db), why=describe_lack(settings))
    folded = 0
    if state.unconfigured_since is not None:
        folded = fold_old(db, settings, now=now)
        state.unconfigured_since = None
        _save(db, state, before, now)
        before = state.as_json()
    stop = stop or threading.Event()
    clock = Clock(now)
    with _open_doors(settings) as doors:
        work = Dispatcher(db, settings, channels, state, doors, _holder(by), clock, stop)
        for _ in range(limit):
            if stop.is_set():
                break
            row = outbox.claim(db, work.holder, open_channels(channels, state, work.busy, clock()), now=clock())
            if row is None:
                break
            route = channels.find_route(row["channel"])
            assert route is not None  # something is configured
            try:
                work.dispatch(row, route)
            finally:
                if state.as_json() != before:
                    _save(db, state, before, clock())
                    before = state.as_json()
    done = work.counts
    return SendReport(done.sent, done.parts, done.retried, done.gave_up, folded, _count_waiting(db))


def fold_old(db: Database, settings: Settings, *, now: datetime) -> int:
    """Put what waited untried for more than a day into one summary a channel; how many messages that were."""
    by_channel: dict[str, list[tuple[int, str]]] = defaultdict(list)
    with db.transaction() as conn:
        for row in conn.execute(queries("deliveries").old_waiting, {"before": now - FOLD_AFTER}).fetchall():
            line = f"{show_time(row['created_at'], settings)}  {row['title'] or row['kind']}"
            by_channel[row["channel"]].append((row["id"], line))
        for channel, waited in sorted(by_channel.items()):
            _fold_channel(conn, channel, waited, now)
    return sum(map(len, by_channel.values()))


def _fold_channel(conn: Connection, channel: str, waited: list[tuple[int, str]], now: datetime) -> None:
    lines = [line for _, line in waited[-SUMMARY_LINES:]]
    left_out = len(waited) - len(lines)
    if left_out:
        lines.insert(0, f"… and {left_out:,} before them")
    many = "1 message" if len(waited) == 1 else f"{len(waited):,} messages"
    summary = put_delivery(
        conn,
        key=f"folded:{channel}:{now.isoformat()}",
        kind="digest",
        channel=channel,
        title=f"{many} waited for more than a day, because nothing was configured to send",
        body="\n".join(lines) + "\n\nIn full: argus deliveries list --status folded",
        now=now,
    )
    params = {"ids": [id_ for id_, _ in waited], "note": f"told in the summary, message {summary}"}
    conn.execute(queries("deliveries").fold_deliveries, params)


@contextmanager
def _open_doors(settings: Settings) -> Iterator[dict[Service, Door]]:
    """Doors are opened when first asked for: a pass without a message imports and connects nothing."""
    doors = _Doors(settings)
    try:
        yield doors
    finally:
        for door in doors.values():
            door.close()


class _Doors(dict[Service, Door]):
    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self._settings = settings

    def __missing__(self, service: Service) -> Door:
        self[service] = _open_door(service, self._settings)
        return self[service]


def _open_door(service: Service, settings: Settings) -> Door:
    if service == "telegram":
        from argus_memory.watch.telegram import TelegramDoor

        return TelegramDoor(settings)
    if service == "webhook":
        from argus_memory.watch.webhook import WebhookDoor

        return WebhookDoor(settings)
    from argus_memory.watch.ntfy import NtfyDoor

    return NtfyDoor(settings)


def _holder(by: str) -> str:
    """A name no other pass has: a lease is this pass's own."""
    return f"{by}@{socket.gethostname()}:{os.getpid()}:{uuid4().hex[:8]}"


def _save(db: Database, state: SenderState, before: dict[str, object], now: datetime) -> None:
    if state.as_json() != before:
        save_state(db, state, now=now)


def _count_waiting(db: Database) -> int:
    row = db.fetch_one(queries("deliveries").count_waiting)
    return int(row["waiting"]) if row else 0
