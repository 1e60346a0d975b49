"""The thread of the API that sends what is in the outbox."""

from __future__ import annotations

import logging
import threading
import time

from argus_api.hub import utc_now
from argus_memory.db import Database
from argus_memory.errors import Unreachable
from argus_memory.settings import Settings
from argus_memory.watch.beats import SENDER, beat
from argus_memory.watch.sender import send_pending
from argus_memory.watch.sender_state import load_state

PACE_SECONDS = 2.0  # one query where nothing waits; a failure has to be on a person's telephone within ten
BEAT_SECONDS = 15.0
STOP_SECONDS = 3.0  # a request that hangs holds up no stop: its lease runs out and another sender takes over

log = logging.getLogger(__name__)


class SenderThread:
    """`start` and `stop` belong to the application's lifespan."""

    def __init__(self, db: Database, settings: Settings) -> None:
        self._db = db
        self._settings = settings
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sender", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join(STOP_SECONDS)

    def _run(self) -> None:
        last_beat = 0.0
        while not self._stop.is_set():
            began = time.monotonic()
            try:
                send_pending(self._db, self._settings, now=utc_now(), by="api", stop=self._stop)
                if not last_beat or began - last_beat >= BEAT_SECONDS:
                    self._beat((time.monotonic() - began) * 1000)
                    last_beat = began
            except Unreachable as error:
                log.warning("the sender waits for the database: %s", error)
            except Exception as error:  # noqa: BLE001  # the thread has to live; a traceback may hold an address
                # Without a beat the health check `outbox` says that the sender does not run.
                log.error("a pass of the sender failed (%s)", type(error).__name__)
            self._stop.wait(PACE_SECONDS)

    def _beat(self, pass_ms: float) -> None:
        beat(self._db, SENDER, now=utc_now(), pass_ms=pass_ms, detail=load_state(self._db).as_json())
