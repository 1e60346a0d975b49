"""Which channel is which target: ARGUS_TELEGRAM_CHATS, ARGUS_WEBHOOK_URL and ARGUS_NTFY_URL. Nothing is sent here.

    name of a chat          that chat, or its topic
    webhook, ntfy           that address, where it is set
    main                    the chat `main`; without one the first chat, else the webhook, else ntfy
    anything else           main, and the message says so
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal
from urllib.parse import urlsplit

from argus_memory.option_values import split_chat
from argus_memory.settings import Settings

Service = Literal["telegram", "webhook", "ntfy"]

MAIN = "main"
# The general topic of a forum is addressed without a thread: with its id Telegram answers "message thread not found".
GENERAL_TOPIC = 1
NOTHING_CONFIGURED = "nothing is configured to send"


@dataclass(frozen=True, slots=True)
class Target:
    """One place messages go to. `chat` and `thread` are Telegram's; `address` names it without a secret."""

    service: Service
    address: str
    chat: str = ""
    thread: int | None = None


@dataclass(frozen=True, slots=True)
class Route:
    """Where a channel leads; `note` is the line a message carries that goes elsewhere than its channel says."""

    target: Target
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Channels:
    """Everything that is configured. `main` is None where nothing is."""

    by_name: Mapping[str, Target]
    main: Target | None

    @property
    def is_empty(self) -> bool:
        return self.main is None

    def services(self) -> set[Service]:
        return {target.service for target in self.by_name.values()}

    def find_route(self, channel: str) -> Route | None:
        """None where nothing is configured."""
        if self.main is None:
            return None
        target = self.by_name.get(channel)
        if target is not None:
            return Route(target)
        if channel == MAIN:
            return Route(self.main)
        return Route(self.main, f"There is no channel “{channel}”: sent here instead.")

    def find_fallback(self, target: Target) -> Target | None:
        """Where a message goes that this Telegram chat or topic does not take; None when there is nowhere else."""
        main = self.by_name.get(MAIN)
        if main is not None and main != target:
            return main
        return replace(target, address=f"telegram:{target.chat}", thread=None) if target.thread else None


def telegram_target(chat: str, thread: int | None) -> Target:
    if thread == GENERAL_TOPIC:
        thread = None
    return Target("telegram", f"telegram:{chat}" + (f"/{thread}" if thread else ""), chat, thread)


def find_channels(settings: Settings) -> Channels:
    """What these settings can send to. Chats without a token, and a token without chats, are nothing."""
    by_name: dict[str, Target] = {}
    if settings.telegram_token:
        for text in settings.telegram_chats:
            name, chat, thread = split_chat(text)
            by_name[name] = telegram_target(chat, thread)
    if settings.webhook_url:
        by_name["webhook"] = Target("webhook", f"webhook:{_host_of(settings.webhook_url)}")
    if settings.ntfy_url:
        topic = urlsplit(settings.ntfy_url).path.strip("/")
        by_name["ntfy"] = Target("ntfy", f"ntfy:{_host_of(settings.ntfy_url)}/{topic}")
    return Channels(by_name, by_name.get(MAIN) or next(iter(by_name.values()), None))


def describe_lack(settings: Settings) -> str:
    """Why nothing can be sent, with the cure."""
    if settings.telegram_token:
        return f"{NOTHING_CONFIGURED}: ARGUS_TELEGRAM_TOKEN is set, ARGUS_TELEGRAM_CHATS names no chat"
    if settings.telegram_chats:
        return f"{NOTHING_CONFIGURED}: ARGUS_TELEGRAM_CHATS is set, ARGUS_TELEGRAM_TOKEN is not"
    cure = "set ARGUS_TELEGRAM_TOKEN and ARGUS_TELEGRAM_CHATS, ARGUS_WEBHOOK_URL or ARGUS_NTFY_URL"
    return f"{NOTHING_CONFIGURED}: {cure}"


def _host_of(url: str) -> str:
    """Host and port, without a user's name and password."""
    return urlsplit(url).netloc.rpartition("@")[2]
