"""Everything Dagster shows: the assets of memory, their jobs, the sensor, the audits and the housekeeping."""

from __future__ import annotations

import dagster as dg

from argus_assets.defs.audits.definitions import audits
from argus_assets.defs.housekeeping.definitions import housekeeping
from argus_assets.defs.memory.definitions import memory
from argus_assets.resources import MemoryResource

defs = dg.Definitions.merge(
    memory,
    audits,
    housekeeping,
    # One process a run: a process of its own for each step would take longer to start than the step takes.
    dg.Definitions(resources={"memory": MemoryResource()}, executor=dg.in_process_executor),
)
