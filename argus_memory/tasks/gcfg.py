"""The syntax of Ofelia's config.ini (gcfg, git's own): sections with a name, keys that may stand often. Pure.

    [kind "name"]     ; and # begin comments, also behind a value
    key = value       quotes keep blanks and comment signs; \\\\ \\" \\n \\t \\b; a \\ at the end of a line goes on
    key               alone: true
    ; argus: key = value     a key of Argus's own, which Ofelia does not read
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

_HEADER: Final = re.compile(r'\[\s*([A-Za-z][A-Za-z0-9-]*)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]\s*(?:[;#].*)?')
_KEY: Final = re.compile(r"([A-Za-z][A-Za-z0-9-]*)\s*(?:([=;#])(.*))?", re.DOTALL)
_OWN: Final = re.compile(r"[;#]\s*argus:\s*([A-Za-z_][\w.]*)\s*=\s*(.*)")
_ESCAPES: Final = {"n": "\n", "t": "\t", "b": "\b", "\\": "\\", '"': '"'}


@dataclass(slots=True)
class GcfgSection:
    """`keys` are small letters, in the order written; `own` are Argus's from comments; `problems` say their lines."""

    kind: str
    name: str | None
    line: int
    keys: list[tuple[str, str]] = field(default_factory=list)
    own: dict[str, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def all(self, key: str) -> list[str]:
        return [value for name, value in self.keys if name == key]

    def last(self, key: str) -> str | None:
        """For a key that is no list the last one counts, as gcfg has it."""
        values = self.all(key)
        return values[-1] if values else None


def read_gcfg(text: str) -> tuple[list[GcfgSection], list[str]]:
    """Sections, and problems that stand in none of them. Never raises."""
    sections: list[GcfgSection] = []
    problems: list[str] = []
    for number, line in _logical_lines(text):
        words = line.strip()
        own = _OWN.fullmatch(words)
        if own and sections:
            sections[-1].own[own[1]] = own[2]
        if not words or words[0] in ";#":
            continue
        if words[0] == "[":
            match = _HEADER.fullmatch(words)
            kind = match[1].lower() if match else "?"
            name = re.sub(r"\\(.)", r"\1", match[2]) if match and match[2] is not None else None
            sections.append(GcfgSection(kind, name, number))
            if not match:
                sections[-1].problems.append(f"line {number}: `{words[:60]}` is no section")
            continue
        target = sections[-1].problems if sections else problems
        try:
            entry = _read_entry(words)
        except ValueError as error:
            target.append(f"line {number}: {error}")
            continue
        if sections:
            sections[-1].keys.append(entry)
        else:
            problems.append(f"line {number}: `{entry[0]}` stands before the first section")
    return sections, problems


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines joined where an odd number of backslashes ends them; the number is the first one's."""
    begun, waiting = 0, ""
    for number, line in enumerate(text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n"), 1):
        begun = begun if waiting else number
        if (len(line) - len(line.rstrip("\\"))) % 2 and not line.lstrip().startswith((";", "#")):
            waiting += line[:-1]
            continue
        yield begun, waiting + line
        waiting = ""
    if waiting:
        yield begun, waiting


def _read_entry(words: str) -> tuple[str, str]:
    match = _KEY.fullmatch(words)
    if not match:
        raise ValueError(f"`{words[:60]}` is no `key = value`")
    return match[1].lower(), _read_value(match[3]) if match[2] == "=" else "true"


def _read_value(text: str) -> str:
    """Quotes and escapes undone, the comment behind it gone, blanks at both ends gone unless quoted."""
    value, kept, quoted = "", 0, False
    rest = iter(text.lstrip())
    for sign in rest:
        if sign == "\\":
            escaped = next(rest, "")
            if escaped not in _ESCAPES:
                raise ValueError(f"`\\{escaped}` is an escape that Ofelia refuses")
            value += _ESCAPES[escaped]
            kept = len(value)
        elif sign == '"':
            quoted = not quoted
            kept = len(value)
        elif not quoted and sign in ";#":
            break
        else:
            value += sign
            if quoted or not sign.isspace():
                kept = len(value)
    if quoted:
        raise ValueError("a quote is not closed")
    return value[:kept]
