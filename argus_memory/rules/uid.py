"""A note's identity: the same fact of the same kind in the same project, whenever and however often it is made.

The uid is the first 32 hexadecimal digits of SHA-256 over category, folded text (`same_text.fold`: NFKC, case,
white space and punctuation) and project, each on a line of its own. It is computed once, when a note is made,
and never again: editing a note keeps its uid, so that history and decisions stay with it.
"""

from __future__ import annotations

import hashlib

from argus_memory.rules.same_text import fold


def note_uid(category: str, content: str, project: str | None) -> str:
    """32 hexadecimal digits; `project` None (unknown) and "" are the same."""
    return _digits("\n".join((category, fold(content), project or "")))


def text_key(content: str) -> str:
    """32 hexadecimal digits of the folded text alone: what a decision binds besides the uid."""
    return _digits(fold(content))


def _digits(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
