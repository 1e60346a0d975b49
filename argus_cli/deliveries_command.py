"""`argus deliveries [list|retry|send-test]`: the outbox: what was sent where, what waits, and why."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from argus_cli.arguments import row_count
from argus_cli.hub import open_database
from argus_memory.settings import Settings, load_settings

if TYPE_CHECKING:
    from argus_memory.db import Database
    from argus_memory.watch.deliveries import DeliveryList

TEST_SECONDS = 20.0  # how long a test message is waited for
TEST_POLL_SECONDS = 0.5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    json_too = argparse.ArgumentParser(add_help=False)
    json_too.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="machine-readable output")
    parser.set_defaults(status=None, key=None, limit=30)
    verbs = parser.add_subparsers(dest="verb", metavar="VERB")
    row = verbs.add_parser("list", help="messages, newest first (also without a verb)", parents=[json_too])
    row.add_argument("--status", help="pending, sending, sent, folded or gave-up")
    row.add_argument("--key", help="the one with this key")
    row.add_argument("--limit", type=row_count, default=30, help="at most so many, 30 by default")
    row = verbs.add_parser("retry", help="send one that waits or was given up at once", parents=[json_too])
    row.add_argument("id", type=int, help="the message's id, as `argus deliveries` shows it")
    row = verbs.add_parser("send-test", help="send a test message and wait for it", parents=[json_too])
    row.add_argument("channel", help="a name of ARGUS_TELEGRAM_CHATS, webhook or ntfy")


def run(arguments: argparse.Namespace) -> int:
    """0; `list` ends with 1 when a message was given up, `send-test` when it did not arrive."""
    from argus_memory.watch.deliveries import list_deliveries, retry_delivery

    settings = load_settings()
    with open_database(settings) as database:
        if arguments.verb == "retry":
            retry_delivery(database, arguments.id, now=datetime.now(UTC))
            told = f"message {arguments.id}: is sent at the next pass of the sender"
            print(json.dumps({"id": arguments.id, "status": "pending"}) if arguments.json else told)
            return 0
        if arguments.verb == "send-test":
            row = send_test(database, settings, arguments.channel)
            print(json.dumps(dict(row)) if arguments.json else test_as_text(row, arguments.channel))
            return 0 if row["status"] == "sent" else 1
        found = list_deliveries(
            database, settings, key=arguments.key, status=arguments.status, limit=arguments.limit
        )
    print(json.dumps(asdict(found), default=str) if arguments.json else as_text(found))
    return 1 if any(row["status"] == "gave-up" for row in found.deliveries) else 0


def send_test(database: Database, settings: Settings, channel: str) -> Mapping[str, Any]:
    """Put it in and send it here; a running hub may be quicker. The row as it is in the end."""
    from argus_memory.watch.deliveries import find_delivery, put_test
    from argus_memory.watch.sender import send_pending

    id_ = put_test(database, settings, channel, now=datetime.now(UTC))
    end = time.monotonic() + TEST_SECONDS
    while True:
        send_pending(database, settings, now=datetime.now(UTC), by="cli")
        row = find_delivery(database, id_)
        if row["status"] in ("sent", "gave-up") or time.monotonic() > end:
            return row
        time.sleep(TEST_POLL_SECONDS)


def test_as_text(row: Mapping[str, Any], channel: str) -> str:
    if row["status"] == "sent":
        return f"message {row['id']}: sent to {row['target']} for the channel {channel}"
    why = row["last_error"] or "another message to it is on its way"
    return f"message {row['id']}: has not arrived ({why}); it stays in the outbox and is tried again"


def as_text(found: DeliveryList) -> str:
    """Two lines a message: what and when, and what became of it."""
    lines = [f"count={found.count}" if found.count else "the outbox is empty (count=0)"]
    if found.why:
        lines.append(f"({found.why})")
    for row in found.deliveries:
        written = f"{row['created_at'].astimezone():%Y-%m-%d %H:%M}"
        lines.append(f"{row['id']}  {written}  {row['kind']} to {row['channel']}: {row['title']}")
        lines.append(f"    {fate_of(row, found.why)}")
    return "\n".join(lines)


def fate_of(row: Mapping[str, Any], why: str | None) -> str:
    """`sent to telegram:100 at …`, `kept, nothing is configured to send`, `waits, 3 tries: …`."""
    error = f": {row['last_error']}" if row["last_error"] else ""
    if row["status"] == "sent":
        return f"sent to {row['target']} at {row['sent_at'].astimezone():%Y-%m-%d %H:%M:%S}{error}"
    if row["status"] == "folded":
        return f"not sent by itself{error}"
    if row["status"] == "gave-up":
        return f"given up after {row['attempts']} tries{error}; `argus deliveries retry {row['id']}` tries again"
    if why and row["status"] == "pending":
        return f"kept, {why.partition(':')[0]}"
    parts = f", part {row['parts_sent']} of {row['parts_total']} sent" if row["parts_sent"] else ""
    tries = f", {row['attempts']} tries, next {row['next_try_at'].astimezone():%H:%M:%S}" if row["attempts"] else ""
    return f"{'on its way' if row['status'] == 'sending' else 'waits'}{parts}{tries}{error}"
