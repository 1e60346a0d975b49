"""What is never a note: questions, small talk, announcements of what comes next, lead-ins, place-holders."""

from __future__ import annotations

import re
from typing import Final

MIN_WORDS: Final = 3
MAX_CHARS: Final = 600  # a longer "sentence" is a paste without marks

_QUESTION_END: Final = re.compile(r"[?？][\"'”’)\]*_」』）]*$")
_ASKING: Final = re.compile(
    r"^(?:(?:hey|hi|hello|ok|okay|so|and|but|also|please|great|perfect|thanks)\b[,!.]?\s+)*"
    r"(?:(?:can|could|would|will) you\b|(?:what|why|how|when|where|which|who|whose)(?:'s|\b(?! (?:i|we) ))|"
    r"(?:is|are|was|were|do|does|did|should|shall|may|have|has) (?:it|this|that|there|you|we|i|the|they|"
    r"he|she)\b|"
    r"any (?:idea|chance|thoughts)|tell me|show me|explain|describe)",
    re.IGNORECASE,
)
_ADDRESS: Final = (
    r"(?:(?:now|next|first|then|so|ok|okay|great|perfect|good|yes|and|also|finally|wait|actually|before \w+|"
    r"alright)\b[,!.:—-]*\s+)*"
)
_ANNOUNCING: Final = re.compile(
    rf"^{_ADDRESS}(?:let me|let's|let us|i'll|i will|i'm (?:going to|about to|now)|i am going to|"
    rf"i need to|i want to|i should|i can(?! see)|i could|"
    r"i'd (?:suggest|recommend|be|like|start)|i (?:suggest|recommend|propose|plan|would|hope|think we)|"
    r"we'll|we will|we can|we could|we should|"
    r"we need to|we'd|you can|you could|you may|you might|you should|you'll|it would be|it might be|"
    r"consider|perhaps|maybe|"
    r"if you(?:'d| would| want| need| like| prefer)|feel free|would you|want me|shall i|should i|"
    r"once (?:you|this|that)|"
    r"(?:starting|launching|running|checking|looking|reading|searching|creating|updating|proceeding|"
    r"continuing|working|moving|waiting|using|"
    r"implementing|adding|fixing|writing|testing)\b(?!.*\b(?:is|was|are|were|fails?|failed|works?)\b)|"
    r"(?:my|the) (?:next step|plan is)|next (?:step|up)|remaining|to do)\b",
    re.IGNORECASE,
)
_LET_ME: Final = re.compile(rf"^{_ADDRESS}(?:let me|let's (?:see|test|try))\b", re.IGNORECASE)
_LEAD_IN: Final = re.compile(
    rf"^{_ADDRESS}(?:here(?:'s|’s| is| are)|the following|as follows|for example|for instance|below|above|"
    rf"see\b|note:?$|example|summary\W*$|"
    r"(?:i|you) (?:now )?have (?:a clear|enough)|before i\b|i see (?:your|the|that you))|"
    r"\bI have (?:a clear|enough)\b",
    re.IGNORECASE,
)
_SMALL_TALK: Final = re.compile(
    r"^\W*+(?:(?:great|perfect|excellent|good|nice|awesome|sure|ok|okay|yes|no|yep|nope|thanks|thank you|"
    r"cool|wow|absolutely|certainly|"
    r"indeed|right|correct|exactly|understood|got it|done|hi|hello|hey|sorry|welcome|you'?re (?:right|"
    r"welcome|correct|absolutely right)|"
    r"no problem|good (?:catch|question|point|idea|morning|job|luck)|well done|sounds good|go ahead|"
    r"please|continue|proceed|never mind|"
    r"happy to help|i see|i understand|that'?s (?:right|great|good|correct|fine|it|all))\b\W*+)+$",
    re.IGNORECASE,
)
_EMPTY_CLAIM: Final = re.compile(
    r"^(?:\W*(?:great|perfect|excellent|done|good)\b[\s!.,]*)?(?:i(?:'ve| have)? (?:now |"
    r"just )?(?:successfully |fully |thoroughly )*"
    r"(?:(?:completed|finished|done) (?:the|all|my|this|your|that|it)\b[^.]{0,40}|(?:explored|read|looked|"
    r"gathered|traced|followed)\b[^.]{0,90})|"
    r"everything (?:is|looks) \w+|(?:the )?(?:research|analysis|review|code review|task|"
    r"work)(?: is)? (?:complete|done)[^.]{0,20}|all (?:set|done))[.!]?$",
    re.IGNORECASE,
)
_PLACE_HOLDER: Final = re.compile(
    r"^\W*\[?(?:REDACTED|TRUNCATED|Image|image)\b|\[REDACTED_\w+|lorem ipsum|<\w+>\s*$", re.IGNORECASE
)
_HYPOTHETICAL: Final = re.compile(
    r"^(?:for example|e\.g\.|imagine|suppose|say,|given\b.*\bwhen\b.*\bthen\b)", re.IGNORECASE
)
_WORD: Final = re.compile(r"[^\W_][\w'’.-]*")
_CJK: Final = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")


def count_words(text: str) -> int:
    """Words; two CJK characters count as one."""
    return len(_WORD.findall(_CJK.sub(" ", text))) + len(_CJK.findall(text)) // 2


def is_question(text: str, *, asked_by_person: bool) -> bool:
    """True for a question, or a person's request worded as one without its mark."""
    return bool(_QUESTION_END.search(text) or (asked_by_person and _ASKING.match(text)))


def is_announcement(text: str, *, of_person: bool) -> bool:
    """True for "Let me …", "I'll …", "You could …": said before, not after, the deed.

    A person's plans and wishes are worth keeping; only their "let me" is talk.
    """
    return bool((_LET_ME if of_person else _ANNOUNCING).match(text))


# What a short line with a colon announces stands elsewhere; an ellipsis was cut off.
_LEFT_OPEN: Final = re.compile(r"^(?:\S+\s+){0,6}\S+:[*_`\s]*$|(?:\.\.\.|…)[*_`\s]*$")


def is_noise(text: str) -> bool:
    """True for small talk, lead-ins, empty claims, place-holders, and what is too short or too long."""
    if len(text) > MAX_CHARS or (count_words(text) < MIN_WORDS and "`" not in text):
        return True
    letters = sum(c.isalpha() for c in text)
    return bool(
        letters * 2 < len(text.replace(" ", ""))
        or _SMALL_TALK.match(text)
        or _EMPTY_CLAIM.match(text)
        or _LEAD_IN.match(text)
        or _PLACE_HOLDER.search(text)
        or _HYPOTHETICAL.match(text)
        or _LEFT_OPEN.search(text)
    )
