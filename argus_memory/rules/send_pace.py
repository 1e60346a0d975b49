"""When the next message may go out: the limits of a chat, and the waits after a failure. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

# Telegram: one message a second in a chat, 20 a minute in a group (a channel counts as one).
CHAT_PACE: Final = timedelta(seconds=1)
GROUP_WINDOW: Final = timedelta(minutes=1)
GROUP_MAX: Final = 20

BACKOFF_FIRST: Final = timedelta(seconds=2)
ROW_BACKOFF_MAX: Final = timedelta(minutes=10)  # a message that fails again and again
SERVICE_BACKOFF_MAX: Final = timedelta(minutes=1)  # a service that is away: found within a minute when it is back


def is_group(chat: str) -> bool:
    """Whether a chat id stands for a group or channel: a person's is a positive number."""
    return chat.startswith(("-", "@"))


def next_slot(sent: Sequence[datetime], *, group: bool, now: datetime) -> datetime:
    """The first moment from `now` on at which a chat takes another message; `sent`: what it got, in any order."""
    slot = now
    if not sent:
        return slot
    latest = sorted(sent, reverse=True)
    slot = max(slot, latest[0] + CHAT_PACE)
    if group and len(latest) >= GROUP_MAX:
        slot = max(slot, latest[GROUP_MAX - 1] + GROUP_WINDOW)
    return slot


def backoff(failures: int, *, cap: timedelta, chance: float) -> timedelta:
    """The wait after that many failures in a row (1, 2, …): doubles to `cap`; `chance` (0 to 1) takes up to half off.

    Without that part of chance, everybody whom one outage has stopped would come back at the same moment.
    """
    doublings = min(max(failures, 1) - 1, 30)
    full = min(cap, BACKOFF_FIRST * (1 << doublings))
    return full * (1 - chance / 2)
