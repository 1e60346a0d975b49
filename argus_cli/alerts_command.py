"""`argus alerts [list|snooze|close]`: what is wrong now, since when, and who said so."""

from __future__ import annotations

import argparse
import getpass
import json
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from argus_cli.arguments import row_count
from argus_cli.hub import open_database
from argus_memory.errors import UsageError
from argus_memory.option_values import parse_duration
from argus_memory.settings import load_settings

if TYPE_CHECKING:
    from argus_memory.watch.alerts import AlertList


def add_arguments(parser: argparse.ArgumentParser) -> None:
    json_too = argparse.ArgumentParser(add_help=False)
    json_too.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="machine-readable output")
    parser.set_defaults(all=False, limit=100)
    verbs = parser.add_subparsers(dest="verb", metavar="VERB")
    row = verbs.add_parser("list", help="open alerts, newest first (also without a verb)", parents=[json_too])
    row.add_argument("--all", action="store_true", help="closed ones too")
    row.add_argument("--limit", type=row_count, default=100, help="at most so many, 100 by default")
    row = verbs.add_parser("snooze", help="no reminders of an alert for a while", parents=[json_too])
    row.add_argument("id", type=int, help="the alert's id, as `argus alerts` shows it")
    row.add_argument("--for", dest="span", default="2h", metavar="SPAN", help="30m, 2h, 1d; 2h by default")
    row = verbs.add_parser("close", help="say that it is over; what is still wrong opens anew", parents=[json_too])
    row.add_argument("id", type=int, help="the alert's id")


def run(arguments: argparse.Namespace) -> int:
    """0; with `list` 1 while an alert is open."""
    from argus_memory.watch.alerts import close_alert, list_alerts, snooze_alert

    now = datetime.now(UTC)
    span = _span(arguments.span) if arguments.verb == "snooze" else None
    settings = load_settings()
    with open_database(settings) as database:
        if span is not None:
            until = snooze_alert(database, arguments.id, until=now + span)
            told = f"alert {arguments.id}: no reminders before {until.astimezone():%Y-%m-%d %H:%M}"
            print(json.dumps({"id": arguments.id, "snoozed_until": until.isoformat()}) if arguments.json else told)
            return 0
        if arguments.verb == "close":
            close_alert(database, settings, arguments.id, now=now, by=getpass.getuser())
            told = f"alert {arguments.id}: closed"
            print(json.dumps({"id": arguments.id, "closed": True}) if arguments.json else told)
            return 0
        found = list_alerts(database, closed_too=arguments.all, limit=arguments.limit)
    print(json.dumps(asdict(found), default=datetime.isoformat) if arguments.json else as_text(found, now))
    return 1 if found.open else 0


def as_text(found: AlertList, now: datetime) -> str:
    """An alert a line, its detail below; "open=0" where nothing is wrong."""
    from argus_memory.watch.alerts import describe_span

    lines = [f"open={found.open}" if found.open else "no alert is open (open=0)"]
    for one in found.alerts:
        span = describe_span((one.closed_at or now) - one.opened_at)
        state = f"lasted {span}" if one.closed_at else f"for {span}"
        snoozed = ""
        if one.closed_at is None and one.snoozed_until and one.snoozed_until > now:
            snoozed = f", snoozed until {one.snoozed_until.astimezone():%Y-%m-%d %H:%M}"
        seen = f"({state}{snoozed}, seen by {one.opened_by})"
        lines.append(f"{one.id}  {one.severity} {one.kind} {one.subject}  {seen}")
        lines += [f"    {line}" for line in (one.title, *(one.detail or "").splitlines()) if line]
    return "\n".join(lines)


def _span(text: str) -> timedelta:
    try:
        return parse_duration(text)
    except ValueError as error:
        raise UsageError(f"--for: {error}; accepted: 30m, 2h, 1d") from None
