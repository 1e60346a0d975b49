"""The words of a to-do that have to come again in what says it is done: stems without fillers and times. Pure."""

from __future__ import annotations

import re
from typing import Final

_WORD: Final = re.compile(r"[\w][\w.+#-]*\w|\w", re.UNICODE)
_STOP_TEXT: Final = """
    a an the this that these those my our your his her its their i me we us you he she it they to of in on at by
    for from with and or but so as is are was were be been being am do does did done has have had will would can
    could should must need needs ought shall may might not no yes also still just really then first again now soon
    up out off into onto about over under some any all both each please there here what which who when where how
    than too very more most before after until till today tomorrow tonight yesterday monday tuesday wednesday
    thursday friday saturday sunday week weeks month months year years day days next end noon morning evening
    later once
"""
_STOP: Final = frozenset(_STOP_TEXT.split())
# Past forms whose stem no suffix rule gives.
IRREGULAR: Final = {
    "bought": "buy", "brought": "bring", "built": "build", "caught": "catch", "chosen": "choose", "chose": "choose",
    "cut": "cut", "done": "do", "did": "do", "drawn": "draw", "drew": "draw", "driven": "drive", "found": "find",
    "fixed": "fix", "gave": "give", "given": "give", "gone": "go", "got": "get", "gotten": "get", "held": "hold",
    "kept": "keep", "led": "lead", "left": "leave", "made": "make", "met": "meet", "moved": "move", "paid": "pay",
    "put": "put", "ran": "run", "run": "run", "read": "read", "rebuilt": "rebuild", "rewritten": "rewrite",
    "rewrote": "rewrite", "said": "say", "sent": "send", "set": "set", "shown": "show", "sold": "sell",
    "split": "split",
    "spoken": "speak", "spoke": "speak", "swept": "sweep", "taken": "take", "took": "take", "taught": "teach",
    "thrown": "throw", "told": "tell", "went": "go", "withdrawn": "withdraw", "written": "write", "wrote": "write",
}  # fmt: skip
# A to-do begins with what to do; these begin a remark.
NO_VERBS: Final = frozenset(
    {"be", "been", "not", "never", "have", "the", "a", "an", "it", "that", "this", "is", "are"}
)
_DOUBLED: Final = re.compile(r"([bdgklmnprt])\1$")


def stem(word: str) -> str:
    """A word without its common English endings; the same for renew, renews, renewed and renewing."""
    word = word.lower()
    if word in IRREGULAR:
        return _ending(IRREGULAR[word])
    for ending in ("ing", "ied", "ed", "ies", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            base = word[: -len(ending)]
            if ending in ("ied", "ies"):
                return base + "y"
            if ending in ("ing", "ed"):
                base = _DOUBLED.sub(r"\1", base)
            return _ending(base)
    return _ending(word)


def _ending(base: str) -> str:
    """Without a last e, which the endings swallow; with y as it stands."""
    return base[:-1] if base.endswith("e") and len(base) > 3 else base


def words_in(text: str) -> list[str]:
    return [word.strip(".-") for word in _WORD.findall(text.lower())]


def content_words(text: str) -> frozenset[str]:
    """Stems that tell one to-do from another."""
    return frozenset(stem(word) for word in words_in(text) if word not in _STOP and len(word) > 1)


def is_past(word: str) -> bool:
    """Whether the word may be a past form: renewed, sent, rewritten."""
    word = word.lower()
    return word in IRREGULAR or (word.endswith("ed") and len(word) > 4)
