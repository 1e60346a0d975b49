"""Whether a sentence says again, in other words, what was taken away. By words alone, and pure.

    hard    numbers with units, polarity, names, and who stands after over/than/from/to: must be equal
    words   the other words that carry meaning, as stems, common synonyms as one: one side may have a few more than
            the other, but not each something of its own
    place   what is more must not qualify a word of the other: "dog walker" is no dog

A synonym that the list does not know is a miss, not a wrong hit; closeness of vectors is asked apart, later.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from argus_memory.rules.rewording_words import (
    CONTRACTIONS,
    DROPPED,
    ENDINGS,
    FREQUENCY,
    LIGHT,
    MARKERS,
    NEGATING,
    NEGATIONS,
    NUMBERS,
    OPPOSITES,
    PHRASES,
    SYNONYMS,
    UNITS,
)
from argus_memory.rules.same_text import fold

_TIME: Final = re.compile(r"(\d{1,2})(?:[:.](\d{2}))?(am|pm)")
_CLOCK: Final = re.compile(r"(\d{1,2}):(\d{2})")
_UNIT: Final = re.compile(r"([$€£¥]?)(\d+(?:[.,:/-]\d+)*)([^\W\d_]+|%|°)?")
_ORDINALS: Final = frozenset({"st", "nd", "rd", "th"})
_CAPITAL: Final = re.compile(r"(?<![.!?:\n])(?<!^)[\s(\"'“]+([A-ZÀ-ÖØ-Þ][\w'’-]*)")
_INSTEAD: Final = re.compile(r"\s*,\s*(?:and |but )?not\b(?=\s+[\w-]+[.!]?\s*$)")  # "uses pnpm, not npm"
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+|\n+")
_OWNER: Final = re.compile(r"([\w-]+)'s?(?=\s)")
_LEADING: Final = re.compile(r"(?:\w+: )?([A-ZÀ-ÖØ-Þ][\w'’-]*)")  # behind the speaker's label
_PHRASES: Final = tuple((re.compile(rf"\b{pattern}\b"), plain) for pattern, plain in PHRASES)
_ANY_PHRASE: Final = re.compile("|".join(pattern.pattern for pattern, _ in _PHRASES))  # most texts hold none


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence as it is compared. `words` are in the order said, None where a word was that carries no meaning;
    `after` says which word follows on a marker; `active`: nothing in it turns the order of its names round;
    `meaning`: the words without their order."""

    numbers: Mapping[str, int]
    negated: bool
    names: tuple[str, ...]
    words: tuple[str | None, ...]
    after: Mapping[str, str]
    active: bool
    owners: frozenset[str]
    meaning: frozenset[str]


@lru_cache(maxsize=4096)
def read(text: str) -> Statement:
    """The sentence taken apart; kept, for each is compared with many."""
    return read_long(text)


def read_long(text: str) -> Statement:
    """The same of a text that is read once."""
    plain = unicodedata.normalize("NFKC", text.replace("°", " degrees ")).replace("\u2019", "'")
    plain = _INSTEAD.sub(" over ", plain)
    # A name at the very beginning shows by standing inside the sentence elsewhere: compare() knows both sides.
    names = {_stem(_own(name.casefold())) for name in _CAPITAL.findall(plain)} - {"i"}
    folded = fold(plain)
    if _ANY_PHRASE.search(folded):
        for pattern, instead in _PHRASES:
            folded = pattern.sub(instead, folded)
    tokens = [word for token in folded.split() for word in _expand(token)]
    numbers: Counter[str] = Counter()
    negations = 0
    words: list[str | None] = []
    named: list[str] = []
    after: dict[str, str] = {}
    marker: str | None = None
    for token in _join_times(tokens):
        if token in NEGATIONS:
            negations += 1
            continue
        if token in MARKERS:
            marker = token
            words.append(None)
            continue
        if not token.isalpha() and any(c.isdigit() for c in token):
            found = _number(token)
            numbers.update(found)
            words.append(None)
            word: str | None = found[0]
        elif token in UNITS:
            numbers[UNITS[token]] += 1
            words.append(None)
            continue
        elif token in DROPPED:
            words.append(None)
            continue
        else:
            word = SYNONYMS.get(token) or _stem(token)
            word = SYNONYMS.get(word, word)
            if word in NEGATING:
                negations += 1
                word = NEGATING[word]
            if word in LIGHT:
                words.append(None)
                continue
            words.append(word)
            if word in names and word not in named:
                named.append(word)
        if marker and word:
            after.setdefault(marker, word)
            marker = None
    active = not re.search(r"\b(?:is|are|was|were|by|be|been)\b|'s\b", folded)
    owners = frozenset(_stem(name) for name in _OWNER.findall(plain.casefold()))
    meaning = frozenset(word for word in words if word is not None)
    return Statement(dict(numbers), negations % 2 == 1, tuple(named), tuple(words), after, active, owners, meaning)


