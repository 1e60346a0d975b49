"""Changing one place of a JSON document and leaving every other byte as it was.

A person's settings file is theirs: its order, indentation, line ends and odd spacing stay. Values are found by their
place in the text, new ones are written in the document's own style. Pure; the text must be a JSON object.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Style:
    """How the document is written: `unit` of indentation ("" for a document on one line) and its line end."""

    unit: str
    newline: str

    def dump(self, value: Any, depth: int) -> str:
        """The value as text that stands at this depth."""
        if not self.unit:
            return json.dumps(value, ensure_ascii=False)
        text = json.dumps(value, ensure_ascii=False, indent=self.unit)
        return text.replace("\n", self.newline + self.unit * depth)


@dataclass(frozen=True, slots=True)
class Member:
    """One `"key": value` of an object, as places in the text: `start` is the key's quote, `end` is past the value."""

    key: str
    start: int
    value: int
    end: int


def style_of(text: str) -> Style:
    """The style the document is written in; two spaces where it does not say."""
    newline = "\r\n" if "\r\n" in text else "\n"
    indented = re.search(r"\n([ \t]+)\S", text)
    if indented:
        return Style(indented.group(1), newline)
    return Style("" if text.strip() not in ("", "{}") and "\n" not in text.strip() else "  ", newline)


def members(text: str, at: int) -> list[Member]:
    """The members of the object that begins at `at` (its brace)."""
    found: list[Member] = []
    place = _skip(text, at + 1)
    while text[place] != "}":
        start = place
        key, place = _DECODER.raw_decode(text, start)
        value = _skip(text, _skip(text, place) + 1)
        _, end = _DECODER.raw_decode(text, value)
        found.append(Member(key, start, value, end))
        place = _skip(text, end)
        if text[place] == ",":
            place = _skip(text, place + 1)
    return found


def find_member(text: str, at: int, key: str) -> Member | None:
    """The member of that name; the last one where it stands twice, as JSON readers take it."""
    return next((member for member in reversed(members(text, at)) if member.key == key), None)


def root(text: str) -> int:
    """Where the document's object begins."""
    return _skip(text, 0)


def add_member(text: str, at: int, depth: int, key: str, value: Any, style: Style) -> str:
    """Add a member as the last one of the object at `at`, whose members stand at `depth`."""
    found = members(text, at)
    member = f"{json.dumps(key, ensure_ascii=False)}: {style.dump(value, depth)}"
    return _insert(text, at, found[-1].end if found else None, depth, member, style)


def add_element(text: str, at: int, depth: int, value: Any, style: Style) -> str:
    """Add a value as the last element of the list at `at`, whose elements stand at `depth`."""
    last = None
    place = _skip(text, at + 1)
    while text[place] != "]":
        _, last = _DECODER.raw_decode(text, place)
        place = _skip(text, last)
        if text[place] == ",":
            place = _skip(text, place + 1)
    return _insert(text, at, last, depth, style.dump(value, depth), style)


def replace_value(text: str, member: Member, depth: int, value: Any, style: Style) -> str:
    """Put another value in the member's place; `depth` is the member's own."""
    return text[: member.value] + style.dump(value, depth) + text[member.end :]


def drop_member(text: str, at: int, key: str) -> str:
    """Take the member out, with the comma that held it."""
    found = members(text, at)
    index = next(i for i, member in enumerate(found) if member.key == key)
    if len(found) == 1:
        return text[: at + 1] + text[_skip(text, found[0].end) :]
    if index:
        return text[: found[index - 1].end] + text[found[index].end :]
    return text[: found[0].start] + text[found[1].start :]


def _insert(text: str, at: int, last: int | None, depth: int, piece: str, style: Style) -> str:
    line = style.newline + style.unit * depth if style.unit else ""
    if last is not None:
        return f"{text[:last]},{line or ' '}{piece}{text[last:]}"
    close = _skip(text, at + 1)
    back = style.newline + style.unit * (depth - 1) if style.unit else ""
    return f"{text[: at + 1]}{line}{piece}{back}{text[close:]}"


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    assert match is not None
    return match.end()
