"""Whether a sentence disputes one that stands: the same matter, another number, polarity or value. By words, pure."""

from __future__ import annotations

from typing import Final

from argus_memory.rules.same_fact import words_of

_NEGATIONS: Final = frozenset({"not", "no", "never", "none", "nobody", "nothing", "neither", "nor", "without"})
_CARRIERS: Final = frozenset({"do", "does", "did"})
_SHARED: Final = 0.6  # of all words but numbers and negations, to be about the same matter
_SHARED_MIN: Final = 2
_SUBJECT: Final = 2  # words at the beginning that say whom it is about
_LONG: Final = 4  # words of a sentence in which a single other one is the value


def disputes(said: str, standing: str) -> bool:
    """Both directions alike; False for sentences that agree or speak of other things."""
    words, others = words_of(said), words_of(standing)
    if words == others:
        return False
    plain, plain_other = set(_plain(words)), set(_plain(others))
    shared = plain & plain_other
    if len(shared) >= _SHARED_MIN and len(shared) >= _SHARED * len(plain | plain_other):
        if _numbers(words) != _numbers(others) and _numbers(words) and _numbers(others):
            return True
        if _polarity(words) != _polarity(others):
            return True
    if len(words) != len(others) or len(words) < _LONG:
        return False
    differing = [place for place, (one, other) in enumerate(zip(words, others, strict=True)) if one != other]
    return len(differing) == 1 and differing[0] >= _SUBJECT


def _is_number(word: str) -> bool:
    return any(char.isdigit() for char in word)


def _plain(words: tuple[str, ...]) -> list[str]:
    """As "does not eat" and "eats" speak of one matter: without what only carries a negation, and without an s."""
    kept = (word for word in words if not _is_number(word) and word not in _NEGATIONS and word not in _CARRIERS)
    return [word.removesuffix("s") if len(word) > 3 else word for word in kept]


def _numbers(words: tuple[str, ...]) -> frozenset[str]:
    return frozenset(word for word in words if _is_number(word))


def _polarity(words: tuple[str, ...]) -> int:
    return sum(word in _NEGATIONS for word in words) % 2
