"""Two texts beside each other, with the words marked that only one of them holds. Pure."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import Final

from markupsafe import Markup

from argus_api.ui.words import show_text

WORDS_MAX: Final = 600  # of a text: beyond, comparing costs more than it tells
CHARS_MAX: Final = 4000
_PARTS: Final = re.compile(r"\s+|\w+|[^\w\s]")
_DEL, _END_DEL = Markup("<del>"), Markup("</del>")
_INS, _END_INS = Markup("<ins>"), Markup("</ins>")


def differences(old: str, new: str) -> tuple[Markup, Markup]:
    """Both texts ready to be shown: `<del>` around what only the old one says, `<ins>` around what only the new one
    does. Long texts, and texts with nothing in common, stand unmarked; very long ones are cut, the notes show all."""
    one, two = (
        _PARTS.findall(show_text(text if len(text) <= CHARS_MAX else f"{text[:CHARS_MAX]} …")) for text in (old, new)
    )
    old_words, new_words = ([part.casefold() for part in parts] for parts in (one, two))
    matcher = SequenceMatcher(None, old_words, new_words, autojunk=False)
    if max(len(one), len(two)) > WORDS_MAX or not any(
        part.isalnum() for block in matcher.get_matching_blocks() for part in one[block.a : block.a + block.size]
    ):
        return Markup("").join(one), Markup("").join(two)
    gone: list[str] = []
    come: list[str] = []
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            gone += one[a:b]
            come += two[c:d]
            continue
        if b > a:
            gone += [_DEL, *one[a:b], _END_DEL]
        if d > c:
            come += [_INS, *two[c:d], _END_INS]
    return Markup("").join(gone), Markup("").join(come)
