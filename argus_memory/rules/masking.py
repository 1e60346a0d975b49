"""Masking: secrets leave a text before it becomes a row that can never be changed again.

Each becomes `[redacted:<kind>]`. What is masked: tokens of known makers, private-key blocks, authorization headers,
cookies, addresses with a password in them, values of secret names, and what a person put between `<private>` and
`</private>`. The value is never kept, shown or logged.

A text without any of the rules' literals (most are) costs a split and a few searches, 40 µs for 1 kB. Masking twice
changes nothing more.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from argus_memory.records import Redaction
from argus_memory.rules import masking_names as names
from argus_memory.rules.masking_formats import ANCHORED, SEARCHED, Rule, find_address, one_of

PRIVATE: Final = "private"
PRIVATE_KEY: Final = "private-key"
OWN: Final = "argus-token"
ROUNDS: Final = 4  # a masked secret can uncover the start of the next one
DEPTH_MAX: Final = 60  # of nested metadata

_ANCHORS: Final = tuple((literal, rule) for rule in ANCHORED for literal in rule.literals)
_SEARCHED: Final = tuple((literal, number) for number, rule in enumerate(SEARCHED) for literal in rule.literals)
_ANY_ANCHOR: Final = re.compile(one_of([literal for literal, _ in _ANCHORS]))
_ANY_SEARCHED: Final = re.compile(one_of([literal for literal, _ in _SEARCHED]))
# Every anchored secret is part of a run of at least so many characters without a blank (xoxb- and ten more). Prose
# has few such runs, and only they are looked through.
LONG_RUN: Final = 15
_PRIVATE_TAG: Final = re.compile(r"<(/?)private(?:\s[^<>]{0,200})?>", re.IGNORECASE)
_KEY_BEGIN: Final = re.compile(r"-----BEGIN ([A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?)-----|PuTTY-User-Key-File-\d:")
# Lines of base64 and header lines such as `Proc-Type: 4,ENCRYPTED`; line ends also as a JSON string has them.
_LINE_END: Final = r"(?:[ \t]*(?:[\r\n]|\\{1,4}[rn])[ \t>]*)+"
_KEY_REST: Final = re.compile(
    rf"(?:{_LINE_END}(?:[A-Za-z0-9+/=]{{1,4096}}(?![^\s\\])|[A-Z][A-Za-z-]{{1,30}}: [^\n\r\\]{{1,200}}))*"
)
KEY_BLOCK_MAX: Final = 32_768  # characters from BEGIN to END
_REDACTED: Final = re.compile(r"\[redacted:[a-z-]+\]")
_BARE_NAME: Final = re.compile(
    r"[ \t]*(?:(?:export|set)[ \t]+)?[\w.-]{1,100}['\"]?[ \t]*[:=][ \t]*['\"]?(?:(?:bearer|basic|token)[ \t]+)?"
    r"[\"';,]{0,3}[ \t]*",
    re.IGNORECASE,
)

Counts = dict[str, int]

# Short strings of metadata that were seen to hold nothing.
CLEAN_MAX: Final = 4096
CLEAN_CHARS: Final = 256
_clean: set[str] = set()


def mask_text(text: str, own: Iterable[str] = ()) -> tuple[str, Counts]:
    """(`text` masked, how many of each kind). `own` are tokens of this installation, masked wherever they stand."""
    found: Counts = {}
    for _ in range(ROUNDS):
        before = len(found), sum(found.values())
        text = _mask_once(text, own, found)
        if (len(found), sum(found.values())) == before:
            break
    return text, found


def mask_tree(value: Any, own: Iterable[str] = (), *, keep: frozenset[str] = frozenset()) -> tuple[Any, Counts]:
    """The same for JSON: every string in it, keys too, and whole values under a secret name.

    Under the top-level keys in `keep` only a secret's own form counts, not the name. Raises ValueError when it is
    nested deeper than DEPTH_MAX.
    """
    strings: list[str] = []
    named = _collect(value, strings, keep, DEPTH_MAX)
    # One look at all that is new: machine, repository and version are the same from item to item.
    fresh = [each for each in strings if each not in _clean]
    is_own = any(token in each for token in own for each in strings)
    if not named and not is_own and not (fresh and mask_text("\n".join(fresh))[1]):
        if len(_clean) > CLEAN_MAX:
            _clean.clear()
        _clean.update(each for each in fresh if len(each) <= CLEAN_CHARS)
        return value, {}
    found: Counts = {}
    return _mask_value(value, tuple(own), found, keep), found


def is_only_secret(masked: str) -> bool:
    """Whether nothing is left but marks of secrets and the bare names they were given to."""
    if not _REDACTED.search(masked):
        return False
    for line in masked.splitlines():
        rest = _REDACTED.sub("", line)
        if any(char.isalnum() for char in rest) and (rest == line or not _BARE_NAME.fullmatch(rest)):
            return False
    return True


def to_redactions(counts: Mapping[str, int]) -> tuple[Redaction, ...]:
    return tuple(Redaction(kind, count) for kind, count in sorted(counts.items()))


def add_counts(into: Counts, more: Mapping[str, int]) -> Counts:
    for kind, count in more.items():
        into[kind] = into.get(kind, 0) + count
    return into


def _mask_once(text: str, own: Iterable[str], found: Counts) -> str:
    lower = text.lower()
    if "<private" in lower:
        text = _mask_private(text, found)
    if "private key" in lower or "putty-user-key" in lower:
        text = _mask_key_blocks(text, found)
    for token in own:
        if token in text:
            found[OWN] = found.get(OWN, 0) + text.count(token)
            text = text.replace(token, f"[redacted:{OWN}]")
    runs = " ".join([run for run in text.split() if len(run) >= LONG_RUN])
    if runs and _ANY_ANCHOR.search(runs):
        for literal, rule in _ANCHORS:
            if literal in runs:
                text = _mask_anchored(rule, literal, text, found)
    if _ANY_SEARCHED.search(lower):
        for number in sorted({number for literal, number in _SEARCHED if literal in lower}):
            text = _mask_searched(SEARCHED[number], text, found)
    if "://" in runs:
        text = _mask_addresses(text, found)
    return names.mask_named(text, lower, found)


class _Cuts:
    """Parts of a text to be replaced, in order."""

    def __init__(self, text: str, found: Counts) -> None:
        self.text = text
        self.found = found
        self.out: list[str] = []
        self.kept_to = 0

    def cut(self, kind: str, start: int, end: int) -> None:
        self.out += [self.text[self.kept_to : start], f"[redacted:{kind}]"]
        self.kept_to = end
        self.found[kind] = self.found.get(kind, 0) + 1

    def result(self) -> str:
        return "".join([*self.out, self.text[self.kept_to :]]) if self.out else self.text


def _mask_anchored(rule: Rule, literal: str, text: str, found: Counts) -> str:
    cuts = _Cuts(text, found)
    at = text.find(literal)
    while at >= 0:
        match = rule.pattern.match(text, at)
        if match is not None and (rule.judge is None or rule.judge(match[0])):
            cuts.cut(rule.kind, at, match.end())
            at = text.find(literal, match.end())
        else:
            at = text.find(literal, at + 1)
    return cuts.result()


def _mask_searched(rule: Rule, text: str, found: Counts) -> str:
    group = "secret" if "secret" in rule.pattern.groupindex else 0
    cuts = _Cuts(text, found)
    for match in rule.pattern.finditer(text):
        if not _REDACTED.search(match[group]) and (rule.judge is None or rule.judge(match[group])):
            cuts.cut(rule.kind, *match.span(group))
    return cuts.result()


def _mask_addresses(text: str, found: Counts) -> str:
    cuts = _Cuts(text, found)
    at = text.find("://")
    while at >= 0:
        address = find_address(text, at)
        if address is not None and not _REDACTED.search(text, *address[1:]):
            cuts.cut(*address)
        at = text.find("://", max(at + 3, cuts.kept_to))
    return cuts.result()


def _mask_private(text: str, found: Counts) -> str:
    """Whole spans, nested ones at once. A span that is never closed goes to the end of the text."""
    cuts = _Cuts(text, found)
    for start, end in _private_spans(text, list(_PRIVATE_TAG.finditer(text))):
        cuts.cut(PRIVATE, start, end)
    return cuts.result()


def _private_spans(text: str, tags: list[re.Match[str]]) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    unclosed: list[re.Match[str]] = []
    for tag in tags:
        if not tag[1]:
            unclosed.append(tag)
        elif unclosed:
            begin = unclosed.pop()
            if not unclosed:
                spans.append((begin.start(), tag.end()))
    # Quoted and never closed, as in "hide it in `<private>` tags", is talk about the tag: the rest is paired without
    # it, which leaves every other pair as it was.
    talk = {tag.start() for tag in unclosed if _is_quoted(text, tag)}
    if talk:
        return _private_spans(text, [tag for tag in tags if tag.start() not in talk])
    return [*spans, (unclosed[0].start(), len(text))] if unclosed else spans


def _is_quoted(text: str, tag: re.Match[str]) -> bool:
    before, after = text[tag.start() - 1 : tag.start()], text[tag.end() : tag.end() + 1]
    return before == after and before in ("`", '"', "'")


def _mask_key_blocks(text: str, found: Counts) -> str:
    """From BEGIN to END; a block that was cut off goes as far as its lines do."""
    cuts = _Cuts(text, found)
    for begin in _KEY_BEGIN.finditer(text):
        if begin.start() < cuts.kept_to:
            continue
        mark = f"-----END {begin[1]}-----"
        end = text.find(mark, begin.end(), begin.end() + KEY_BLOCK_MAX) if begin[1] else -1
        rest = _KEY_REST.match(text, begin.end())
        if end >= 0:
            end += len(mark)
        elif rest is not None and rest.end() > begin.end():
            end = rest.end()
        else:  # the line alone is talk about keys
            continue
        cuts.cut(PRIVATE_KEY, begin.start(), end)
    return cuts.result()


def _collect(value: Any, strings: list[str], keep: frozenset[str], depth: int) -> bool:
    """Gather every string; True when a value stands under a secret name."""
    if isinstance(value, str):
        strings.append(value)
        return False
    if not isinstance(value, dict | list):
        return False
    if depth == 0:
        raise ValueError(f"nested deeper than {DEPTH_MAX}")
    named = False
    if isinstance(value, dict):
        strings += value
        named = any(_is_named(key, each, keep) for key, each in value.items())
    for each in value.values() if isinstance(value, dict) else value:
        named |= _collect(each, strings, frozenset(), depth - 1)
    return named


def _is_named(key: str, value: Any, keep: frozenset[str]) -> bool:
    return isinstance(value, str) and key not in keep and names.names_secret(key) and names.is_value(value)


def _mask_value(value: Any, own: tuple[str, ...], found: Counts, keep: frozenset[str]) -> Any:
    if isinstance(value, str):
        masked, counts = mask_text(value, own)
        add_counts(found, counts)
        return masked
    if isinstance(value, list):
        return [_mask_value(each, own, found, frozenset()) for each in value]
    if not isinstance(value, dict):
        return value
    out: dict[str, Any] = {}
    for key, each in value.items():
        if _is_named(key, each, keep):
            found[names.ASSIGNED] = found.get(names.ASSIGNED, 0) + 1
            out[key] = f"[redacted:{names.ASSIGNED}]"
        else:
            out[_mask_value(key, own, found, frozenset())] = _mask_value(each, own, found, frozenset())
    return out
