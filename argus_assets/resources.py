"""What every run and tick gets: the settings, and one Database for as long as it lasts."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import dagster as dg
from pydantic import PrivateAttr

from argus_memory.db import Database
from argus_memory.errors import Unreachable
from argus_memory.settings import Settings, load_settings
from argus_memory.stages.passes import RUN_ID_VARIABLE
from argus_memory.upkeep.process import BACKLOG_SECONDS

POOL_MAX = 4  # connections; the steps of a run follow each other


class MemoryResource(dg.ConfigurableResource["MemoryResource"]):
    """`stage_seconds`: how long one stage of a run works on a backlog before the next stage's turn."""

    stage_seconds: float = BACKLOG_SECONDS
    _settings: Settings = PrivateAttr()
    _db: Database = PrivateAttr()

    @property
    def settings(self) -> Settings:
        return self._settings

    @property
    def db(self) -> Database:
        return self._db

    @contextmanager
    def yield_for_execution(self, context: dg.InitResourceContext) -> Iterator[MemoryResource]:
        """Raises SettingError on a bad setting, Unreachable where no database is named.

        The pool connects at the first question, so a database that is down fails the step, the check or the tick
        that asks, with its reason, and nothing before it.
        """
        self._settings = load_settings()
        if self._settings.database_url is None:
            raise Unreachable("ARGUS_DATABASE_URL is not set: let `argus up` start Dagster, or set it")
        run_id = context.run.run_id if context.run else None
        with named_run(run_id), Database(self._settings.database_url, pool_max=POOL_MAX) as database:
            self._db = database
            yield self


@contextmanager
def named_run(run_id: str | None) -> Iterator[None]:
    """Let the audit rows of the stages name this run."""
    before = os.environ.get(RUN_ID_VARIABLE)
    if run_id is not None:
        os.environ[RUN_ID_VARIABLE] = run_id
    try:
        yield
    finally:
        if before is not None:
            os.environ[RUN_ID_VARIABLE] = before
        elif run_id is not None:
            os.environ.pop(RUN_ID_VARIABLE, None)
