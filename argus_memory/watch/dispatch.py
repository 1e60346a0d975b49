"""One claimed message on its way: part by part, with what is done about each answer.

    sent                    the next part; after the last one the message is sent
    markup                  the same part as plain text, and so the rest
    no-topic, no-chat       to the main chat, with a line that says so; main itself has it kept for later
    moved                   to the group's new id, with a line that says so
    slow-down, key          the whole service pauses; everything waits
    away, unknown           message and service pause; a part whose answer was lost is marked when it goes again
    refused                 again a few times, then given up

Nothing waits here for longer than PAUSE_MAX: a message that may not go out yet is put back.
"""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, Protocol

from argus_memory.db import Database, queries
from argus_memory.rules.send_answers import Answer
from argus_memory.rules.send_pace import GROUP_WINDOW, ROW_BACKOFF_MAX, backoff, is_group, next_slot
from argus_memory.settings import Settings
from argus_memory.watch import outbox
from argus_memory.watch.channels import Channels, Route, Service, Target, telegram_target
from argus_memory.watch.message_text import SENT_AGAIN, Message, Part, hide_secrets, late_note, message_of
from argus_memory.watch.sender_state import SenderState, ServiceState

PAUSE_MAX: Final = timedelta(seconds=1.1)  # a chat's second is waited for, a group's minute is not
REFUSALS_MAX: Final = 5
# A service whose answers get lost may well deliver: it is asked less and less often.
LOST_BACKOFF_MAX: Final = timedelta(hours=1)
LOST_FACTOR: Final = 8
# After so many failures in a row it was an outage, and what waits out its own pause is called at once.
OUTAGE_FAILURES: Final = 3

log = logging.getLogger(__name__)


class Door(Protocol):
    def parts(self, message: Message) -> list[Part]: ...
    def probe(self) -> Answer: ...
    def send(self, message: Message, part: Part, target: Target, *, plain: bool, notes: Sequence[str]) -> Answer: ...
    def close(self) -> None: ...


class Clock:
    """The pass's `now`, moving on."""

    def __init__(self, now: datetime) -> None:
        self._now = now
        self._began = time.monotonic()

    def __call__(self) -> datetime:
        return self._now + timedelta(seconds=time.monotonic() - self._began)


@dataclass(slots=True)
class Counts:
    sent: int = 0
    parts: int = 0
    retried: int = 0
    gave_up: int = 0


@dataclass(slots=True)
class Journey:
    """What changes while a message is under way."""

    target: Target
    notes: list[str]
    plain: bool = False
    seconds: float = 0.0


