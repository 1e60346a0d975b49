"""The audits' part of the definitions: every check of memory, in a job without partitions.

Checks in a run of a day range would leave one row PLANNED a day for ever, so they stand apart from backfills.
"""

from __future__ import annotations

import dagster as dg

from argus_assets.defs.audits.assets import audit_results, deliveries, task_runs
from argus_assets.defs.audits.checks import audits as checks

audit_memory = dg.define_asset_job(
    "audit_memory",
    selection=dg.AssetSelection.checks(checks),  # tasks have checks of their own, told by their sensor
    description="Asks whether memory is well: all data-quality checks.",
)
hourly = dg.ScheduleDefinition(
    name="audit_memory_hourly",
    job=audit_memory,
    cron_schedule="7 * * * *",
    execution_timezone="UTC",
    default_status=dg.DefaultScheduleStatus.RUNNING,
)
audits = dg.Definitions(
    assets=[task_runs, deliveries, audit_results], asset_checks=[checks], jobs=[audit_memory], schedules=[hourly]
)
