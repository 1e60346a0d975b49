"""Which notes tell of a way that was tried and led nowhere: "tried X, failed because Y". By cues, English, pure.

Such a note is kept out of ordinary recall, as a procedure is, and answers `before_you_try`. So a fact that is taken
for one is hidden from whoever needs it, and the rule asks for both halves: an attempt of one's own, and its outcome.

    attempt   "we tried", "Tried", "moving to X" as the subject of its sentence, "the workaround"
    outcome   "did not help", "had to roll back", "no luck"; never within the reason of something else: "we use A
              because B failed" tells why A is used

A failure that somebody only reports ("the build fails") is none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

DEAD_END: Final = "dead-end"  # the tag

_NOT: Final = r"(?:did ?n[o']t|did not|does ?n[o']t|does not|never|wo ?n't|will not|could ?n[o']t|could not)"
# What an outcome says of the way itself.
_LED_NOWHERE: Final = (
    rf"(?:{_NOT} (?:really |even )?(?:work(?:s|ed)?|help(?:s|ed)?|fix(?:es|ed)?|solve|scale|compile|build)"
    r"|(?:did not|didn't) (?:pay off|last)|made no difference|(?:no|without(?: any)?) (?:luck|effect|success)"
    r"|to no avail|led nowhere|dead[ -]end"
    r"|turned out (?:to be )?(?:too|not|worse|wrong|impossible|useless|overkill)"
    r"|(?:was|were|proved) (?:overkill|hopeless|useless|impossible|not worth|in vain)"
    r"|made (?:it|things|everything|that|this) (?:worse|slower|bigger)|not worth"
    r"|(?:had|have) to (?:revert|undo|(?:roll|back|go|turn|take|switch) (?:it |that |them |this )?(?:back|out|off))"
    r"|rolled (?:it |that )?back|(?:so|then|but) (?:(?:we|i|they) )?(?:have )?(?:reverted|undid|went back)"
    r"|(?:and|,) (?:reverted|undid|went back))"
)
# What only tells of a failure where somebody says that he tried.
_WENT_WRONG: Final = (
    r"(?:fail(?:ed|s)(?=$|[\s.,;:!]*(?:$|[.,;:!]|on |with |in |at |for |because |since |to |when |as |again"
    r"|every|badly|there|once|too|both|twice))|refuse[sd]|rejects?(?:ed)?|broke|breaks|crash(?:ed|es)"
    r"|h[au]ngs?|hanging|timed out|times out|locked|ran out of|was(?: far| much| way)? too|were too|came back"
    r"|got worse|corrupt(?:s|ed))"
)
_SELF: Final = r"(?:we|i|they|you|the team)(?:'ve| have|'d| had)?(?: also| already| once| even| then| first)?"
# After a label ("User: ") or the end of a sentence.
_START: Final = r"(?:^|[.;!?] )(?:\w+: )?(?:so |then |also )?"
_ANY: Final = r"(?:.{0,240}?[\s,;:])"
# Looked for outside of reasons and conditions.
_TRIED: Final = tuple(
    re.compile(cue, re.IGNORECASE | re.DOTALL)
    for cue in (
        # We tried it, and it went wrong; somebody else tried it, and it led nowhere.
        rf"(?:{_START}|\b{_SELF} )(?:tried|attempted|experimented|tested)\b{_ANY}(?:{_LED_NOWHERE}|{_WENT_WRONG})",
        rf"\b(?:tried|attempted|experimented)\b{_ANY}{_LED_NOWHERE}",
        # We did it, and undid it.
        rf"\b{_SELF} (?:switched|moved|migrated|changed|upgraded|downgraded|replaced|used(?! to)|ran|added)\b{_ANY}"
        rf"(?:{_LED_NOWHERE}|but (?:it|that|this|they) {_WENT_WRONG})",
        # Doing it broke something: the doing is the subject of its own clause.
        rf"{_START}\w+ing\b[^,;:.]{{0,80}}? (?:{_LED_NOWHERE}|failed|broke|crashed|timed out)\b(?! down)",
        r"\b(?:approach|attempts?|experiment|workaround|trick|idea)\b[^,;:.]{0,60}? "
        rf"(?:{_LED_NOWHERE}|{_WENT_WRONG})",
        rf"(?:{_START}|\b{_SELF} )(?:gave up on|gave up (?=\w+ing)|abandoned)\b",
    )
)
# Says so by itself.
_SAID: Final = tuple(
    re.compile(cue, re.IGNORECASE | re.DOTALL)
    for cue in (
        r"\bdead[ -]end\b",
        rf"{_START}(?:do not|don't|never) (?:try|bother|attempt)\b.*(?:\b(?:because|since|it|they)\b|,)",
        rf"{_START}(?:there is |there's |it is |it's )?no(?:t)? (?:use|point|worth)(?: in)? \w+ing\b",
    )
)
# A reason or a condition: what fails there is not what was tried. As far as its own clause goes.
_REASON: Final = re.compile(
    r"\b(?:because|since|after|when|whenever|while|where|which|that|if|as|until)\b"
    r"(?:(?! (?:and|but|so|we|i) )[^,;:.])*",
    re.IGNORECASE,
)
# What was tried, and works.
_SUCCESS: Final = re.compile(
    r"\b(?:now (?:it )?works|works now|it worked|fixed it|solved it|and it (?:helped|worked)|passes now)\b",
    re.IGNORECASE,
)


_GOES_ON: Final = re.compile(
    r"(?:but |and |so |then )?(?:it|that|this|they|no luck|no effect|no success|without|did ?n[o']t|did not"
    r"|failed|reverted|rolled back|(?:we|i) (?:had to|reverted|undid|gave up|went back|rolled))\b",
    re.IGNORECASE,
)


def is_told_on(sentence: str, following: str) -> bool:
    """Whether the second sentence says what became of the attempt of the first: one is nothing without the other."""
    return bool(_GOES_ON.match(following)) and not is_dead_end(sentence) and is_dead_end(f"{sentence} {following}")


def is_dead_end(text: str) -> bool:
    """Whether the sentence tells of a way that led nowhere."""
    if _SUCCESS.search(text):
        return False
    told = _REASON.sub(" ", text)
    return any(cue.search(told) for cue in _TRIED) or any(cue.search(text) for cue in _SAID)


def with_dead_end(tags: Sequence[str], content: str) -> list[str]:
    """The tags of a note, with DEAD_END where its content tells of one."""
    plain = [tag for tag in tags if tag != DEAD_END]
    return [*plain, DEAD_END] if is_dead_end(content) else plain
