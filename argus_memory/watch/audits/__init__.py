"""Is the memory in order? One question, one answer, and the offending rows, asked by Dagster's checks and by pages.

    pipeline.py   do turns arrive, is what is distilled grounded, does anything wait for too long
    whole.py      do all ids lead somewhere, are notes and vectors consistent, has every recall its row
    rates.py      rejection, poison and dedup verdicts beside their own history
    watching.py   are due runs decided, runs reported, messages sent
    tables.py     has every table its columns, and every column values that make sense
    questions.py  what an audit is; run.py asks all, keeps the answers and raises alerts

A question that cannot be asked is a failed audit, with the error in its detail: silence is never taken for health.
"""

from argus_memory.watch.audits.catalog import AUDITS
from argus_memory.watch.audits.pipeline import LATE_AFTER, SILENT_AFTER, STAGE_IDLE_AFTER, STAGES
from argus_memory.watch.audits.questions import Audit, Finding, Severity, run_audit
from argus_memory.watch.audits.run import Answer, run_audits

__all__ = [
    "AUDITS",
    "LATE_AFTER",
    "SILENT_AFTER",
    "STAGES",
    "STAGE_IDLE_AFTER",
    "Answer",
    "Audit",
    "Finding",
    "Severity",
    "run_audit",
    "run_audits",
]
