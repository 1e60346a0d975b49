"""Whether a note that was made again of the same words is the old one reworded. Pure.

Both must rest on the same place of one turn, and state the same fact: the words that carry it (numbers, names,
identifiers, negations) must agree, whatever is set around them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from argus_memory.rules.rewording import repeats
from argus_memory.rules.same_fact import find_loss, words_of

MIN_OVERLAP: Final = 0.5  # of the shorter of the two spans
MIN_SHARED: Final = 0.5  # of the words of both, by their stems
STEM: Final = 5  # letters; "prefers" and "prefer", "decision" and "decided" are one

_LABEL: Final = re.compile(r"^(?:the\s+)?(?:user|assistant|document|event|synthesis)\b:?\s*", re.IGNORECASE)
_NAME: Final = re.compile(
    r"(?<=\s)[\"'(`]?([A-Z][\w'-]*|\w*[./_:@-]\w[\w./_:@-]*)|\b([a-z]+[A-Z]\w*|[A-Z]{2,}\w*|\w*\d\w*)\b"
)
_LITTLE: Final = frozenset({
    "i", "we", "you", "he", "she", "they", "it", "my", "our", "his", "her", "their", "me", "us", "is", "are", "was",
    "were", "be", "been", "has", "have", "had", "do", "does", "did", "will", "would", "to", "of", "in", "on", "at",
    "for", "and", "or", "with", "by", "as", "this", "these", "from",
})  # fmt: skip
_NEGATIONS: Final = frozenset({"not", "no", "never", "none", "nobody", "nothing", "neither", "nor", "without"})


@dataclass(frozen=True, slots=True)
class Place:
    """Where a note's source stands: characters `start` to `end` of a raw item; None where that is not known."""

    raw_id: int
    start: int | None
    end: int | None


def overlap(one: Place, other: Place) -> float:
    """The shared part of the two places, 0 to 1 of the shorter; 1 on one turn where a place is not known."""
    if one.raw_id != other.raw_id:
        return 0.0
    if one.start is None or one.end is None or other.start is None or other.end is None:
        return 1.0
    shared = min(one.end, other.end) - max(one.start, other.start)
    shorter = min(one.end - one.start, other.end - other.start)
    return max(0.0, shared / shorter) if shorter > 0 else 0.0


def reworded(old: str, new: str) -> float:
    """How much of the words two statements of one place share, 0 to 1; 0 where they do not state the same fact."""
    one, other = _LABEL.sub("", old), _LABEL.sub("", new)
    words, others = words_of(one), words_of(other)
    if words == others:
        return 1.0
    if find_loss(one, other) or find_loss(other, one):
        return 0.0
    if _amounts(words) != _amounts(others):
        return 0.0
    names, other_names = _names(one), _names(other)
    if not set(names) <= _bare(others) or not set(other_names) <= _bare(words):
        return 0.0
    if _NEGATIONS & {*words, *others} and [n for n in names if n in other_names] != [
        n for n in other_names if n in names
    ]:
        return 0.0  # "Postgres, not SQLite" and "SQLite, not Postgres"
    stems, other_stems = _stems(words), _stems(others)
    if not stems or not other_stems:
        return 0.0
    share = 2 * len(stems & other_stems) / (len(stems) + len(other_stems))
    return share if share >= MIN_SHARED else 0.0


def is_carried(old: tuple[str, Place], new: tuple[str, Place]) -> float:
    """The closeness by which a new note is the old one reworded; 0: it is another note."""
    if overlap(old[1], new[1]) < MIN_OVERLAP:
        return 0.0
    return reworded(old[0], new[0]) or (MIN_SHARED if repeats(old[0], new[0]) else 0.0)


def _names(text: str) -> list[str]:
    """Folded words that name something: capitals within a sentence, identifiers, whatever holds a digit."""
    found = [match[0].strip(" \"'(`") for match in _NAME.finditer(text)]
    return [word for name in found for word in _bare(words_of(name))]


def _amounts(words: tuple[str, ...]) -> dict[str, str | None]:
    """Each number with what it counts or measures: the word behind it, None where another number or nothing is."""
    follow = [*words[1:], None]
    return {
        word: None if after is None or after in _LITTLE else after[:STEM]
        for word, after in zip(words, follow, strict=True)
        if any(c.isdigit() for c in word)
    }


def _bare(words: tuple[str, ...]) -> frozenset[str]:
    return frozenset(word.removesuffix("'s") for word in words)


def _stems(words: tuple[str, ...]) -> frozenset[str]:
    return frozenset(word[:STEM] for word in _bare(words) if word not in _LITTLE)
