"""Cutting a long text into messages. Pure.

Telegram counts a message in UTF-16 units after its markup is taken off, ntfy in bytes: the measure is a parameter.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

Measure = Callable[[str], int]

# Where a text may end, best first: a paragraph, a line, a sentence, a word.
_ENDS: Final = tuple(
    re.compile(pattern) for pattern in (r"\n[ \t]*\n", r"\n", r"(?<=[.!?…])[ \t]", r"[ \t]")
)
# An end in the first part of what fits would leave a message nearly empty: a worse end further on is better.
_EARLIEST: Final = 0.5


def utf16_length(text: str) -> int:
    """Length in UTF-16 code units, as Telegram counts: an emoji is two."""
    return len(text) + sum(char > "\uffff" for char in text)


def utf8_length(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def split_text(text: str, limit: int, *, first: int | None = None, measure: Measure = utf16_length) -> list[str]:
    """`text` in parts of at most `limit` (the first one of at most `first`), cut at the best end that fits.

    White space around a cut is dropped, nothing else is. No part is empty; a text without words has none. Raises
    ValueError on a limit below 4: one character may be four bytes.
    """
    allowed = limit if first is None else first
    if min(limit, allowed) < 4:
        raise ValueError("a part needs room for one character: 4")
    parts: list[str] = []
    rest = text.strip()
    while rest:
        if measure(rest) <= allowed:
            parts.append(rest)
            break
        fits = _longest_start(rest, allowed, measure)
        cut = _find_end(rest, fits)
        parts.append(rest[:cut].rstrip())
        rest = rest[cut:].lstrip()
        allowed = limit
    return parts


def shorten(text: str, limit: int, *, measure: Measure = utf16_length) -> str:
    """`text`, or as much of its beginning as fits with an ellipsis behind it."""
    if measure(text) <= limit:
        return text
    return text[: _longest_start(text, limit - measure("…"), measure)].rstrip() + "…"


def _longest_start(text: str, limit: int, measure: Measure) -> int:
    """How many characters of `text` measure `limit` at most."""
    low, high = 0, min(len(text), limit)  # no character measures less than one
    while low < high:
        middle = (low + high + 1) // 2
        if measure(text[:middle]) <= limit:
            low = middle
        else:
            high = middle - 1
    return low


def _find_end(text: str, fits: int) -> int:
    """Where to cut so that at most `fits` characters stay before it."""
    for pattern in _ENDS:
        # One character more, because the white space that is cut away need not fit.
        ends = [match.start() for match in pattern.finditer(text[: fits + 1]) if match.start() >= fits * _EARLIEST]
        if ends:
            return max(1, ends[-1])
    return max(1, fits)
