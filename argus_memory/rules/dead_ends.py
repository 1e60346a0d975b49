"""Which notes tell of a way that was tried and led nowhere: "tried X, failed because Y". By cues, English, pure.

Such a note is kept out of ordinary recall, as a procedure is, and answers `before_you_try`. A failure that somebody
only reports ("the build fails") is none: it must tell of an attempt, or say outright that a way does not work.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

DEAD_END: Final = "dead-end"  # the tag

_FAILED = (
    r"(?:fail(?:ed|s)?|did ?n[o']t (?:work|help|fix|scale|pay off|compile|build)|does ?n[o']t (?:work|help|scale)"
    r"|do(?:es)? not (?:work|help|scale)|did not (?:work|help|fix|scale|compile|build)|no luck|to no avail|gave up"
    r"|broke|breaks|turned out (?:to be )?(?:too|not|worse|wrong|a dead|impossible)|was(?: far| much)? too"
    r"|made (?:it|things|everything) (?:worse|slower)|had to (?:revert|roll|undo|back)|reverted|rolled back"
    r"|ran out of|without success|led nowhere|crash(?:ed|es)|hung|timed out|not worth)"
)
_ATTEMPT = (
    r"(?:tried|try(?:ing)?|attempt(?:ed|s)?|experimented|tested|switch(?:ed|ing) to|mov(?:ed|ing) to|us(?:ed|ing)"
    r"|upgrad(?:ed|ing)|replac(?:ed|ing)|approach)"
)
_DEAD: Final = (
    re.compile(rf"\b{_ATTEMPT}\b.*\b{_FAILED}\b", re.IGNORECASE | re.DOTALL),
    re.compile(rf"\b{_FAILED}\b.{{0,60}}\b(?:after|when|while) (?:we|i)? ?{_ATTEMPT}\b", re.IGNORECASE | re.DOTALL),
    re.compile(r"\bdead[ -]end\b|\bled nowhere\b", re.IGNORECASE),
    re.compile(
        r"\b(?:do not|don't|never) (?:try|bother|attempt)\b.*\b(?:because|since|it|,)", re.IGNORECASE | re.DOTALL
    ),
    re.compile(r"\bno(?:t)? (?:use|point) (?:in )?\w+ing\b", re.IGNORECASE),
)
# What was tried, and works.
_SUCCESS: Final = re.compile(
    r"\b(?:now (?:it )?works|works now|it worked|fixed it|solved it|and it (?:helped|worked)|passes now)\b",
    re.IGNORECASE,
)


def is_dead_end(text: str) -> bool:
    """Whether the sentence tells of a way that led nowhere."""
    return not _SUCCESS.search(text) and any(cue.search(text) for cue in _DEAD)


def with_dead_end(tags: Sequence[str], content: str) -> list[str]:
    """The tags of a note, with DEAD_END where its content tells of one."""
    plain = [tag for tag in tags if tag != DEAD_END]
    return [*plain, DEAD_END] if is_dead_end(content) else plain
