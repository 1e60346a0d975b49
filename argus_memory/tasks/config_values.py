"""The keys of a stanza and how each one's text becomes its value. Pure; a bad text raises ValueError."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from difflib import get_close_matches
from functools import cache
from typing import Any, Final

from argus_memory.option_values import one_of, parse_duration, parse_zone, some_of
from argus_memory.rules.cron import parse_schedule

ENV_PREFIX: Final = "env."
ENV_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
OWN_NAMES: Final = ("ARGUS_", "DAGSTER_")  # set by the runner; a stanza may not
SPAN_MAX: Final = timedelta(days=366)
RETRIES_MAX: Final = 20
COUNT_MAX: Final = 1_000_000
_TRUTH: Final = dict.fromkeys(("true", "yes", "on", "1"), True) | dict.fromkeys(("false", "no", "off", "0"), False)
_CHANNEL: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


@dataclass(frozen=True, slots=True)
class Key:
    """One key of a stanza: `accepted` is its form for a person, `handlers` those it belongs to (none named: all)."""

    parse: Callable[[str], Any]
    accepted: str
    handlers: tuple[str, ...] = ()
    default: bool = False  # [defaults] may set it


def _schedule(text: str) -> str:
    parse_schedule(text)
    return text


@cache
def _zone(text: str) -> str:
    return parse_zone(text)


def _span(text: str) -> timedelta:
    if len(text) > 40:
        raise ValueError("it is no duration")
    span = parse_duration(text)
    if span > SPAN_MAX:
        raise ValueError(f"{text!r} is longer than {SPAN_MAX.days} days")
    return span


def _whole(least: int, most: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if not re.fullmatch(r"-?[0-9]{1,12}", text) or not least <= int(text) <= most:
            raise ValueError(f"{text!r} is not a whole number from {least} to {most}")
        return int(text)

    return parse


def _amount(text: str) -> float:
    try:
        amount = float(text)
    except ValueError:
        raise ValueError(f"{text!r} is not a number") from None
    if not math.isfinite(amount) or amount <= 0:
        raise ValueError(f"{text!r} is not above 0")
    return amount


def _truth(text: str) -> bool:
    try:
        return _TRUTH[text.lower()]
    except KeyError:
        raise ValueError(f"{text!r} is neither true nor false") from None


def _channel(text: str) -> str:
    if not _CHANNEL.fullmatch(text):
        raise ValueError(f"{text!r} is no channel's name")
    return text


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _line(text: str) -> str:
    if "\n" in text:
        raise ValueError("it goes over more than one line")
    return text


_SPAN = "a duration: 30s, 5m, 1h30m, 2d"
KEYS: Final[Mapping[str, Key]] = {
    "handler": Key(one_of("code", "llm", "agent"), "code, llm or agent"),
    "command": Key(str, "a command for the shell, run in the task's folder", ("code",)),
    "prompt": Key(str, "the prompt, or `file:prompt.md` in the task's folder", ("llm", "agent")),
    "schedule": Key(_schedule, "`30 7 * * 1-5`, `@daily` or `@every 90m`"),
    "timezone": Key(_zone, "a time zone as in Europe/Vienna", default=True),
    "start_grace": Key(_span, _SPAN, default=True),
    "max_runtime": Key(_span, _SPAN, default=True),
    "channel": Key(_channel, "a name of ARGUS_TELEGRAM_CHATS, webhook or ntfy", default=True),
    "retries": Key(_whole(0, RETRIES_MAX), f"0 to {RETRIES_MAX}"),
    "no_overlap": Key(_truth, "true or false"),
    "failures_before_alert": Key(_whole(1, 1000), "1 to 1000"),
    "enabled": Key(_truth, "true or false"),
    "mode": Key(one_of("run", "observe"), "run, or observe where another scheduler starts it"),
    "folder": Key(_line, "a folder, relative to the one of config.ini"),
    "image": Key(_line, "a container image", ("code",)),
    "hub_settings": Key(_truth, "true or false", ("code",)),
    "description": Key(str, "words for the pages"),
    "engines": Key(some_of("claude", "codex", "api"), "claude, codex, api, comma-separated", ("agent",)),
    "model": Key(_words, "model names as LiteLLM writes them, comma-separated", ("llm", "agent")),
    "budget_usd": Key(_amount, "a number above 0", ("llm", "agent")),
    "max_turns": Key(_whole(1, COUNT_MAX), f"1 to {COUNT_MAX:,}", ("agent",)),
}
DEFAULT_KEYS: Final = tuple(name for name, key in KEYS.items() if key.default)


def parse_env_name(text: str) -> str:
    """The name after `env.`; raises ValueError for one no shell takes, and for those the runner sets."""
    if not ENV_NAME.fullmatch(text):
        raise ValueError(f"{text!r} is no variable's name")
    if text.startswith(OWN_NAMES):
        raise ValueError(f"{text} is set by Argus itself")
    return text


def find_near(key: str, known: tuple[str, ...]) -> str | None:
    """The known key that was probably meant: `no-overlap` → `no_overlap`."""
    found = get_close_matches(key.lower().replace("-", "_"), known, n=1, cutoff=0.6)
    return found[0] if found else None
