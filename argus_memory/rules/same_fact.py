"""Whether two sentences state one fact, by their words alone; closeness of vectors is asked apart. Pure.

A repeat may differ in how it is set, in articles and fillers, in contractions, and in a number spelled out. Every
other word must be the same and stand in the same place: numbers, units, versions, names and negations with it, for
sentences that differ in a number only are the nearest of all by their vectors and state different facts.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Final

from argus_memory.rules.same_text import fold

_FILLERS: Final = frozenset({
    "a", "an", "the", "that", "really", "just", "please", "so", "well", "also", "actually", "basically", "simply",
    "indeed", "ok", "okay", "yes",
})  # fmt: skip
_CONTRACTIONS: Final = {
    "can't": "can not", "cannot": "can not", "won't": "will not", "shan't": "shall not", "i'm": "i am",
    "it's": "it is", "that's": "that is", "there's": "there is", "here's": "here is", "he's": "he is",
    "she's": "she is", "what's": "what is", "let's": "let us",
}  # fmt: skip
_ENDINGS: Final = (("n't", " not"), ("'re", " are"), ("'ve", " have"), ("'ll", " will"))
# Without "one", which is as often a pronoun.
_NUMBERS: Final = {
    "zero": "0", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8",
    "nine": "9", "ten": "10", "eleven": "11", "twelve": "12",
}  # fmt: skip
_NEGATIONS: Final = frozenset(["not", "no", "never", "none", "nobody", "nothing", "neither", "nor", "without"])
_UNIT: Final = re.compile(r"(\d)([^\W\d_]+|%|°)$")
# Words that name another day each time they are said.
_RELATIVE: Final = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|(?:this|last|next) (?:morning|afternoon|evening|night|week|weekend|month"
    r"|quarter|year|monday|tuesday|wednesday|thursday|friday|saturday|sunday)|just now|\w+ ago)\b",
    re.IGNORECASE,
)


def words_of(text: str) -> tuple[str, ...]:
    """What must agree, in order: folded words without fillers, contractions written out, units apart."""
    found: list[str] = []
    for token in fold(text).split():
        for word in _expand(token).split():
            word = _NUMBERS.get(word, word)
            if word not in _FILLERS:
                found += _UNIT.sub(r"\1 \2", word).split()
    return tuple(found)


def same_fact(one: str, other: str, *, said: tuple[datetime, datetime]) -> bool:
    """Whether one sentence repeats the other; `said` are their moments, for words like "tomorrow"."""
    return names_same_day(one, other, said=said) and words_of(one) == words_of(other)


def names_same_day(one: str, other: str, *, said: tuple[datetime, datetime]) -> bool:
    """False when a relative day in either means another date, because they were said on different days."""
    return said[0].date() == said[1].date() or not (_RELATIVE.search(one) or _RELATIVE.search(other))


def find_loss(repeat: str, kept: str) -> str | None:
    """What would be lost if `repeat` went and `kept` stayed: numbers only it holds, or another polarity."""
    words, others = words_of(repeat), words_of(kept)
    numbers = [word for word in words if any(c.isdigit() for c in word) and word not in others]
    if numbers:
        return f"it alone holds {', '.join(numbers)}"
    if _negations(words) % 2 != _negations(others) % 2:
        return "one of the two is negated"
    return None


def _negations(words: tuple[str, ...]) -> int:
    return sum(word in _NEGATIONS for word in words)


def _expand(token: str) -> str:
    if token in _CONTRACTIONS:
        return _CONTRACTIONS[token]
    for ending, full in _ENDINGS:
        if token.endswith(ending) and len(token) > len(ending):
            return token.removesuffix(ending) + full
    return token
