"""Small words that turn a sentence: what a comparison by the words that carry meaning leaves out. Pure.

    counts      first, half, once: which one of them, how much of it
    how many    all, some, few, at least, at most; always, sometimes, rarely
    must, may   an order is no permission, and what may be is not yet so; nor is what will be
    hedges      what somebody thinks, asks, would do or makes depend on something is not said to be so
    failing     who forgot to do a thing did not
    where       under, from, behind: with the noun they stand before
    only        with the word it stands before
    order       what is said to come first, and what then
    one word    two sentences that are the same but for one word differ in its value, unless that word is known to
                mean the same

Asked before a merge alone. A difference that is none keeps two notes of one fact; the other mistake loses a fact.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from argus_memory.rules.rewording import read
from argus_memory.rules.same_fact import words_of


def _groups(*groups: str) -> dict[str, str]:
    """Word → the first word of its group."""
    return {word: group.split()[0] for group in groups for word in group.split()}


_COUNTS: Final = _groups(
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "last final",
    "half halves", "quarter quarters", "thirds", "once", "twice double", "thrice triple",
)  # fmt: skip
_ALL: Final = _groups("all every each always everyone everybody everything entire whole both")
_SOME: Final = _groups(
    "some several sometimes occasionally partly somebody someone", "few rarely seldom hardly scarcely barely little",
    "most mostly usually majority", "almost nearly", "least minimum", "most maximum", "fewer less", "more greater",
)  # fmt: skip
_BOUNDS: Final = (
    (r"\bat least\b|\bno (?:fewer|less) than\b", "least"),
    (r"\bat most\b|\bno more than\b|\bup to (?=\d)", "most"),
    (r"\b(?:more|greater) than\b", "above"),
    (r"\b(?:less|fewer) than\b", "below"),
)
_MUST: Final = frozenset(["must", "should", "shall", "ought"])
_MUST_TOO: Final = re.compile(r"\b(?:ha(?:s|ve|d) to|needs? to|requir(?:es?|ed)|mandatory|supposed to)\b")
_WILL: Final = re.compile(r"\b(?:will|won't|going to|about to|plans? to|intends? to)\b|'ll\b")
_HEDGED: Final = re.compile(
    r"\b(?:would|if|unless|whether|maybe|perhaps|possibly|apparently|supposedly|allegedly"
    r"|(?:think|believe|guess|suspect|assume|hope|suppose|doubt)s?|thought)\b|'d\b|\?\s*$"
)
_FAILING: Final = re.compile(
    r"\b(?:fail(?:s|ed)? to|forg[eo]ts? to|refuse[sd]? to|decline[sd]? to|neglect(?:s|ed)? to|stop(?:s|ped)|quits?"
    r"|cease[sd]?|avoid(?:s|ed)?|den(?:y|ies|ied)|used to|formerly|previously)\b"
)
_MAY: Final = frozenset(["may", "might", "can", "could"])
_PLACES: Final = _groups(
    "under below beneath underneath", "above", "behind", "outside out", "from", "to into onto towards toward",
    "for", "before", "after", "until till", "since", "against", "between", "without",
    "by", "in at on of about with inside within near",
)  # fmt: skip
# Said in place of each other, as "moved to the attic" and "in the attic".
_LOOSE: Final = ({"in", "to"}, {"in", "for"}, {"in", "by"})
_PASSED_OVER: Final = frozenset(["a", "an", "the", "this", "that", "its", "his", "her", "their", "our", "my", "your"])
_FOCUS: Final = frozenset({"only", "except", "unless", "solely"})
_SEQUENCE: Final = frozenset({"then", "first", "next", "afterwards", "later", "finally"})
_BE: Final = r"\b(?:is|are|was|were|be|been|being|gets?|got)\b"
_PASSIVE: Final = re.compile(rf"{_BE}.*\bby\b|{_BE} (?:\w+ly )?\w+e[dn] (?:on|in|at)\b")
_PARTICIPLE: Final = re.compile(rf"{_BE} (?:\w+ly )?\w+(?:e[dn]|t)\b")
_WE: Final = re.compile(r"^(?:we|i|they|you|one|the user)\b")
_OWNING: Final = (re.compile(r"\bof\b"), re.compile(r"(?<=\w)'s\b|s'(?=\s)"), re.compile(r"\bwhere\b"))
_FRONTED: Final = re.compile(
    r"^(?:at|in|on|from|to|by|before|after|below|above|behind|under|since|until|during|for|with|without|every|each"
    r"|first|when|if|as|between)\b|,"
)
_UNIT_BEFORE: Final = frozenset(["a", "an", "per", "every", "each"])


def find_turn(one: str, other: str) -> str | None:
    """What small word makes two facts of them, in words for a person; None where there is none."""
    words, others = words_of(one), words_of(other)
    for name, found, twin in (
        ("a count", _counts(words), _counts(others)),
        ("only", _followers(words), _followers(others)),
        ("the bound", _bounds(one), _bounds(other)),
    ):
        if found != twin:
            return f"{name} differs"
    if _differ_in_extent(words, others):
        return "how many or how often differs"
    force, force_other = _force(one, words), _force(other, others)
    if force != force_other and "may" in (force, force_other):
        return "one says must or is, the other may"
    for pattern, told in (
        (_WILL, "one will be"),
        (_HEDGED, "one is not sure, asks or depends"),
        (_FAILING, "one says that it failed or ended"),
    ):
        if bool(pattern.search(one.casefold())) != bool(pattern.search(other.casefold())):
            return told
    place = _other_place(words, others)
    if place:
        return f"where differs, at {place}"
    if (_is_sequence(words) or _is_sequence(others)) and _order(one, other) != _order(other, one):
        return "the order differs"
    if read(one).meaning == read(other).meaning and not keeps_order(one, other):
        return "the order differs"
    return None


def find_swap(one: str, other: str) -> str | None:
    """The two words, where the sentences are the same but for one that stands in another's place."""
    words, others = words_of(one), words_of(other)
    if len(words) != len(others):
        return None
    differing = [pair for pair in zip(words, others, strict=True) if pair[0] != pair[1]]
    if len(differing) != 1 or read(one).meaning == read(other).meaning:
        return None
    return f"{differing[0][0]} stands where the other says {differing[0][1]}"


