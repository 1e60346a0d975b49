"""`argus task pause NAME`: nothing of it is started or expected, until a time or until it is resumed."""

from __future__ import annotations

import argparse
import getpass
from dataclasses import asdict
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from argus_cli.hub import open_database
from argus_cli.task_words import as_json, local_time
from argus_memory.errors import UsageError
from argus_memory.option_values import parse_duration
from argus_memory.settings import Settings
from argus_memory.tasks.config import default_zone_of
from argus_memory.tasks.registry import pause_task


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME")
    end = parser.add_mutually_exclusive_group()
    end.add_argument("--until", metavar="TIME", help="2026-12-24T18:00, in ARGUS_TIMEZONE unless it has an offset")
    end.add_argument("--for", dest="span", metavar="SPAN", help="a duration: 30m, 2h, 3d")
    parser.add_argument("--reason", help="words for the pages")


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    now = datetime.now(UTC)
    zone = default_zone_of(settings)
    until = find_end(arguments.until, arguments.span, zone, now)
    with open_database(settings) as database:
        pause = pause_task(
            database, arguments.name, until=until, actor=getpass.getuser(), reason=arguments.reason, now=now
        )
    if arguments.json:
        print(as_json(asdict(pause)))
    else:
        end = f"until {local_time(until, zone)} {zone}" if until else "until it is resumed"
        print(f"{pause.task} is paused {end}")
    return 0


def find_end(until: str | None, span: str | None, zone: str, now: datetime) -> datetime | None:
    """The end a person named, UTC; raises UsageError with the form that is understood."""
    try:
        if span is not None:
            return now + parse_duration(span)
        if until is None:
            return None
        at = datetime.fromisoformat(until)
        return (at if at.tzinfo else at.replace(tzinfo=ZoneInfo(zone))).astimezone(UTC)
    except (ValueError, OverflowError):
        if span is not None:
            raise UsageError(f"--for {span} is not a duration; write 30m, 2h or 3d") from None
        raise UsageError(f"--until {until} is not a time; write 2026-12-24T18:00 or 2026-12-24T18:00+01:00") from None
