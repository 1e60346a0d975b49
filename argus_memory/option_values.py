"""How an option's text becomes its value: each raises ValueError with the problem, without the option's name."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import time, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_DURATION = re.compile(r"(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?")
SPAN_MAX = timedelta(days=36_525)  # added to any time of today it is still one
DIGITS_MAX = 10


def parse_duration(text: str) -> timedelta:
    """`30s`, `5m`, `1h30m`, `2d`; raises ValueError on anything else, zero included."""
    match = _DURATION.fullmatch(text.strip())
    if not match or not any(match.groups()):
        raise ValueError(f"{text!r} is not a duration")
    if max(len(part or "") for part in match.groups()) > DIGITS_MAX:
        raise ValueError(f"{text[:40]!r} is longer than a century")
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    if days > SPAN_MAX.days:  # before the sum, which could not be held
        raise ValueError(f"{text[:40]!r} is longer than a century")
    span = timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
    if not span:
        raise ValueError("a duration of zero")
    if span > SPAN_MAX:
        raise ValueError(f"{text[:40]!r} is longer than a century")
    return span


def parse_text(text: str) -> str:
    return text


def parse_port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 65535:
        raise ValueError(f"{text!r} is not a port")
    return int(text)


def parse_positive(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise ValueError(f"{text!r} is not a whole number above 0")
    return int(text)


def parse_fraction(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise ValueError(f"{text!r} is not a number") from None
    if not 0 <= value <= 1:  # also refuses nan
        raise ValueError(f"{text} is outside 0 to 1")
    return value


def parse_list(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def parse_path(text: str) -> Path:
    return Path(text).expanduser()


def parse_url(text: str) -> str:
    if not re.fullmatch(r"https?://[^\s/]+(/\S*)?", text):
        raise ValueError("not a web address")
    return text.rstrip("/")


def parse_database(text: str) -> str:
    if not re.match(r"postgres(ql)?://", text):
        raise ValueError("not a PostgreSQL address")
    return text


def one_of(*words: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text not in words:
            raise ValueError(f"{text!r} is not one of them")
        return text

    return parse


def some_of(*known: str) -> Callable[[str], tuple[str, ...]]:
    def parse(text: str) -> tuple[str, ...]:
        chosen = parse_list(text)
        for word in chosen:
            if word not in known:
                raise ValueError(f"{word!r} is not one of them")
        if len(set(chosen)) != len(chosen):
            raise ValueError("names one of them twice")
        return chosen

    return parse


def parse_zone(text: str) -> str:
    try:
        ZoneInfo(text)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(f"{text!r} is not a time zone") from None
    return text


def parse_time_of_day(text: str) -> time:
    match = re.fullmatch(r"([01]\d|2[0-3]):([0-5]\d)", text)
    if not match:
        raise ValueError(f"{text!r} is not a time of day")
    return time(int(match[1]), int(match[2]))


def parse_levels(text: str) -> dict[str, float]:
    """`name=number` pairs; which names there are is checked where they are used (watch/slo.py)."""
    levels: dict[str, float] = {}
    for pair in parse_list(text):
        name, separator, number = pair.partition("=")
        try:
            levels[name.strip()] = float(number)
        except ValueError:
            separator = ""
        if not separator or not name.strip():
            raise ValueError(f"{pair!r} is not name=number")
    return levels


_CHAT = re.compile(r"([A-Za-z0-9][A-Za-z0-9_-]{0,62})=(-?\d{1,20}|@[A-Za-z0-9_]{1,64})(?:/([1-9]\d{0,9}))?")
RESERVED_CHANNELS = ("webhook", "ntfy")


def split_chat(text: str) -> tuple[str, str, int | None]:
    """(name, chat id, topic) of `name=chat_id` or `name=chat_id/thread_id`; raises ValueError on anything else."""
    match = _CHAT.fullmatch(text.strip())
    if not match:
        raise ValueError(f"{text!r} is not name=chat_id or name=chat_id/thread_id")
    return match[1], match[2], int(match[3]) if match[3] else None


def parse_chats(text: str) -> tuple[str, ...]:
    """The chats as given; raises ValueError on a malformed one, a name given twice, and a name of another target."""
    chats = parse_list(text)
    names = [split_chat(chat)[0] for chat in chats]
    for name in names:
        if name in RESERVED_CHANNELS:
            raise ValueError(f"{name!r} is the name of another kind of target")
        if names.count(name) > 1:
            raise ValueError(f"{name!r} is named twice")
    return chats


def parse_identifier(text: str) -> str:
    if not re.fullmatch(r"[a-z_][a-z0-9_]{0,62}", text):
        raise ValueError(f"{text!r} is not the name of a text-search configuration")
    return text


def parse_token(text: str) -> str:
    if len(text) < 16 or not text.isascii() or any(c.isspace() for c in text):
        raise ValueError("too short or with characters a header cannot carry")
    return text
