"""Two turns read together: a proposal that was taken up, a question that was answered."""

from __future__ import annotations

import re
from typing import Final

from argus_memory.models.extractive_drops import count_words, is_question
from argus_memory.models.extractive_sentences import split_sentences

ANSWER_MAX_WORDS: Final = 25  # a longer reply speaks for itself
_ACCEPTING: Final = re.compile(
    r"^\W*(?:yes|yep|yeah|sure|ok|okay|sounds good|looks good|lgtm|perfect|great|good|go ahead|go for it|"
    r"do (?:it|that|so)|"
    r"please do|proceed|approved?|agreed|ship it|make it so|let'?s (?:do|go)|exactly|absolutely|"
    r"(?:implement|create|build|apply|make|start|run|execute|write|add) (?:it|this|that|them|the (?:plan|"
    r"beads|tasks|changes|spec)))\b",
    re.IGNORECASE,
)
_REFUSING: Final = re.compile(r"\b(?:but|no|not|don'?t|instead|rather|however|wait|except)\b", re.IGNORECASE)
_PERMISSION: Final = re.compile(
    r"\b(?:proceed|continue|go ahead|start|ready|anything else|help (?:you )?with|work on|like me to|"
    r"want me to|shall i|should i (?:proceed|continue|go)|"
    r"dive deeper|more detail|look good|make sense|get started)\b",
    re.IGNORECASE,
)


def is_acceptance(reply: str) -> bool:
    """True when a person's reply takes up what was proposed, without an objection."""
    return bool(_ACCEPTING.match(reply) and count_words(reply) <= ANSWER_MAX_WORDS and not _REFUSING.search(reply))


def open_question(said_before: str) -> str | None:
    """The question an assistant's turn ends with, None when it asks nothing or only for leave to go on."""
    sentences = split_sentences(said_before)
    if not sentences or not is_question(sentences[-1].text, asked_by_person=False):
        return None
    question = " ".join(sentences[-1].text.split())
    return None if _PERMISSION.search(question) or len(question) > 300 else question


def is_answer(reply: str) -> bool:
    """True when a reply to a question is short enough to be its answer and is no question itself."""
    words = count_words(reply)
    return 1 <= words <= ANSWER_MAX_WORDS and not is_question(reply.strip(), asked_by_person=True)
