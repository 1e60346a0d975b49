"""All audits, in the order they are asked."""

from __future__ import annotations

from argus_memory.watch.audits.pipeline import pipeline_audits
from argus_memory.watch.audits.questions import Audit
from argus_memory.watch.audits.rates import rate_audits
from argus_memory.watch.audits.tables import table_audits
from argus_memory.watch.audits.watching import watching_audits
from argus_memory.watch.audits.whole import whole_audits

AUDITS: tuple[Audit, ...] = (
    *pipeline_audits(),
    *whole_audits(),
    *rate_audits(),
    *watching_audits(),
    *table_audits(),
)
