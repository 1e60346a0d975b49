"""Whether something said later shows that a to-do is done, or that it is not. Pure.

    open ──claim──▶ claimed-done ──a second, independent sign──▶ verified
      │  ╲__a commit or a run that says so______________________▶ (both steps at once)
      └──no sign for long──▶ stale ◀──no second sign for long── claimed-done

A sentence is a sign when it holds most of the to-do's words and, as a past form, its verb ("renewed the
certificate"), or a word of completion ("the certificate is done", "- [x] renew the certificate"). "Not yet" takes a
claim back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final, Literal

from argus_memory.rules.task_items import sentences_of, verb_of
from argus_memory.rules.task_words import content_words, is_past, stem, words_in

Status = Literal["open", "claimed-done", "verified", "stale", "dropped"]
Evidence = Literal["note", "turn", "document", "run", "commit", "person", "time"]

OVERLAP: Final = 0.6  # of the to-do's words beside its verb; below it "the certificate" of another host counted
STALE_AFTER: Final = timedelta(days=60)  # without a sign; longer than a quarter's planning would bury real ones
STALE_AFTER_DUE: Final = timedelta(days=14)
HARD: Final = frozenset({"run", "commit"})  # made by a machine, not said

_DONE: Final = re.compile(
    r"\b(?:done|finished|completed?|resolved|closed|works\snow|in\splace|taken\scare\sof)\b|✅|✔", re.IGNORECASE
)
_BOX_DONE: Final = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+\[[xX]\]\s")
_OPEN_STILL: Final = re.compile(
    r"\b(?:not\s(?:yet|done|finished)|n't\s(?:yet\s|been\s)?|has\sn[o']t|still\s(?:have|has|need|needs|must|to\sdo|open|pending)|"
    r"yet\sto|isn'?t|wasn'?t|haven'?t|hasn'?t|never|failed\sto|couldn'?t|could\snot|not)\b",
    re.IGNORECASE,
)
_FUTURE: Final = re.compile(
    r"\?\s*$|\b(?:will|would|'ll|going\sto|shall|should|must|need(?:s)?\sto|have\sto|has\sto|plan\sto|to\sbe|"
    r"once|when|after|if|until|before\swe|let\sme|want\sto|remember\sto)\b",
    re.IGNORECASE,
)
# As `git commit` prints it.
_COMMIT: Final = re.compile(
    r"\[[\w./-]+(?:\s\(root-commit\))?\s(?P<hash>[0-9a-f]{7,40})\]\s(?P<message>.+)$", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Sign:
    """What was found: done or still open, the words that say so, and how much of the to-do they hold (0 to 1)."""

    done: bool
    quote: str
    score: float
    commit: str | None = None


@dataclass(frozen=True, slots=True)
class Move:
    """A change of status; `to` lists the steps in order."""

    to: tuple[Status, ...]


def find_sign(what: str, text: str) -> Sign | None:
    """The strongest sign about the to-do `what` in a later text; a sign of done before one of still open."""
    verb = verb_of(what)
    rest = content_words(what) - {verb}
    signs = [sign for sentence in sentences_of(text) if (sign := _sign_in(sentence, verb, rest))]
    for match in _COMMIT.finditer(text):
        share = _share(rest | {verb}, content_words(match["message"]))
        if share >= OVERLAP:
            signs.append(Sign(True, match.group(0).strip(), share, match["hash"]))
    return max(signs, key=lambda sign: (sign.commit is not None, sign.done, sign.score), default=None)


def decide_move(
    status: Status, sign: Sign, evidence: Evidence, *, source: str, claimed_by: Iterable[str]
) -> Move | None:
    """What a sign does to a to-do; `source` names the raw item (or run, commit) behind it, `claimed_by` those that
    claimed it before. None: it changes nothing."""
    if status in ("verified", "dropped"):
        return None  # a person's word and a proof stand
    if not sign.done:
        return Move(("open",)) if status in ("claimed-done", "stale") else None
    if evidence in HARD or sign.commit is not None:
        return Move(("verified",) if status == "claimed-done" else ("claimed-done", "verified"))
    if status == "claimed-done":
        return None if source in set(claimed_by) else Move(("verified",))
    return Move(("claimed-done",))


def is_stale(status: Status, last_sign_at: datetime, due_on: date | None, now: datetime) -> bool:
    """Nobody spoke of it for long, or its day is past for two weeks and nothing came."""
    if status not in ("open", "claimed-done"):
        return False
    if due_on is not None:
        after_due = datetime.combine(due_on, datetime.min.time(), now.tzinfo) + STALE_AFTER_DUE
        return now > after_due and now - last_sign_at > STALE_AFTER_DUE
    return now - last_sign_at > STALE_AFTER


def _sign_in(sentence: str, verb: str, rest: frozenset[str]) -> Sign | None:
    share = _share(rest, content_words(sentence))
    if share < OVERLAP or (len(rest) > 2 and len(rest & content_words(sentence)) < 2):
        return None
    boxed = _BOX_DONE.match(sentence) is not None
    words = words_in(sentence)
    has_verb = any(stem(word) == verb for word in words)
    past_verb = any(is_past(word) and stem(word) == verb for word in words)
    if not boxed and _OPEN_STILL.search(sentence):
        return Sign(False, sentence, share) if has_verb else None
    if boxed or ((past_verb or _DONE.search(sentence)) and not _FUTURE.search(sentence)):
        return Sign(True, sentence, share)
    return None


def _share(wanted: frozenset[str], found: frozenset[str]) -> float:
    return len(wanted & found) / len(wanted) if wanted else 0.0
