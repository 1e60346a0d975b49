"""The memory's part of the definitions."""

from __future__ import annotations

import dagster as dg

from argus_assets.defs.memory import assets
from argus_assets.defs.memory.jobs import process_memory
from argus_assets.defs.memory.reconcile import reconcile_memory, reconcile_nightly
from argus_assets.defs.memory.sensors import pending_memory

memory = dg.Definitions(
    assets=[
        assets.raw_items,
        assets.turn_embeddings,
        assets.episodes,
        assets.distilled_notes,
        assets.note_embeddings,
        assets.dedup_log,
        assets.task_items,
        assets.projects,
        assets.injections,
        assets.injection_uses,
        assets.note_files,
        assets.memory_health,
    ],
    jobs=[process_memory, reconcile_memory],
    schedules=[reconcile_nightly],
    sensors=[pending_memory],
)
