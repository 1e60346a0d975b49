"""`argus import PATH…`: transcripts of Claude Code and Codex into memory; exit 1 when a file or turn was refused."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from argus_memory.settings import Settings, load_settings

if TYPE_CHECKING:
    from rich.table import Table

    from argus_memory.stages.importing import Accept, ImportReport, TranscriptFile

REFUSALS_SHOWN = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="files, or folders to look through")
    parser.add_argument(
        "--source",
        choices=("auto", "claude-code", "codex"),
        default="auto",
        help="the program that wrote them (default: by content)",
    )
    parser.add_argument("--dry-run", action="store_true", help="read and count; store nothing")


def run(arguments: argparse.Namespace) -> int:
    from argus_memory.stages.importing import find_transcripts, import_files

    settings = load_settings()
    files, left = find_transcripts([path.expanduser() for path in arguments.paths], settings.exclude)
    with _store(settings, dry_run=arguments.dry_run) as (accept, trace):
        with _bar(files, shown=not arguments.json) as tell:
            report = import_files(
                files,
                accept,
                source=arguments.source,
                globs=settings.exclude,
                host=os.uname().nodename,
                progress=tell,
            )
        report = replace(report, files_skipped={**left, **report.files_skipped})
        trace.update(asdict(report), unreadable=len(report.unreadable), refusals=len(report.refusals))
    if arguments.json:
        print(json.dumps(asdict(report)))
    else:
        _show(report)
    return 1 if report.unreadable or report.rejected else 0


@contextmanager
def _store(settings: Settings, *, dry_run: bool) -> Iterator[tuple[Accept | None, dict[str, Any]]]:
    """(capture on this home's database, the counts of this import's pass). A dry run has no capture and needs no
    database."""
    if dry_run:
        yield None, {}
        return
    from argus_cli.hub import open_database
    from argus_memory.stages.capture import accept
    from argus_memory.stages.passes import stage_pass

    with open_database(settings) as database, stage_pass(database, "import") as trace:
        yield lambda items: accept(database, settings, items, now=datetime.now(UTC)), trace.counts


@contextmanager
def _bar(files: list[TranscriptFile], *, shown: bool) -> Iterator[Callable[[int], None]]:
    """A progress bar over the bytes on disk, on stderr, where that is a terminal."""
    if not shown or not sys.stderr.isatty():
        yield lambda count: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("importing"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("import", total=sum(file.size for file in files))
        yield lambda count: progress.advance(task, count)


def _show(report: ImportReport) -> None:
    from rich.console import Console

    console = Console(highlight=False)
    console.print(_table(report))
    for path, reason in report.unreadable:
        print(f"argus: {path} could not be read: {reason}", file=sys.stderr)
    for refusal in report.refusals[:REFUSALS_SHOWN]:
        print(f"argus: refused: {refusal}", file=sys.stderr)
    if len(report.refusals) > REFUSALS_SHOWN:
        print(f"argus: and {len(report.refusals) - REFUSALS_SHOWN} more refused", file=sys.stderr)


def _table(report: ImportReport) -> Table:
    """What was done, then what was left out and why."""
    from rich.box import SIMPLE
    from rich.table import Table

    table = Table(box=SIMPLE, show_header=False)
    table.add_column()
    table.add_column(justify="right")
    table.add_row("files read", f"{report.files:,}")
    for reason, count in sorted(report.files_skipped.items()):
        table.add_row(f"files left alone: {reason}", f"{count:,}")
    if report.unreadable:
        table.add_row("files unreadable", f"{len(report.unreadable):,}")
    table.add_section()
    if report.dry_run:
        table.add_row("turns found (dry run: nothing stored)", f"{report.turns:,}")
    else:
        table.add_row("turns new", f"{report.new:,}")
        table.add_row("turns duplicate", f"{report.duplicate:,}")
    for reason, count in sorted(report.not_stored.items()):
        table.add_row(f"turns not stored: {reason}", f"{count:,}")
    if report.rejected:
        table.add_row("turns refused", f"{report.rejected:,}")
    table.add_section()
    for reason, count in sorted(report.skipped.items(), key=lambda pair: (-pair[1], pair[0])):
        table.add_row(f"lines skipped: {reason}", f"{count:,}")
    table.add_section()
    table.add_row("bytes", f"{report.bytes:,}")
    table.add_row("seconds", f"{report.seconds:.2f}")
    return table