@dataclass(slots=True)
class Dispatcher:
    """What a pass has in hand. `busy`: Telegram chats that take nothing more for now."""

    db: Database
    settings: Settings
    channels: Channels
    state: SenderState
    doors: dict[Service, Door]
    holder: str
    clock: Clock
    stop: threading.Event
    counts: Counts = field(default_factory=Counts)
    busy: set[str] = field(default_factory=set)
    chance: random.Random = field(default_factory=random.Random)

    def dispatch(self, row: dict[str, Any], route: Route) -> None:
        """Send what is left of a claimed row; afterwards it is sent, given up, or pending with a time to go again."""
        message = message_of(row, self.settings)
        journey = Journey(route.target, [route.note] if route.note else [])
        service = route.target.service
        if not self._answers_again(service):
            self._put_back(row, self.state.of(service).paused_until, error=self.state.of(service).error)
            return
        parts = self.doors[service].parts(message)
        elsewhere = row["target"] is not None and not row["target"].startswith(f"{service}:")
        begun = 0 if elsewhere else min(row["parts_sent"], len(parts))
        for part in parts[begun:]:
            if not self._send_part(row, message, part, journey):
                return
            self.counts.parts += 1
        if outbox.finish(self.db, row["id"], self.holder, at=self.clock(), note=" ".join(journey.notes) or None):
            self.counts.sent += 1

    def _answers_again(self, service: Service) -> bool:
        """After a failure the service is asked something harmless first: a message is not the way to find out."""
        known = self.state.of(service)
        if not known.failures:
            return True
        answer = self.doors[service].probe()
        if answer.kind == "sent":
            return True
        self._note_failure(service, answer)
        return False

    def _send_part(self, row: dict[str, Any], message: Message, part: Part, journey: Journey) -> bool:
        """Until it has arrived (True), or the message is put back or given up (False)."""
        again = [SENT_AGAIN] if outbox.was_lost(self.db, row["id"], part.number) else []
        while True:
            target = journey.target
            if not self._wait_for_slot(target):
                self._put_back(row, self.clock())
                return False
            if not outbox.renew(self.db, row["id"], self.holder, target.address, now=self.clock()):
                return False
            late = late_note(message, self.clock(), self.settings) if part.number == 1 else None
            notes = [*again, *journey.notes, *([late] if late else [])]
            began = time.monotonic()
            answer = self._ask_door(message, part, journey, notes)
            journey.seconds = time.monotonic() - began
            if answer.kind == "sent":
                return self._arrived(row, part, journey, answer)
            if not self._change_course(row, part, journey, answer):
                self._failed(row, part, journey, answer)
                return False

    def _ask_door(self, message: Message, part: Part, journey: Journey, notes: Sequence[str]) -> Answer:
        """The door's answer. An error that no door knows counts against the message, which then blocks no other."""
        try:
            return self.doors[journey.target.service].send(
                message, part, journey.target, plain=journey.plain, notes=notes
            )
        except Exception as error:  # noqa: BLE001  # logged without its traceback, which may hold an address
            text = hide_secrets(f"{type(error).__name__}: {error}", self.settings)
            log.error("message %s could not be sent: %s", message.id, text)
            return Answer("refused", error=text)

    def _arrived(self, row: dict[str, Any], part: Part, journey: Journey, answer: Answer) -> bool:
        target = journey.target
        known = self.state.of(target.service)
        self.state.services[target.service] = ServiceState()
        if known.failures >= OUTAGE_FAILURES:
            with self.db.transaction() as conn:
                conn.execute(queries("deliveries").hurry_waiting, {"now": self.clock()})
        where = {"part": part.number, "chat": target.chat, "id": answer.message_id} if answer.message_id else None
        return outbox.record_part(
            self.db, row["id"], self.holder, part.number, part.total, target.address, where, answer,
            at=self.clock(), seconds=journey.seconds,
        )  # fmt: skip

    def _change_course(self, row: dict[str, Any], part: Part, journey: Journey, answer: Answer) -> bool:
        """Whether the same part can be tried at once in another way; that way is then set."""
        outcome: outbox.Outcome
        if answer.kind == "markup" and not journey.plain:
            journey.plain = True
            outcome = "plain-text"
        elif answer.kind in ("no-topic", "no-chat"):
            target = self.channels.find_fallback(journey.target)
            if target is None or target.service != journey.target.service:
                return False
            what = "topic is gone or closed" if answer.kind == "no-topic" else f"chat takes nothing ({answer.error})"
            journey.notes.append(f"The {what} for channel “{row['channel']}”: sent here instead.")
            journey.target = target
            outcome = "main-chat"
        elif answer.kind == "moved" and answer.moved_to and answer.moved_to != journey.target.chat:
            old, thread = journey.target.chat, journey.target.thread
            journey.target = telegram_target(answer.moved_to, thread)
            journey.notes.append(f"The group {old} is now {answer.moved_to}: change ARGUS_TELEGRAM_CHATS.")
            outcome = "main-chat"
        else:
            return False
        with self.db.transaction() as conn:
            outbox.note_attempt(
                conn, row["id"], part.number, outcome, answer, at=self.clock(), seconds=journey.seconds
            )
        return True

    def _failed(self, row: dict[str, Any], part: Part, journey: Journey, answer: Answer) -> None:
        now, service = self.clock(), journey.target.service
        tries = row["attempts"] + 1
        outcome: outbox.Outcome = "retry"
        if answer.kind in ("slow-down", "key", "away", "unknown"):
            self._note_failure(service, answer)
        if answer.kind in ("slow-down", "key"):
            pause = self.state.of(service).paused_until or now
        elif answer.kind == "unknown":
            outcome = "unknown"
            full = backoff(tries, cap=LOST_BACKOFF_MAX / LOST_FACTOR, chance=self.chance.random())
            pause = now + full * LOST_FACTOR
        else:
            outcome = "retry" if answer.kind == "away" else "refused"
            pause = now + backoff(tries, cap=ROW_BACKOFF_MAX, chance=self.chance.random())
        # A chat that takes nothing can be set right by a person; words that are refused stay refused.
        give_up = answer.kind in ("refused", "markup") and tries >= REFUSALS_MAX
        self.counts.gave_up += give_up
        self.counts.retried += not give_up
        outbox.release(
            self.db, row["id"], self.holder, next_try_at=pause, tried=answer.kind not in ("slow-down", "key"),
            error=answer.error, give_up=give_up, attempt=(part.number, outcome, answer, now, journey.seconds),
        )  # fmt: skip

    def _put_back(self, row: dict[str, Any], next_try_at: datetime | None, *, error: str | None = None) -> None:
        now = self.clock()
        outbox.release(self.db, row["id"], self.holder, next_try_at=next_try_at or now, tried=False, error=error)

    def _note_failure(self, service: Service, answer: Answer) -> None:
        known = self.state.of(service)
        self.state.services[service] = known.after_failure(answer, now=self.clock(), chance=self.chance.random())

    def _wait_for_slot(self, target: Target) -> bool:
        """Keep to a chat's pace; False where that takes too long: the chat is busy for the rest of the pass."""
        if target.service != "telegram":
            return True
        now = self.clock()
        sent = outbox.sent_to_chat(self.db, target.chat, since=now - GROUP_WINDOW)
        wait = next_slot(sent, group=is_group(target.chat), now=now) - now
        if wait > PAUSE_MAX:
            self.busy.add(target.chat)
            return False
        if wait > timedelta() and self.stop.wait(wait.total_seconds()):
            self.busy.add(target.chat)
            return False
        return True


def open_channels(channels: Channels, state: SenderState, busy: set[str], now: datetime) -> outbox.Open:
    """Which channels a claim may look at: their service is not paused and their chat not busy."""

    def is_open(target: Target) -> bool:
        return not state.of(target.service).is_paused(now) and not (target.chat and target.chat in busy)

    names = [name for name, target in channels.by_name.items() if is_open(target)]
    return outbox.Open(names, list(channels.by_name), channels.main is not None and is_open(channels.main))


