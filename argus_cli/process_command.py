"""`argus process`: work off what waits, by a Dagster run of the hub, or here without one; exit 1: some is left."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from argus_cli.hub import hub_runs, open_database
from argus_memory.errors import Unreachable
from argus_memory.settings import Settings, load_settings

if TYPE_CHECKING:
    from argus_memory.db import Database
    from argus_memory.records import ProcessReport
    from argus_memory.upkeep.process import StageWork
    from argus_memory.upkeep.process_all import Processed

JOB = "process_memory"
TAGS = {"argus/why": "argus process"}
SETTLE_SECONDS = 1.0  # until a run that another one waited for is looked at again


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--until-idle", action="store_true", help="go on until nothing is due any more")


def run(arguments: argparse.Namespace) -> int:
    settings = load_settings()
    with open_database(settings) as database:
        processed = _process(database, settings, until_idle=arguments.until_idle)
    if arguments.json:
        print(json.dumps(asdict(processed.report)))
    else:
        print(as_text(processed.report))
    for stage, error in processed.errors.items():
        print(f"argus: {stage}: {error}", file=sys.stderr)
    return 1 if processed.errors or processed.report.parked or processed.report.transient_failures else 0


def _process(database: Database, settings: Settings, *, until_idle: bool) -> Processed:
    """By Dagster where a hub runs (of this home, or whose database this is), else in this process."""
    from argus_memory.watch.dagster_launch import find_job

    if hub_runs(settings):
        return by_dagster(database, settings, until_idle=until_idle)
    away = "none is up on this home"
    if settings.database_url:
        try:
            find_job(settings, JOB)
        except Unreachable as error:
            away = str(error)
        else:
            return by_dagster(database, settings, until_idle=until_idle)
    _say(f"no running hub, working here ({away})")
    from argus_memory.upkeep.process_all import process_all

    return process_all(database, settings, now=lambda: datetime.now(UTC), until_idle=until_idle, progress=_tell_work)


def by_dagster(database: Database, settings: Settings, *, until_idle: bool) -> Processed:
    """Launch the job and wait; `until_idle` again until a run changed nothing and no other is at work.

    Raises Unreachable when Dagster does not answer, and when a run failed without a pass that says why.
    """
    from argus_memory.upkeep.process_all import report_of_runs
    from argus_memory.watch.dagster_launch import launch_job, run_url, runs_at_work, wait_run

    runs: list[str] = []
    while True:
        run_id = launch_job(settings, JOB, tags=TAGS)
        runs.append(run_id)
        _say(f"run {run_url(settings, run_id)}")
        status = wait_run(settings, run_id)
        done = report_of_runs(database, [run_id])
        if status != "SUCCESS" and not done.errors:
            raise Unreachable(f"run {run_id} ended as {status.lower()}: {run_url(settings, run_id)}")
        if not until_idle or status == "CANCELED":
            break
        if not done.changed:
            if not (others := runs_at_work(settings, JOB)):
                break
            _wait_for(settings, others)
    return report_of_runs(database, runs)


def _wait_for(settings: Settings, runs: Sequence[str]) -> None:
    """The sensor's own runs may hold what is left."""
    from argus_memory.watch.dagster_launch import wait_run

    for run_id in runs:
        wait_run(settings, run_id)
    time.sleep(SETTLE_SECONDS)


def as_text(report: ProcessReport) -> str:
    """One line a count, stages with their seconds."""
    rows = {name: value for name, value in asdict(report).items() if name not in ("dedup", "seconds")}
    rows |= {f"dedup {verdict}": count for verdict, count in sorted(report.dedup.items())}
    lines = [f"{name.replace('_', ' '):<20}{value:>9,}" for name, value in rows.items()]
    lines.append("seconds             " + ", ".join(f"{stage} {took:.1f}" for stage, took in report.seconds.items()))
    return "\n".join(lines)


def _tell_work(work: StageWork) -> None:
    if sys.stderr.isatty():
        _say(f"{work.stage}: {work.seconds:.1f} s")


def _say(text: str) -> None:
    print(f"argus: {text}", file=sys.stderr)