def repeats(gone: str, said: str) -> bool:
    """Whether `said` says again what `gone` said."""
    one, other = read(gone), read(said)
    if not agree(one, other) or _each_has_more(one.meaning, other.meaning):
        return False
    missing, extra = _unmatched(one.meaning, other.meaning)
    shared = len(one.meaning) - len(missing)
    if (missing and extra) or shared < 1 or shared + len(one.numbers) < 2:
        return False
    if missing:
        return len(missing) * 3 <= len(one.meaning) + 1 and not _qualifies(one, missing)
    return len(extra) * 2 <= max(2, len(one.meaning) + len(one.numbers)) and not _qualifies(other, extra)


def restates(one: str, other: str) -> bool:
    """Whether two sentences state one fact, neither of them more than the other."""
    if not (repeats(one, other) and repeats(other, one)):
        return False
    missing, extra = _unmatched(read(one).meaning, read(other).meaning)
    return not missing and not extra


def find_conflict(gone: str, stays: str) -> str | None:
    """What speaks against `stays` standing for `gone` too: a number, unit or name that only `gone` holds, another
    polarity, or names that changed places. None where no plain rule sees anything; that is no proof."""
    one, other = read(gone), read(stays)
    lost = Counter(one.numbers) - Counter(other.numbers)
    if lost:
        return f"it alone holds {', '.join(lost)}"
    if one.negated != other.negated:
        return "one of the two is negated"
    names = [name for name in one.names if name not in other.meaning]
    if names:
        return f"it alone names {', '.join(names)}"
    first, second = _LEADING.match(gone), _LEADING.match(stays)
    if first and second and _only_subject_differs(one, other, first[1], second[1]):
        return f"one begins with {first[1]}, the other with {second[1]}"
    return None if _in_place(one, other) else "who stands where differs"


def says(text: str, gone: str) -> bool:
    """Whether a sentence of a longer text says what `gone` said."""
    return any(repeats(gone, sentence) for sentence in _SENTENCE.split(text) if sentence.strip())


def agree(one: Statement, other: Statement) -> bool:
    """Whether nothing hard speaks against it: numbers, polarity, names, and who stands where."""
    if one.numbers != other.numbers or one.negated != other.negated:
        return False
    names = set(one.names) | set(other.names)
    if any((name in one.meaning) != (name in other.meaning) for name in names):
        return False
    return _in_place(one, other)


def _in_place(one: Statement, other: Statement) -> bool:
    """Whether names, and what follows on a marker, stand where they stand in the other."""
    names = set(one.names) | set(other.names)
    if any(other.after.get(marker, word) != word for marker, word in one.after.items()):
        return False
    if any({first, second} <= {*one.after, *other.after} and _turned(one, other, first, second)
           for first, second in OPPOSITES):  # fmt: skip
        return False
    ruled = any(word in names for marker, word in one.after.items() if marker in other.after)
    if one.active and other.active and len(names) > 1 and not ruled:
        order = [[word for word in dict.fromkeys(each.words) if word in names] for each in (one, other)]
        return order[0] == order[1]
    return True


def _only_subject_differs(one: Statement, other: Statement, first: str, second: str) -> bool:
    """Whether each has but its first word for itself, which could be a name there."""
    ours, theirs = one.meaning - other.meaning, other.meaning - one.meaning
    return ours == {_stem(_own(first.casefold()))} and theirs == {_stem(_own(second.casefold()))}


def _turned(one: Statement, other: Statement, first: str, second: str) -> bool:
    """Whether what stands after `first` in one stands after `second` in the other."""
    pairs = ((one.after, other.after), (other.after, one.after))
    return any(a.get(first) is not None and a.get(first) == b.get(second) for a, b in pairs)


def _unmatched(one: frozenset[str], other: frozenset[str]) -> tuple[set[str], set[str]]:
    """What each has alone, inflections and slips of the pen set aside."""
    missing, extra = set(one - other), set(other - one)
    for word in sorted(missing):
        twin = next((each for each in sorted(extra) if _akin(word, each)), None)
        if twin:
            missing.discard(word)
            extra.discard(twin)
    return missing, extra