def _counts(words: tuple[str, ...]) -> Counter[str]:
    """Ordinals and fractions; "second" and "quarter" are units behind a number, "a" or "per"."""
    found: Counter[str] = Counter()
    for place, word in enumerate(words):
        before = words[place - 1] if place else ""
        unit = before in _UNIT_BEFORE or before.isdigit()
        if word in _COUNTS and not (word == "second" and unit):
            found[_COUNTS[word]] += 1
    if "then" in words:  # "first this, then that" counts nothing
        found.pop("first", None)
    return found


def _followers(words: tuple[str, ...]) -> frozenset[tuple[str, str]]:
    return frozenset(
        (word, next((each for each in words[place + 1 :] if each not in _PASSED_OVER), ""))
        for place, word in enumerate(words)
        if word in _FOCUS
    )


def _bounds(text: str) -> frozenset[str]:
    return frozenset(name for pattern, name in _BOUNDS if re.search(pattern, text.casefold()))


def _differ_in_extent(words: tuple[str, ...], others: tuple[str, ...]) -> bool:
    """All of them, where the other says some; or some or few, where the other does not."""
    some, others_some = ({_SOME[word] for word in each if word in _SOME} for each in (words, others))
    if some != others_some:
        return True
    whole, others_whole = (any(word in _ALL for word in each) for each in (words, others))
    return whole != others_whole and "one" in (others if whole else words)


def _force(text: str, words: tuple[str, ...]) -> str:
    if _MUST & set(words) or _MUST_TOO.search(text.casefold()):
        return "must"
    return "may" if _MAY & set(words) else ""


def _other_place(words: tuple[str, ...], others: tuple[str, ...]) -> str | None:
    """A word that stands after a word of place in both, and not after the same."""
    ours, theirs = _placed(words), _placed(others)
    for word, places in ours.items():
        if word in theirs and not places & theirs[word]:
            (one, *_), (other, *_) = sorted(places), sorted(theirs[word])
            if {one, other} not in _LOOSE:
                return word
    return None


def _placed(words: tuple[str, ...]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    place: str | None = None
    for word in words:
        if word in _PLACES:
            place = _PLACES[word]
        elif place and word not in _PASSED_OVER:
            found.setdefault(word, set()).add(place)
            place = None
    return found


def _is_sequence(words: tuple[str, ...]) -> bool:
    found = [word for place, word in enumerate(words)
             if word in _SEQUENCE or (word in ("after", "before") and place == len(words) - 1)]  # fmt: skip
    return len(found) > 1 or "then" in found


def keeps_order(one: str, other: str) -> bool:
    """Whether the words that carry meaning stand in one order, or were moved in a way that leaves who does what:

    a part set in front ("At night the pump runs"), active and passive, "the wall of the kitchen", "is where".
    """
    first, second = _order(one, other), _order(other, one)
    if first == second:
        return True
    texts = (one.casefold(), other.casefold())
    if any(len(turning.findall(texts[0])) != len(turning.findall(texts[1])) for turning in (_PASSIVE, *_OWNING)):
        return True
    if any(_WE.search(a) and _PARTICIPLE.search(b) for a, b in (texts, texts[::-1])):
        return True  # "we delete logs", "logs are deleted"
    if _is_turned_about_is(texts[0], texts[1]):
        return True
    return any(_FRONTED.search(text) for text in texts) and _is_one_move(first, second)


def _is_turned_about_is(one: str, other: str) -> bool:
    """Whether both say that two things are one: "X is Y", "Y is X"."""
    (left, *right), (left_other, *right_other) = (re.split(r"\b(?:is|are|was|were)\b", text) for text in (one, other))
    if len(right) != 1 or len(right_other) != 1:
        return False
    return read(left).words == read(right_other[0]).words and read(right[0]).words == read(left_other).words


def _is_one_move(first: list[str], second: list[str]) -> bool:
    """Whether one part of the first, set elsewhere, makes the second."""
    size = len(first)
    return any(
        first[:a] + first[b:c] + first[a:b] + first[c:] == second
        for a in range(size) for b in range(a + 1, size) for c in range(b + 1, size + 1)
    )  # fmt: skip


def _order(one: str, other: str) -> list[str]:
    """The words of `one` that both have, in its order."""
    shared = read(other).meaning
    return [word for word in dict.fromkeys(read(one).words) if word is not None and word in shared]
