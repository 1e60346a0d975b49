"""What both importers show and write: a verdict for each job, its next times, and stanzas with `--write`."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from argus_cli.task_words import as_json, local_time
from argus_memory.errors import UsageError
from argus_memory.option_values import parse_zone
from argus_memory.rules.cron import next_occurrences, parse_schedule
from argus_memory.settings import Settings
from argus_memory.tasks.config import default_zone_of
from argus_memory.tasks.config_env import mask_env
from argus_memory.tasks.config_values import ENV_PREFIX
from argus_memory.tasks.imported_jobs import Imported, ImportedJob, stanza_of
from argus_memory.tasks.list_file import append_stanzas
from argus_memory.tasks.names import LIST_FILE

SHOWN = 5
STDIN = "-"


def add_common_arguments(parser: argparse.ArgumentParser, what: str) -> None:
    parser.add_argument("file", metavar="FILE", help=f"{what}; - reads standard input")
    parser.add_argument("--write", action="store_true", help=f"append the stanzas to {LIST_FILE}")
    parser.add_argument(
        "--mode", choices=("observe", "run"), default="observe",
        help="observe (the default): expected and reported, the old scheduler starts them; run: Argus does",
    )  # fmt: skip
    parser.add_argument("--timezone", metavar="ZONE", help="the zone the old scheduler runs in")


def read_source(name: str) -> str:
    """The file's text; raises UsageError with the reason where it cannot be read."""
    try:
        data = sys.stdin.buffer.read() if name == STDIN else Path(name).expanduser().read_bytes()
        return data.decode("utf-8")
    except OSError as error:
        raise UsageError(f"{name} cannot be read ({error.strerror})") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{name} is not UTF-8 (byte {error.start}); convert it first") from None


def zone_of(arguments: argparse.Namespace, settings: Settings) -> str:
    try:
        return parse_zone(arguments.timezone) if arguments.timezone else default_zone_of(settings)
    except ValueError as error:
        raise UsageError(f"--timezone: {error}; write one as in Europe/Vienna") from None


def finish(arguments: argparse.Namespace, settings: Settings, imported: Imported) -> int:
    """Show, and with --write append. Exit 1 where a job is not supported or doubtful."""
    now = datetime.now(UTC)
    usable = [job for job in imported.jobs if job.values]
    if arguments.write and usable:
        origin = "standard input" if arguments.file == STDIN else Path(arguments.file).name
        append_stanzas(
            settings.tasks_folder,
            {job.name: stanza_of(job, arguments.mode, origin) for job in usable},
            [job.name for job in usable if "folder" not in job.values],
        )
    if arguments.json:
        jobs = [_job_as_json(job, now) for job in imported.jobs]
        print(as_json({"jobs": jobs, "notes": imported.notes, "written": len(usable) if arguments.write else 0}))
    else:
        for job in imported.jobs:
            print(_job_as_text(job, now))
        for note in imported.notes:
            print(f"note: {note}")
        print(_last_line(arguments, settings, imported, len(usable)))
    well = imported.jobs and all(job.verdict == "runs as" for job in imported.jobs)
    return 0 if well else 1


def _last_line(arguments: argparse.Namespace, settings: Settings, imported: Imported, usable: int) -> str:
    counts = Counter(job.verdict for job in imported.jobs)
    counted = ", ".join(f"{counts[verdict]} {verdict}" for verdict in ("runs as", "ambiguous", "not supported"))
    file = settings.tasks_folder / LIST_FILE
    if not imported.jobs:
        return f"0 jobs: nothing in {arguments.file} is one; is it the right file, for this command?"
    if not arguments.write:
        return f"{len(imported.jobs)} jobs: {counted}; nothing is written, --write appends {usable} stanzas to {file}"
    words = f"{len(imported.jobs)} jobs: {counted}; {usable} stanzas appended to {file}, mode = {arguments.mode}"
    return f"{words}. Next: `argus task check`, `argus reload`."


def _next(job: ImportedJob, now: datetime) -> list[datetime]:
    if not job.values:
        return []
    return next_occurrences(parse_schedule(job.values["schedule"]), job.values["timezone"], now, SHOWN)


def _job_as_text(job: ImportedJob, now: datetime) -> str:
    lines = [f"{job.source}\n    line {job.line}, {job.verdict}{' task ' + job.name if job.values else ''}"]
    if job.values:
        lines += [f"    {key} = {value}" for key, value in _shown(job).items()]
        times = [local_time(at, job.values["timezone"]) for at in _next(job, now)]
        lines.append(f"    next: {', '.join(times)}")
    lines += [f"    - {reason}" for reason in job.reasons]
    return "\n".join(lines)


def _job_as_json(job: ImportedJob, now: datetime) -> dict[str, Any]:
    return {
        "name": job.name, "source": job.source, "line": job.line, "verdict": job.verdict, "reasons": job.reasons,
        "stanza": _shown(job), "next": _next(job, now),
    }  # fmt: skip


def _shown(job: ImportedJob) -> dict[str, str]:
    """The stanza's keys, with values of env masked: what is shown may be pasted somewhere."""
    env = {key: value for key, value in job.values.items() if key.startswith(ENV_PREFIX)}
    return {**job.values, **mask_env(env)}