def _each_has_more(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether each surely holds a word that the other has in no form: the cheap part of _unmatched."""
    fewer, more = sorted((one - other, other - one), key=len)
    return any(not any(_akin(word, each) for each in more) for word in fewer)


def _akin(one: str, other: str) -> bool:
    """One word in two forms (allergy, allergic) or with a letter wrong."""
    short, long = sorted((one, other), key=len)
    if len(short) >= 5 and len(long) - len(short) <= 3:
        common = next((n for n, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
        if common >= max(5, len(short) - 2):
            return True
    return len(short) >= 6 and len(long) - len(short) <= 1 and _one_slip(short, long)


def _one_slip(short: str, long: str) -> bool:
    """Whether one letter more, another, or two swapped make one of the other."""
    first = next((n for n, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    if len(short) < len(long):
        return short[first:] == long[first + 1 :]
    swapped = short[:first] + short[first : first + 2][::-1] + short[first + 2 :]
    return short[first + 1 :] == long[first + 1 :] or swapped == long


def _qualifies(statement: Statement, own: set[str]) -> bool:
    """Whether a word of `own` stands right beside another word that carries meaning, as part of its name."""
    words = statement.words
    subject = next((word for word in words if word is not None), None)
    for place, word in enumerate(words):
        if word not in own or word in FREQUENCY:
            continue
        verb = place + 1 < len(words) and words[place + 1] is None and words[place - 1] == subject
        if place and verb and subject not in statement.owners and word not in statement.names:
            continue  # "Kim drives an electric car"
        beside = [words[n] for n in (place - 1, place + 1) if 0 <= n < len(words)]
        if any(each is not None and each not in own and each not in FREQUENCY for each in beside):
            return True
    return False


def _expand(token: str) -> list[str]:
    if token in CONTRACTIONS:
        return CONTRACTIONS[token].split()
    if token.isalpha():
        return [NUMBERS.get(token, token)]
    for ending, full in ENDINGS:
        if token.endswith(ending) and len(token) > len(ending):
            return [token.removesuffix(ending), full]
    token = NUMBERS.get(_own(token), _own(token))
    return token.split("-") if "-" in token and not any(c.isdigit() for c in token) else [token]


def _own(token: str) -> str:
    """Without the genitive."""
    return token.removesuffix("s").removesuffix("'") if token.endswith(("'s", "'")) else token


def _join_times(tokens: list[str]) -> list[str]:
    """'3 am' and '3am' as '3:00'; the token after a bare number is looked at."""
    found: list[str] = []
    skip = False
    for place, token in enumerate(tokens):
        if skip:
            skip = False
            continue
        following = tokens[place + 1] if place + 1 < len(tokens) else ""
        if following in ("am", "pm") and _TIME.fullmatch(token + following):
            token, skip = token + following, True
        elif following == "o'clock":
            token, skip = f"{token}:00", True
        if whole := _TIME.fullmatch(token):
            hour = int(whole[1]) % 12 + (12 if whole[3] == "pm" else 0)
            token = f"{hour}:{whole[2] or '00'}"
        elif clock := _CLOCK.fullmatch(token):
            token = f"{int(clock[1])}:{clock[2]}"
        found.append(token)
    return found


def _number(token: str) -> list[str]:
    """A number and its unit: '$20' → 20, usd; what is no plain number (v2.1, x86) stays whole."""
    whole = _UNIT.fullmatch(token)
    if whole is None:
        return [token.removeprefix("v") if re.fullmatch(r"v\d[\d.]*", token) else token]
    money, digits, unit = whole.groups()
    digits = re.sub(r"(?<=\d),(?=\d{3}\b)", "", digits)
    found = [digits]
    if money:
        found.append(UNITS[money])
    if unit and unit not in _ORDINALS:
        found.append(UNITS.get(unit, unit))
    return found


@lru_cache(maxsize=16384)
def _stem(word: str) -> str:
    """A light stem: plurals, -ing, -ed, -ly and a closing e go; short words stay."""
    if len(word) > 4 and word.endswith("ies"):
        word = word[:-3] + "y"
    elif len(word) > 4 and word.endswith(("ches", "shes", "sses", "xes", "zes")):
        word = word[:-2]
    elif len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed", "ly"):
        rest = word.removesuffix(ending)
        if rest != word and len(rest) >= 3 + (ending == "ly") and re.search("[aeiouy]", rest):
            word = rest
            if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
                word = word[:-1]
            break
    return word[:-1] if len(word) > 3 and word.endswith("e") else word
