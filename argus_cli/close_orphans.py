"""Runs that a power loss or a killed container left STARTED or STARTING are reported failed.

Without it such a run holds its slot for ever: the launcher has no health check for its worker, and run monitoring
does not see it. Right only before the process that hosts the runs starts: `python -m argus_cli.close_orphans
COMMAND…` closes them and then becomes COMMAND (the `code` container starts like this).
"""

from __future__ import annotations

import os
import sys

ORPHANED = "orphaned by a restart of Argus"


def close_orphans() -> int:
    """Report them failed (retries, where enabled, follow from it); returns how many. Needs DAGSTER_HOME."""
    from dagster import DagsterInstance, DagsterRunStatus, RunsFilter

    alive = [DagsterRunStatus.STARTED, DagsterRunStatus.STARTING, DagsterRunStatus.CANCELING]
    with DagsterInstance.get() as instance:
        runs = instance.get_runs(RunsFilter(statuses=alive))
        for run in runs:
            instance.report_run_failed(run, ORPHANED)
    return len(runs)


def told(closed: int) -> str:
    return f"{closed} orphaned run{'' if closed == 1 else 's'} reported failed"


def main() -> None:
    print(f"dagster    {told(close_orphans())}", flush=True)
    command = sys.argv[1:]
    if command:
        os.execvp(command[0], command)  # noqa: S606  # the words of compose.yaml


if __name__ == "__main__":
    main()
