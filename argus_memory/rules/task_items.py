"""To-dos in what was said, by cue: which sentence names one, what it asks for, and until when. Pure.

A to-do is something a person or a machine still has to do: "I must renew the certificate by Friday", "TODO: rotate
the logs", "- [ ] order the filter", "don't forget to call the plumber", "the script needs to be rewritten". A rule
about how things have to be ("the port must be a number"), a question, a condition, what is not needed and what had to
be done are none.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from datetime import date, datetime
from typing import Final

from argus_memory.rules.due_dates import find_due
from argus_memory.rules.same_text import fold
from argus_memory.rules.speaker import SPEAKER
from argus_memory.rules.task_words import NO_VERBS, content_words, stem, words_in

LONGEST: Final = 300  # characters; a longer sentence is a paragraph without full stops
FEWEST_WORDS: Final = 2  # "fix it" names nothing that could be found again

_FLAGS: Final = re.IGNORECASE | re.VERBOSE
_BOX: Final = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+\[(?P<mark>[ xX])\]\s+(?P<what>.+)$")
_MARK: Final = re.compile(
    r"^\W*(?:todo|to-do|to\sdo|fixme|action\sitem|open\spoint|still\sopen|still\sto\sdo|reminder)\b"
    r"\s*[:\-–]\s*(?P<what>.+)$",
    re.IGNORECASE,
)
_OUGHT: Final = (
    r"(?:must|needs?\sto|ha(?:ve|s)\sto|should|ought\sto|(?:have|has|'ve)\s(?:yet|still)\sto|gotta"
    r"|(?:'ll|will)\shave\sto)"
)
_CUES: Final = tuple(
    re.compile(pattern, _FLAGS)
    for pattern in (
        rf"\b(?:I|we|somebody|someone|the\suser|you)\s(?:(?:also|still|really|then|first)\s)*{_OUGHT}\s"
        r"(?:(?:also|still|then)\s)*(?P<what>\w.+)$",
        r"\b(?:don'?t|do\snot|never)\sforget\sto\s(?P<what>\w.+)$",
        r"^(?:please\s|and\s|also\s)*(?:remember|remind\s(?:me|us))\sto\s(?P<what>\w.+)$",
        r"\bremind\s(?:me|us)\s(?:later\s|tomorrow\s|again\s)*(?:to|about)\s(?P<what>\w.+)$",
        r"^(?P<what>(?:the|our|my|this|that|all|both|these|those|its?)\s[^,;:]{2,80}?\s(?:still\s)?"
        r"(?:needs?|has|have|must|ought)\s(?:still\s)?(?:to\s)?be\s\w+(?:ed|en|t|wn|ne|de|id|un)\b.*)$",
    )
)
# What makes a sentence with a cue none: a question, a condition, a requirement of form, the past.
_NOT: Final = re.compile(
    r"""
        \?\s*$
        | ^\W*(?:if|when|whenever|unless|in\scase|to\s\w+,|whether|should\s(?:i|we|you))\b
        | \b(?:don'?t|doesn'?t|do\snot|does\snot|won'?t|will\snot|no\slonger|never|didn'?t|did\snot)\s
          (?:need|have)\sto\b
        | \b(?:must|should|ought)(?:n'?t|\snot|\snever)\b
        | \b(?:needs?|have|has|must|should)\s(?:to\s)?(?:be\s(?:able|careful|aware|noted|possible|an?|the|one|of|in
              |at|on|less|more|unique|valid|set\sto)|have\sbeen|match|contain|equal|exist|remain|stay|look|know|see
              |understand|say|note|admit|think|wait\sfor\syou)\b
        | \b(?:had\sto|should\shave|must\shave|would\s(?:need|have)\sto|might|maybe|perhaps|could)\b
        | \b(?:always|every\stime|whenever)\b
    """,
    _FLAGS,
)
# In a conversation with an agent "we need to fix the test" is the work of the moment: only these are kept for later.
_OWN: Final = re.compile(
    r"\bI\s(?:(?:also|still|really|then|first)\s)*(?:must|have\sto|(?:'ll|will)\shave\sto|have\s(?:yet|still)\sto)\b"
    r"|\bforget\sto\b|\bremind\s(?:me|us)\b|^(?:please\s|and\s|also\s)*remember\sto\b",
    re.IGNORECASE,
)
_YOU: Final = re.compile(r"\byou\s(?:(?:also|still|really|then|first)\s)*" + _OUGHT, re.IGNORECASE)
_PASSIVE: Final = re.compile(
    r"^(?P<thing>.+?)\s(?:still\s)?(?:needs?|has|have|must|ought)\s(?:still\s)?(?:to\s)?be\s(?P<verb>\w+)",
    re.IGNORECASE,
)
_SENTENCES: Final = re.compile(r"(?<=[.!?])\s+(?=[\"'(\[]?[A-ZÄÖÜ0-9])|\n+")
_CODE: Final = re.compile(r"^\s*(?:```|~~~|\$ |>>> |\||#!|//|/\*|import |from |def |class |\{|\}|<)")
_FENCE: Final = re.compile(r"^\s*(?:```|~~~)")
_TAIL: Final = re.compile(r"[\s.!;:,]+$")


@dataclass(frozen=True, slots=True)
class ToDo:
    """What is to be done, as said (`quote` is a slice of the text), and by which day if one is named."""

    what: str
    quote: str
    due_on: date | None = None


def find_to_dos(
    text: str, said_at: datetime, *, speaker: str | None = None, own_words: bool = False
) -> list[ToDo]:
    """Every to-do the text names, in its order; `speaker` is "user", "assistant" or None (a note, a document).

    What an assistant tells the person to do is one; what it says that it has to do itself is its work of the
    moment, not a to-do. `own_words`: a turn as it was said, not what was noted of it; of that only what the person
    puts off counts: "I must", "remind me", a list box, or any cue with a day.
    """
    found: dict[str, ToDo] = {}
    for quote in sentences_of(text):
        what = _what(quote, speaker)
        if what is None:
            continue
        due = find_due(quote, said_at)
        if own_words and due is None and not (_OWN.search(quote) or _MARK.match(quote) or _BOX.match(quote)):
            continue
        found.setdefault(fold(what), ToDo(what, quote, due))
    return list(found.values())


def sentences_of(text: str) -> list[str]:
    """Sentences and list items of prose; code blocks are left out."""
    parts: list[str] = []
    fenced = False
    for line in text.splitlines():
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and not _CODE.match(line):
            parts += (part.strip() for part in _SENTENCES.split(line))
    return [part for part in parts if part and len(part) <= LONGEST]


def task_item_uid(what: str, project: str | None) -> str:
    """32 hexadecimal digits: the same to-do of the same project, however often it is said."""
    words = " ".join(sorted(content_words(what)))
    return hashlib.sha256(f"{words}\n{project or ''}".encode("utf-8", "surrogatepass")).hexdigest()[:32]


def verb_of(what: str) -> str:
    """The stem of what is to be done: "renew" of "renew the certificate" and of "the certificate must be renewed"."""
    if match := _PASSIVE.match(what):
        return stem(match["verb"])
    words = words_in(what)
    return stem(words[0]) if words else ""


def _what(sentence: str, speaker: str | None) -> str | None:
    plain = SPEAKER.sub("", sentence)
    if box := _BOX.match(plain):
        return _tidy(box["what"]) if box["mark"] == " " else None
    if mark := _MARK.match(plain):
        return _tidy(mark["what"])
    if _NOT.search(plain):
        return None
    for cue in _CUES:
        match = cue.search(plain)
        if match is None:
            continue
        if speaker == "assistant" and not _YOU.search(plain) and not _PASSIVE.match(match["what"]):
            return None
        return _tidy(match["what"])
    return None


def _tidy(what: str) -> str | None:
    what = _TAIL.sub("", re.sub(r"[*_`]{1,3}", "", what)).strip()
    words = content_words(what)
    begins = what.split(maxsplit=1)[0].lower() if what else ""
    if len(words) < FEWEST_WORDS or (begins in NO_VERBS and not _PASSIVE.match(what)):
        return None
    return what
