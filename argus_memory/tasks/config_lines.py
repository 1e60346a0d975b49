"""Bytes of config.ini → sections with their keys, and what could not be read, each at its line. Pure; never raises.

    [name]              begins a stanza
    key = value         the value is what follows, as it stands: `%`, `;` and `#` mean nothing in it
        more of it      a line set in deeper than its key goes on with the value, also after blank lines
    ; or #              begins a comment where a key could stand

A line that fits nothing is a flaw of the stanza it stands in, so that the next stanza is read as ever.
"""

from __future__ import annotations

import codecs
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

MAX_BYTES: Final = 16 * 1024 * 1024
SHOWN: Final = 60  # characters of a line in a sentence about it

_HEADER: Final = re.compile(r"\[([^\[\]]*)\]\s*(?:[;#].*)?")
_ENTRY: Final = re.compile(r"([^=]*?)\s*=\s*(.*)", re.DOTALL)
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_UTF_16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(frozen=True, slots=True)
class Flaw:
    """What is wrong at a line, and what to do."""

    line: int
    problem: str
    cure: str


@dataclass(slots=True)
class Entry:
    """A key with its value, at its line; `key` as written."""

    key: str
    value: str
    line: int


@dataclass(slots=True)
class Section:
    """A stanza as read: nothing is judged yet but its lines."""

    name: str
    line: int
    entries: list[Entry] = field(default_factory=list)
    flaws: list[Flaw] = field(default_factory=list)


@dataclass(slots=True)
class Lines:
    """The whole file: its stanzas in order, and flaws that belong to none of them."""

    sections: list[Section] = field(default_factory=list)
    flaws: list[Flaw] = field(default_factory=list)


def read_lines(data: bytes) -> Lines:
    """Split the file into stanzas."""
    if data.startswith(_UTF_16):
        return Lines(flaws=[Flaw(1, "the file is UTF-16", "save it as UTF-8")])
    if len(data) > MAX_BYTES:
        return Lines(flaws=[Flaw(1, f"the file has {len(data):,} bytes", f"keep it below {MAX_BYTES:,}")])
    reader = _Reader()
    for number, line, flaw in _decode(data):
        reader.take(number, line, flaw)
    reader.end_value()
    return reader.lines


def _decode(data: bytes) -> Iterator[tuple[int, str, Flaw | None]]:
    """Each line as text with its number; one that is no UTF-8, or holds a control character, with its flaw."""
    data = data.removeprefix(codecs.BOM_UTF8).replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    for number, raw in enumerate(data.split(b"\n"), 1):
        try:
            line, flaw = raw.decode("utf-8"), None
        except UnicodeDecodeError as error:
            line = raw.decode("utf-8", "replace")
            flaw = Flaw(number, f"byte {error.start + 1} of the line is no UTF-8", "save the file as UTF-8")
        if found := _CONTROL.search(line):
            flaw = flaw or Flaw(number, f"the line holds the control character {found[0]!r}", "take it out")
            line = _CONTROL.sub("\ufffd", line)
        yield number, line.rstrip(), flaw


class _Reader:
    """Goes down the lines; `_more` are the lines that go on with the value of the last key."""

    def __init__(self) -> None:
        self.lines = Lines()
        self._entry: Entry | None = None
        self._indent = 0
        self._more: list[str] = []

    def take(self, number: int, line: str, flaw: Flaw | None) -> None:
        indent = len(line) - len(line.lstrip())
        words = line.strip()
        if self._entry is not None and (not words or indent > self._indent):
            self._more.append(line)
            self._note(flaw)
            return
        if not words or words[0] in ";#":
            return
        self.end_value()
        if words[0] == "[":
            self._begin_section(number, words, flaw)
        elif match := _ENTRY.fullmatch(words):
            self._begin_entry(number, indent, match[1], match[2], flaw)
        else:
            problem = f"`{shorten(words)}` is no `key = value`"
            self._note(flaw or Flaw(number, problem, "write one, or begin it with `;`"))

    def end_value(self) -> None:
        """The value of the last key is whole: what goes on with it loses its common indent."""
        if self._entry is not None and any(self._more):
            rest = textwrap.dedent("\n".join(self._more)).rstrip()
            self._entry.value = f"{self._entry.value}\n{rest}" if self._entry.value else rest
        self._entry, self._more = None, []

    def _begin_section(self, number: int, words: str, flaw: Flaw | None) -> None:
        match = _HEADER.fullmatch(words)
        section = Section(match[1].strip() if match else words.strip("[] "), number)
        self.lines.sections.append(section)
        if not match:
            flaw = flaw or Flaw(number, f"`{shorten(words)}` is no stanza's head", "write `[name]` alone on its line")
        self._note(flaw)

    def _begin_entry(self, number: int, indent: int, key: str, value: str, flaw: Flaw | None) -> None:
        entry = Entry(key, value, number)
        if not self.lines.sections:
            self._note(Flaw(number, f"`{shorten(key)}` stands before the first stanza", "move it below a `[name]`"))
        else:
            self.lines.sections[-1].entries.append(entry)
            self._note(flaw)
        self._entry, self._indent = entry, indent

    def _note(self, flaw: Flaw | None) -> None:
        if flaw is not None:
            (self.lines.sections[-1].flaws if self.lines.sections else self.lines.flaws).append(flaw)


def shorten(text: str) -> str:
    """One line of a text that may be long, for a sentence."""
    line = " ".join(text.split())
    return line if len(line) <= SHOWN else line[: SHOWN - 1] + "…"
