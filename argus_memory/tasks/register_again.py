"""One load of config.ini, registered again and again by the process that holds it: cheap while nothing changed."""

from __future__ import annotations

from datetime import datetime

from argus_memory.db import Database, queries
from argus_memory.records import TaskList
from argus_memory.settings import Settings
from argus_memory.tasks.registry import Registered, register_tasks


class TaskRegister:
    """Remembers what the database held when it was last compared with this load.

    To compare 200 stanzas key by key takes 30 ms; whether the rows are still the same is one number to ask for.
    """

    def __init__(self, task_list: TaskList) -> None:
        self.task_list = task_list
        self._compared: str | None = None

    def confirm(self, db: Database, settings: Settings, *, now: datetime, by: str) -> Registered:
        """register_tasks, where the rows are not those that it found in order before."""
        row = db.fetch_one(queries("tasks").registered_digest)
        held = str(row["digest"]) if row else None
        if held is not None and held == self._compared:
            return Registered(
                broken=tuple(task.name for task in self.task_list.broken), tasks=len(self.task_list.tasks)
            )
        registered = self.compare(db, settings, now=now, by=by)
        # Of before the comparison: what it or anybody wrote since gives another one, and is compared the next time.
        self._compared = held
        return registered

    def compare(self, db: Database, settings: Settings, *, now: datetime, by: str) -> Registered:
        return register_tasks(db, settings, self.task_list, now=now, by=by)
