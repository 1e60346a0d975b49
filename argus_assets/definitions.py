"""Everything Dagster shows: memory and tasks with their jobs, schedules, sensors and checks, audits, housekeeping.

Dagster loads this module by finding the one Definitions object in it, so the parts stay behind their modules' names.
"""

from __future__ import annotations

import dagster as dg

from argus_assets.defs.audits import definitions as audits
from argus_assets.defs.housekeeping import definitions as housekeeping
from argus_assets.defs.memory import definitions as memory
from argus_assets.defs.tasks import definitions as tasks
from argus_assets.resources import MemoryResource

defs = dg.Definitions.merge(
    memory.memory,
    audits.audits,
    housekeeping.housekeeping,
    tasks.tasks,
    # One process a run: a process of its own for each step would take longer to start than the step takes.
    dg.Definitions(resources={"memory": MemoryResource()}, executor=dg.in_process_executor),
)
