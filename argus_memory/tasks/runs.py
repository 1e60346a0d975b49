"""The reports of runs, whoever makes them: the runner, another scheduler over POST /runs, or what was left behind."""

from argus_memory.tasks.runs_orphans import close_orphans
from argus_memory.tasks.runs_reports import accept_report
from argus_memory.tasks.runs_tell import Policy
from argus_memory.tasks.runs_write import RunBegun, RunEnd, RunFinished, beat_run, begin_run, finish_run

__all__ = [
    "Policy", "RunBegun", "RunEnd", "RunFinished", "accept_report", "beat_run", "begin_run", "close_orphans",
    "finish_run",
]  # fmt: skip
