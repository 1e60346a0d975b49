"""The watchdog's two threads in the API: passes every 15 s with looks for lost runs between, and the canary.

Both live as long as the application, survive whatever a pass raises, and use a pool of their own, so that captures
that take every connection do not blind who watches them. No Dagster is imported.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from argus_api.hub import utc_now
from argus_memory.db import Database
from argus_memory.errors import Unreachable
from argus_memory.settings import Settings
from argus_memory.tasks.runs_orphans import close_orphans
from argus_memory.watch.beats import WATCHDOG
from argus_memory.watch.canary import is_due, run_canary
from argus_memory.watch.watchdog import WatchState, watch_once

PASS_SECONDS = 15.0
LOOK_SECONDS = 2.0  # for lost runs, one small query: a failure has to be in the outbox within five
FIRST_PASS_SECONDS = 2.0  # the application answers first
FIRST_CANARY_SECONDS = 45.0  # by then the hub is up and the embedder loaded
STOP_SECONDS = 3.0  # a stop of the whole hub may take 15; a pass takes well under one

log = logging.getLogger(__name__)


class Watchdog:
    """`start()` and `stop()`; the seconds are the tests'."""

    def __init__(
        self,
        settings: Settings,
        dsn: str,
        *,
        pass_seconds: float = PASS_SECONDS,
        first_pass_seconds: float = FIRST_PASS_SECONDS,
        first_canary_seconds: float = FIRST_CANARY_SECONDS,
    ) -> None:
        self._settings = settings
        self._db = Database(dsn, pool_max=2)
        self._stop = threading.Event()
        self._state = WatchState()
        self._away = False
        self._pass_seconds = pass_seconds
        self._next_pass = 0.0
        look_seconds = min(LOOK_SECONDS, pass_seconds)
        plan = (
            ("watchdog", first_pass_seconds, look_seconds, self.look),
            ("canary", first_canary_seconds, pass_seconds, self.send_canary),
        )
        self._threads = [
            threading.Thread(target=self._loop, args=(first, pause, work), name=name, daemon=True)
            for name, first, pause, work in plan
        ]

    def start(self) -> None:
        self._db.open()
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Returns when both have ended, or after STOP_SECONDS."""
        self._stop.set()
        end = time.monotonic() + STOP_SECONDS
        for thread in self._threads:
            thread.join(max(0.0, end - time.monotonic()))
        self._db.close()

    def look(self) -> None:
        """A pass where it is time; between two of them only the runs whose worker is gone are closed and told."""
        if time.monotonic() < self._next_pass:
            close_orphans(self._db, self._settings, now=utc_now())
            return
        self._next_pass = time.monotonic() + self._pass_seconds
        watch_once(self._db, self._settings, now=utc_now(), state=self._state)

    def send_canary(self) -> None:
        if is_due(self._db, self._settings, utc_now()):
            result = run_canary(self._db, self._settings, by=WATCHDOG)
            if not result.ok:
                log.warning("the canary %s was lost at %s: %s", result.marker, result.step, result.detail)

    def _loop(self, first: float, pause: float, work: Callable[[], None]) -> None:
        """`work` again and again, `pause` seconds apart; what failed is tried again at the pace of the passes."""
        wait = first
        while not self._stop.wait(wait):
            wait = pause
            try:
                work()
            except Unreachable as error:
                wait = self._pass_seconds
                self._note_away(error)
            except Exception:  # a watchdog that ends watches nothing; the next pass tries again
                wait = self._pass_seconds
                if not self._stop.is_set():
                    log.exception("a pass of the watchdog failed")
            else:
                self._away = False

    def _note_away(self, error: Unreachable) -> None:
        """Said once, not every 15 s. Nothing can be told while the database is away: /healthz alone says so."""
        if not self._away and not self._stop.is_set():
            log.warning("the watchdog sees nothing: %s", error)
        self._away = True
