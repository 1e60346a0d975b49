"""`argus digest [--print]`: today's digest into the outbox, once a day; or on the screen, as often as wanted."""

from __future__ import annotations

import argparse
import json
from datetime import UTC, datetime

from argus_cli.hub import open_database
from argus_memory.settings import load_settings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--print", dest="shown", action="store_true", help="print it, and leave the outbox as it is")


def run(arguments: argparse.Namespace) -> int:
    from argus_memory.watch.digest import digest_key, digest_words, write_digest

    settings = load_settings()
    now = datetime.now(UTC)
    key = digest_key(settings, now)
    with open_database(settings) as database:
        if arguments.shown:
            title, body = digest_words(database, settings, now=now)
            print(json.dumps({"key": key, "title": title, "body": body}) if arguments.json else f"{title}\n\n{body}")
            return 0
        id_ = write_digest(database, settings, now=now, by="cli")
    if arguments.json:
        print(json.dumps({"key": key, "id": id_, "duplicate": id_ is None}))
    elif id_ is None:
        print(f"today's digest is in the outbox already ({key}); --print shows it anew")
    else:
        print(f"message {id_}: today's digest is in the outbox ({key}), for the channel {settings.alert_channel}")
    return 0
