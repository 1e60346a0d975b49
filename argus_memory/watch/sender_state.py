"""What the sender knows of the services it sends to, kept in its beat's detail; and whether it works."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final, Literal

from psycopg.types.json import Jsonb

from argus_memory.db import Database, queries
from argus_memory.rules.send_answers import Answer
from argus_memory.rules.send_pace import SERVICE_BACKOFF_MAX, backoff
from argus_memory.settings import Settings
from argus_memory.watch.channels import describe_lack, find_channels

SILENT_AFTER: Final = timedelta(seconds=120)  # the sender beats every 15 s
CLOCK_STEP: Final = timedelta(minutes=1)  # by which two machines' clocks may differ
LATE_AFTER: Final = timedelta(minutes=5)  # a message that waits so long is one to worry about
GAVE_UP_SHOWN: Final = timedelta(days=1)
ServiceStatus = Literal["ok", "away", "refused", "slow"]


@dataclass(frozen=True, slots=True)
class ServiceState:
    """`failures` in a row; `since`: when they began; nothing is sent before `paused_until`, set at `noted_at`.

    away: it does not answer; refused: it does not know the token or address; slow: it asked for a pause.
    """

    status: ServiceStatus = "ok"
    failures: int = 0
    since: datetime | None = None
    paused_until: datetime | None = None
    error: str | None = None
    noted_at: datetime | None = None

    def is_paused(self, now: datetime) -> bool:
        """A pause that was noted in the future is none: the clock was ahead then, and was set back."""
        if self.noted_at is not None and self.noted_at > now + CLOCK_STEP:
            return False
        return self.paused_until is not None and now < self.paused_until

    def after_failure(self, answer: Answer, *, now: datetime, chance: float) -> ServiceState:
        """One more failure, and a pause for it. Asked to slow down, it is no failure, and the pause is as told."""
        if answer.kind == "slow-down":
            pause = now + timedelta(seconds=max(1.0, answer.wait or 1.0))
            return ServiceState("slow", self.failures, self.since or now, pause, answer.error, now)
        failures = self.failures + 1
        pause = now + backoff(failures, cap=SERVICE_BACKOFF_MAX, chance=chance)
        status: ServiceStatus = "refused" if answer.kind == "key" else "away"
        return ServiceState(status, failures, self.since if self.failures else now, pause, answer.error, now)


@dataclass(slots=True)
class SenderState:
    """`unconfigured_since`: from when on messages waited because nothing was configured to send them."""

    services: dict[str, ServiceState] = field(default_factory=dict)
    unconfigured_since: datetime | None = None

    def of(self, service: str) -> ServiceState:
        return self.services.get(service, ServiceState())

    def as_json(self) -> dict[str, Any]:
        shown: dict[str, Any] = {
            "services": {
                name: {
                    "status": one.status,
                    "failures": one.failures,
                    "since": one.since.isoformat() if one.since else None,
                    "paused_until": one.paused_until.isoformat() if one.paused_until else None,
                    "error": one.error,
                    "noted_at": one.noted_at.isoformat() if one.noted_at else None,
                }
                for name, one in sorted(self.services.items())
            }
        }
        if self.unconfigured_since:
            shown["unconfigured_since"] = self.unconfigured_since.isoformat()
        return shown


def read_state(detail: Mapping[str, Any]) -> SenderState:
    """What `as_json` wrote; a beat without it is a sender that knows of nothing wrong."""
    services = {
        name: ServiceState(
            one["status"],
            one["failures"],
            _time(one["since"]),
            _time(one["paused_until"]),
            one["error"],
            _time(one.get("noted_at")),
        )
        for name, one in detail.get("services", {}).items()
    }
    return SenderState(services, _time(detail.get("unconfigured_since")))


def load_state(db: Database) -> SenderState:
    row = db.fetch_one(queries("deliveries").load_state)
    return read_state(row["detail"]) if row else SenderState()


def save_state(db: Database, state: SenderState, *, now: datetime) -> None:
    params = {"now": now, "host": socket.gethostname(), "pid": os.getpid(), "detail": Jsonb(state.as_json())}
    with db.transaction() as conn:
        conn.execute(queries("deliveries").save_state, params)


@dataclass(frozen=True, slots=True)
class SenderFacts:
    """What the outbox says. `failing`: tried in vain and still waiting, `error` the oldest one's."""

    waiting: int
    oldest: datetime | None
    failing: int
    error: str | None
    gave_up: int
    beat_at: datetime | None
    state: SenderState
    lack: str | None


