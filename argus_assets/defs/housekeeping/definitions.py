"""The housekeeping's part of the definitions."""

from __future__ import annotations

import dagster as dg

from argus_assets.defs.housekeeping.jobs import housekeeping_job

daily = dg.ScheduleDefinition(
    name="housekeeping_daily",
    job=housekeeping_job,
    cron_schedule="40 3 * * *",
    execution_timezone="UTC",
    default_status=dg.DefaultScheduleStatus.RUNNING,
)
housekeeping = dg.Definitions(jobs=[housekeeping_job], schedules=[daily])
