"""What an audit is: a question about one asset, its answer, and the rows that offend."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, LiteralString

from argus_memory.db import Database
from argus_memory.errors import Unreachable
from argus_memory.settings import Settings
from argus_memory.stages.passes import describe_error
from argus_memory.watch.gx_session import GxSession
from argus_memory.watch.pending import due_params, with_due_tails

Severity = Literal["warn", "error"]
Status = Literal["ok", "failed", "unknown"]

SHOWN = 50  # offending ids named; `total` counts all of them
DETAILS = 5  # different reasons quoted

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Finding:
    """An answer. `offending`: at most SHOWN ids; `total`: how many there are; `unknown`: nothing to judge by yet."""

    status: Status
    offending: tuple[str, ...] = ()
    total: int = 0
    detail: str = ""


@dataclass(slots=True)
class Asked:
    """What a question is asked of. One for all audits of a run, so that Great Expectations is imported once."""

    db: Database
    settings: Settings
    now: datetime
    away: str | None = None  # why the database cannot be reached, once that was seen
    _gx: GxSession | None = field(default=None, repr=False)

    @property
    def gx(self) -> GxSession:
        if self._gx is None:
            self._gx = GxSession(self.db.dsn)
        return self._gx

    def close(self) -> None:
        if self._gx is not None:
            self._gx.close()
            self._gx = None


@contextmanager
def asking(db: Database, settings: Settings, now: datetime) -> Iterator[Asked]:
    asked = Asked(db, settings, now)
    try:
        yield asked
    finally:
        asked.close()


@dataclass(frozen=True, slots=True)
class Audit:
    """A question about one asset (by its key), who answers it, and where a person looks on.

    look: a select that shows what it judges, for psql; it may be slower and wider than the question.
    """

    name: str
    asset: str
    question: str
    severity: Severity
    ask: Callable[[Asked], Finding]
    look: str

    @property
    def key(self) -> str:
        return f"{self.asset}/{self.name}"


def run_audit(audit: Audit, db: Database, settings: Settings, now: datetime) -> Finding:
    """One audit's answer by itself; an error while asking is a failed audit, not an exception."""
    with asking(db, settings, now) as asked:
        return answer(audit, asked)


def answer(audit: Audit, asked: Asked) -> Finding:
    """Once the database was away nothing more is asked: sixty questions would each wait for it."""
    if asked.away is not None:
        return Finding("failed", detail=f"could not be asked: {asked.away}")
    try:
        return audit.ask(asked)
    except Unreachable as error:
        log.warning("the audit %s could not be made: %s", audit.key, error)
        asked.away = str(error)
        return Finding("failed", detail=f"could not be asked: {error}")
    except Exception as error:  # whatever it is, the question stays unanswered and must show
        log.exception("the audit %s could not be made", audit.key)
        return Finding("failed", detail=f"could not be asked: {describe_error(error)}")


def find(query: LiteralString, **extra: Any) -> Callable[[Asked], Finding]:
    """An audit that fails when its query returns a row of `id`, `detail` and `total`."""

    def ask(asked: Asked) -> Finding:
        params = {**due_params(asked.settings, asked.now), "shown": SHOWN, **extra}
        rows = asked.db.fetch_all(with_due_tails(query), params)
        if not rows:
            return Finding("ok")
        details = sorted({str(row["detail"]) for row in rows if row["detail"]})
        return Finding("failed", tuple(row["id"] for row in rows), rows[0]["total"], "; ".join(details[:DETAILS]))

    return ask