@dataclass(frozen=True, slots=True)
class SenderVerdict:
    """As a health check has it; `idle`: unknown, because there is nothing to judge by."""

    status: Literal["ok", "warn", "failed", "unknown"]
    detail: str
    since: datetime | None = None
    idle: bool = False


def find_sender_state(db: Database, settings: Settings, *, now: datetime) -> SenderVerdict:
    """Do messages go out? For health, pages and the digest; no word of a message is in it."""
    facts = db.fetch_one(queries("deliveries").sender_facts, {"since": now - GAVE_UP_SHOWN})
    row = db.fetch_one(queries("deliveries").load_state)
    assert facts is not None
    lack = describe_lack(settings) if find_channels(settings).is_empty else None
    state = read_state(row["detail"]) if row else SenderState()
    configured = find_channels(settings).services()
    state = replace(state, services={n: s for n, s in state.services.items() if n in configured})
    return judge_sender(SenderFacts(**facts, beat_at=row["at"] if row else None, state=state, lack=lack), now)


def judge_sender(facts: SenderFacts, now: datetime) -> SenderVerdict:
    """Nothing configured is unknown, never ok; a refused token and a sender that is gone are failures at once."""
    waits = f"{facts.waiting:,} waiting" if facts.waiting else "nothing waits"
    if facts.lack:
        kept = f"{facts.waiting:,} messages are kept" if facts.waiting else "no message waits"
        return SenderVerdict("unknown", f"{kept}, {facts.lack}", facts.oldest, idle=True)
    for name, one in sorted(facts.state.services.items()):
        if one.status == "refused":
            cure = f"set {'ARGUS_TELEGRAM_TOKEN' if name == 'telegram' else f'ARGUS_{name.upper()}_URL'} right"
            detail = f"{name} refuses ({_brief(one.error)}), {waits}: {cure}, everything is kept"
            return SenderVerdict("failed", detail, one.since)
    silent = facts.beat_at is None or now - facts.beat_at > SILENT_AFTER
    if silent and facts.waiting:
        return SenderVerdict("failed", f"{waits}, and the sender in the API does not run", facts.beat_at)
    for name, one in sorted(facts.state.services.items()):
        if one.status == "away" and one.since is not None:
            status: Literal["warn", "failed"] = "failed" if now - one.since > LATE_AFTER else "warn"
            return SenderVerdict(status, f"{name} does not answer ({_brief(one.error)}), {waits}", one.since)
    if facts.failing and facts.oldest is not None and now - facts.oldest > LATE_AFTER:
        told = f"{facts.failing:,} tried in vain ({_brief(facts.error)}): `argus deliveries` tells more"
        return SenderVerdict("failed", f"{waits}, {told}", facts.oldest)
    if facts.gave_up:
        return SenderVerdict("warn", f"{waits}, {facts.gave_up:,} given up since yesterday: `argus deliveries list`")
    if facts.waiting and facts.oldest is not None and now - facts.oldest > LATE_AFTER:
        return SenderVerdict("warn", f"{waits}, the oldest for more than 5 min", facts.oldest)
    if facts.beat_at is None:
        return SenderVerdict("unknown", f"{waits}, the sender has not reported yet", idle=True)
    return SenderVerdict("ok", waits, facts.beat_at)


def _brief(error: str | None) -> str:
    """An error's status or class alone: health asks for no token, and what a server says may quote a message."""
    return error.split(" ", 1)[0].rstrip(":") if error else "no reason is on record"


def _time(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


