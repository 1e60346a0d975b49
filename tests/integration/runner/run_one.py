"""A runner in a process of its own, so that a test can kill it: `run_one.py DSN HOME FOLDER COMMAND`."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

from argus_memory.db import Database
from argus_memory.records import TaskSpec
from argus_memory.settings import load_settings
from argus_memory.tasks.runner import run_task

dsn, home, folder, command = sys.argv[1:]
signal.signal(signal.SIGTERM, lambda *_: sys.exit("told to end"))
spec = TaskSpec("watering", "code", Path(folder), Path(folder) / "config.ini", 1, command=command)
settings = load_settings({"ARGUS_HOME": home, "ARGUS_DATABASE_URL": dsn})
with Database(dsn) as db:
    run_task(db, settings, spec, started_by="schedule")
