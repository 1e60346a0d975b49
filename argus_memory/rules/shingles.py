"""When a document is nearly one that was captured before: MinHash over runs of nine characters, in bands.

Two fetches of one page share nearly all runs of characters; the share of equal MinHashes estimates the share of equal
runs (Jaccard), with an error of 0.03. A run that repeats counts as often as it stands there. Documents whose numbers
differ never count as near: a report of next week differs in nothing else. Short texts do not count either: in a
sentence each letter may matter.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

RUN: Final = 9  # characters; a changed one costs nine runs
MIN_CHARS: Final = 200
HASHES: Final = 128
BANDS: Final = 16  # of eight hashes: a pair at 0.9 meets in one of them with p = 0.9999, at 0.5 with p = 0.06
NEAR: Final = 0.9
SAMPLED_FROM: Final = 200_000  # runs; of longer documents every sixteenth run counts, chosen by its hash

_NUMBER: Final = re.compile(r"\d+(?:[.,:]\d+)*")
_MASK: Final = 2**64 - 1


def _splitmix(count: int) -> list[int]:
    """Fixed pseudo-random 64-bit numbers: stored signatures must mean the same for ever."""
    state, out = 0x5EED, []
    for _ in range(count):
        state = (state + 0x9E3779B97F4A7C15) & _MASK
        mixed = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _MASK
        out.append(mixed ^ (mixed >> 31))
    return out


_NUMBERS: Final = _splitmix(2 * HASHES)
_FACTORS: Final = [np.uint64(number | 1) for number in _NUMBERS[:HASHES]]
_TERMS: Final = [np.uint64(number) for number in _NUMBERS[HASHES:]]
_BASE: Final = np.uint64(0x100000001B3)
_HALF: Final = np.uint64(32)


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """`signature`: HASHES numbers below 2^32; `bands`: BANDS keys, two documents that share none are not near."""

    bands: tuple[int, ...]
    signature: tuple[int, ...]
    shingles: int


def fingerprint(text: str) -> Fingerprint | None:
    """None for a text shorter than MIN_CHARS, white space folded."""
    plain = " ".join(text.casefold().split())
    if len(plain) < MIN_CHARS:
        return None
    runs = _runs(plain)
    count = len(runs)
    if count > SAMPLED_FROM:
        runs = runs[runs % np.uint64(16) == 0]
    runs = _counted(runs)
    hashes = [int(((runs * factor + term) >> _HALF).min()) for factor, term in zip(_FACTORS, _TERMS, strict=True)]
    numbers = repr(sorted(Counter(_NUMBER.findall(plain)).items()))
    size = HASHES // BANDS
    bands = [_key(f"{band}:{hashes[band * size : (band + 1) * size]}:{numbers}") for band in range(BANDS)]
    return Fingerprint(tuple(bands), tuple(hashes), count)


def similarity(one: Sequence[int], other: Sequence[int]) -> float:
    """The share of equal hashes of two signatures, 0 to 1."""
    return sum(left == right for left, right in zip(one, other, strict=True)) / HASHES


def _runs(plain: str) -> NDArray[np.uint64]:
    """One hash for each run of RUN characters, in order."""
    points = np.frombuffer(plain.encode("utf-32-le", "replace"), dtype=np.uint32).astype(np.uint64)
    last = len(points) - RUN + 1
    runs = np.zeros(last, dtype=np.uint64)
    for offset in range(RUN):
        runs = runs * _BASE + points[offset : offset + last]
    runs ^= runs >> np.uint64(29)
    return runs * np.uint64(_NUMBERS[0] | 1)


def _counted(runs: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The second occurrence of a run, the third and so on become runs of their own: a set as good as the multiset."""
    ordered = np.sort(runs)
    begins = np.concatenate(([True], ordered[1:] != ordered[:-1]))
    places = np.arange(len(ordered))
    times = places - np.maximum.accumulate(np.where(begins, places, 0))
    counted: NDArray[np.uint64] = (ordered ^ times.astype(np.uint64)) * _FACTORS[0] + _TERMS[0]
    return counted ^ (counted >> np.uint64(31))


def _key(text: str) -> int:
    """63 bits, as a bigint holds them."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big") >> 1
