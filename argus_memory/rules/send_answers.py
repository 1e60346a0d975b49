"""What an answer of a service that carries messages means for the message. Pure.

    sent        it has arrived
    markup      Telegram cannot read the markup: the same again as plain text
    no-topic    the topic is gone or closed: to the main chat
    no-chat     the chat is unknown or lets nothing in: to the main chat
    moved       the group has another id now
    slow-down   nothing may be sent for a while
    key         the token or address is wrong: a person has to set it right, everything is kept
    away        it did not arrive, and the message is not to blame: again later
    unknown     it was sent, and the answer was lost: it may have arrived
    refused     it did not arrive, and will not as it is
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

AnswerKind = Literal[
    "sent", "markup", "no-topic", "no-chat", "moved", "slow-down", "key", "away", "unknown", "refused"
]

# Descriptions of Telegram's 400, in lower case.
_MARKUP: Final = ("can't parse entities", "can't parse caption", "unsupported start tag", "entity_")
_NO_TOPIC: Final = ("message thread not found", "topic_deleted", "topic_closed", "topic_id_invalid")
_NO_CHAT: Final = (
    "chat not found", "chat_id is empty", "peer_id_invalid", "chat_write_forbidden", "not enough rights",
    "have no rights", "need administrator rights", "user_deactivated", "group chat was deactivated", "bot was kicked",
    "group is deactivated",
)  # fmt: skip
# What httpx raises before a request can have left this machine.
NOT_SENT: Final = frozenset(
    {"ConnectError", "ConnectTimeout", "PoolTimeout", "UnsupportedProtocol", "InvalidURL", "ProxyError",
     "LocalProtocolError"}
)


@dataclass(frozen=True, slots=True)
class Answer:
    """`status` of HTTP where there was one; `wait`: seconds to keep quiet; `moved_to`: the group's new id."""

    kind: AnswerKind
    status: int | None = None
    error: str | None = None
    message_id: int | None = None
    wait: float | None = None
    moved_to: str | None = None


def judge_telegram(status: int, description: str) -> AnswerKind:
    """The meaning of an answer of the Bot API that is not ok."""
    said = description.lower()
    if status in (401, 404):  # 404: a token of the wrong form
        return "key"
    if status == 403:
        return "no-chat"
    if status == 429:
        return "slow-down"
    if status == 400:
        known: tuple[tuple[AnswerKind, tuple[str, ...]], ...] = (
            ("markup", _MARKUP), ("no-topic", _NO_TOPIC), ("no-chat", _NO_CHAT),
        )  # fmt: skip
        return next((kind for kind, marks in known if any(mark in said for mark in marks)), "refused")
    if status < 300 or status == 504:  # an answer in nobody's form, or none in time from behind a gateway
        return "unknown"
    # 409 speaks of two pollers, which is no fault of a message; 3xx of a proxy in between.
    return "away" if status >= 500 or status in (408, 409) or status < 400 else "refused"


def judge_http(status: int) -> AnswerKind:
    """The meaning of a webhook's or ntfy's status."""
    if 200 <= status < 300:
        return "sent"
    if status == 429:
        return "slow-down"
    if status == 504:
        return "unknown"
    if status >= 500 or status in (408, 425):
        return "away"
    # Moved elsewhere, no entry, no such place: the address or the token has to be set right.
    return "key" if status < 400 or status in (401, 403, 404, 405, 407, 410) else "refused"


def judge_break(error: str) -> AnswerKind:
    """The meaning of a connection that failed; `error` is the name of httpx's class."""
    return "away" if error in NOT_SENT else "unknown"
