"""tasks/config.ini in Dagster: an asset and a schedule for each stanza, their checks, and Dagster's watchdog.

    loading.py    reads config.ini; whatever is wrong with it becomes a broken task, never an error
    stanza.py     TaskSpec → asset `task/<name>` and its schedule;  BrokenTask → an asset that says what is wrong
    job.py        `run_tasks`: the one job, each run of which is of one task
    body.py       one run: run_task in a Dagster Pipes session → metadata, checks, a red run where it failed
    schedules.py  cron → RunRequest; intervals.py: `@every` → one sensor on the clock
    checks.py     on_time, succeeding, config_valid, tools_loaded: asked by a person, told by the sensor
    sensors.py    `watch_tasks`: every half minute; `failed_runs`: the net under runs that could not report

Nothing of a task's own code is imported here: it runs in a process of its own, and only there.
"""
