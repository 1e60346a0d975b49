"""Poison: assistant turns that are an error report or a refusal, not something said.

A memory that stores "API Error: 529 Overloaded" as a fact feeds its own failures back to the next session.
So such turns are dropped at capture, and once more at the write-gate. Two rules keep people's words safe:

* only assistant turns are judged: whoever quotes an error is reporting, and is always kept;
* a signature must cover the *whole* turn. "The log said `API Error: 529`, so I added a retry" is an answer.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

API_ERROR: Final = "api-error"
REFUSAL: Final = "refusal"
INTERRUPTED: Final = "interrupted"

# The longest error report seen is a JSON body of 1 kB; anything longer is an answer about an error.
_MAX_ERROR_CHARS: Final = 2_000
_MAX_REFUSAL_CHARS: Final = 600

# What may follow an error's head: its own details, within one paragraph.
_REST = r"(?:(?!\n\s*\n).)*"
_TAIL = rf"(?:[\s.!:·∙|,(\[{{\-]{_REST})?"

# Heads of messages written by the runtime itself, never by a model. Sources: Claude Code's error page and
# issue threads (usage limits in three wordings, login, billing), Codex's error events, LiteLLM's exception
# names. Case matters: "API Error: 529" is the runtime's spelling, "API error: ..." a person's or a model's.
_ERROR_HEADS: Final = (
    rf"API Error(?:\s*\(|:|$){_REST}",
    rf"(?:Failed to authenticate|Login expired|Not logged in|Please run /login|Invalid API key){_TAIL}",
    rf"OAuth token (?:revoked|has expired){_TAIL}",
    rf"You(?:'ve| have) (?:hit|reached) your (?:\w+ ){{0,2}}limit{_TAIL}",
    rf"You(?:'re| are) out of extra usage{_TAIL}",
    rf"Claude(?: AI)?(?: \w+)? usage limit reached{_TAIL}",
    rf"(?:\d+-hour|Session|Weekly|Opus|Sonnet|Usage|Spend) limit reached{_TAIL}",
    rf"Credit balance is too low{_TAIL}",
    rf"Quota exceeded\. Check your plan{_REST}",
    r"No response requested\.?",
    r"Prompt is too long\.?(?: ?[·(].{0,200})?",
    r"(?:Request timed out|Connection error|Internal server error|Overloaded|Service unavailable|"
    r"Execution error|Unable to connect to API|Request was aborted|Repeated 529 Overloaded)\.?"
    r"(?: ?[·(].{0,200})?",
    rf"Request rejected \(\d{{3}}\){_TAIL}",
    r"Error code: \d{3} - \{.*",
    r"Error: \d{3} (?:\{.*|status code.{0,200})",
    r"HTTP(?:/\d(?:\.\d)?)? ?[45]\d\d(?::? [A-Z][A-Za-z ]{2,30})?",
    rf"(?:litellm|openai|anthropic)\.(?:\w+\.)*\w+(?:Error|Timeout|Exception)\b{_REST}",
    rf"(?:stream error|stream disconnected before completion|exceeded retry limit)\b{_REST}",
    rf"unexpected status \d{{3}}\b{_REST}",
    r'\{\s*"type"\s*:\s*"error"\s*,.*\}',
    r'\{\s*"error"\s*:\s*(?:\{.*\}|"[^"]*")\s*(?:,.*)?\}',
)
_ERROR: Final = re.compile("|".join(f"(?:{head})" for head in _ERROR_HEADS), re.DOTALL)
# "Usage limit reached. I switched to the fallback" is an answer: an error report never says I or we.
_FIRST_PERSON: Final = re.compile(r"\b(?:I|I'(?:ve|m|ll|d)|[Ww]e(?:'ve|'ll)?|[Ll]et me|[Ll]et's)\b")

_INTERRUPTED: Final = re.compile(r"\[Request interrupted by user(?: for tool use)?\]")

# A refusal is made of nothing but refusal: an apology, "I can't help with that", a policy reason, an offer.
# Its object must be the request itself ("that"): "I can't do that until Postgres is up" is a finding.
_CANNOT = (
    r"(?:can(?:no|')?t|can not|am (?:not able|unable) to|'m (?:not able|unable) to|"
    r"won't|will not|'m not going to|must decline to)"
)
_VERB = (
    r"(?:assist|help|comply|engage|fulfil?l|continue|proceed|provide|create|generate|produce|answer|discuss|"
    r"respond to|do|complete|participate)(?: you)?(?: (?:with|on|in))?"
)
_THE_REQUEST = (
    r"(?: (?:that|this|it|the|your|these|those|such)(?: (?:kind|type|sort) of)?"
    r"(?: (?:particular|specific|request|task|thing|content|information|material|topic|question|"
    r"conversation|matter|discussion|one))*)?"
)
_ALSO = (
    r"(?: (?:or (?:provide|generate|create|discuss|assist with|help with|share)[^.!?]{0,60}|"
    r"further|here|today|at this time|you with (?:that|this)))*"
)
_SORRY = (
    r"(?:(?:(?:I'm|I am)(?: really| very| so)? sorry|sorry|(?:I )?apologi[sz]e|my apologies|unfortunately|"
    r"regrettably)[,;:.!]?\s*(?:but\s+|however,?\s+)?(?:for (?:any|the) inconvenience[,;.]?\s*)?)"
)
_POLICY = (
    r"(?:,? ?(?:as|because|since|due to)[^.!?\n]{0,160}(?:polic(?:y|ies)|guidelines?|harm(?:ful)?|illegal|"
    r"unsafe|unethical|language model|AI(?: assistant)?|terms)[^.!?\n]{0,80})?"
)
_AS_AN_AI = r"(?:As an? (?:AI|language model)[^,.]{0,60}, ?)?"
_REFUSAL_SENTENCE: Final = re.compile(
    rf"(?:{_SORRY})?{_AS_AN_AI}I ?{_CANNOT}(?: to)? {_VERB}{_THE_REQUEST}{_ALSO}{_POLICY}[.!]?",
    re.IGNORECASE,
)
_REFUSAL_FILLER: Final = re.compile(
    rf"{_SORRY}|"
    r"(?:it|this|that|doing so)(?: request)?(?: would| may| could)?[^.!?]{0,40}"
    r"(?:violat|goes? against|conflict|is against|breach)[^.!?]{0,120}[.!]?|"
    r"(?:please |feel free to |if |is there |let me know |I can help |how (?:else )?(?:can|may) I |"
    r"I(?:'m| am) happy to |I(?:'d| would) be happy to )"
    r"[^.!?]{0,160}(?:else|other|question|help|assist|instead|know|ask|different)[^.!?]{0,80}[.!?]?|"
    r"my (?:guidelines|policies|instructions)[^.!?]{0,120}[.!]?",
    re.IGNORECASE,
)
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+|\n+")


def _plain(text: str) -> str:
    """Fold typographic quotes and outer marks: refusals arrive with both kinds of apostrophe."""
    folded = unicodedata.normalize("NFKC", text)
    for fancy, simple in (("\u2019", "'"), ("\u2018", "'"), ("`", "")):
        folded = folded.replace(fancy, simple)
    return folded.strip().strip("*_").strip()


def _is_refusal(text: str) -> bool:
    """True when every sentence refuses or fills a refusal, and at least one refuses."""
    if len(text) > _MAX_REFUSAL_CHARS:
        return False
    refused = False
    for sentence in filter(None, (s.strip() for s in _SENTENCE_END.split(text))):
        if _REFUSAL_SENTENCE.fullmatch(sentence):
            refused = True
        elif not _REFUSAL_FILLER.fullmatch(sentence):
            return False
    return refused


def poison_reason(text: str, role: str | None) -> str | None:
    """Why this turn must not become memory: "api-error", "refusal", "interrupted", or None.

    `text` is the whole turn (or a whole candidate note at the gate), `role` its speaker. Only "assistant" is
    judged; any other role, and an unknown one, is a person's or a document's words and is kept.
    """
    if role != "assistant" or len(text) > 2 * _MAX_ERROR_CHARS:  # spares a long answer the folding below
        return None
    plain = _plain(text)
    if _INTERRUPTED.fullmatch(plain):
        return INTERRUPTED
    if len(plain) <= _MAX_ERROR_CHARS and _ERROR.fullmatch(plain) and not _FIRST_PERSON.search(plain):
        return API_ERROR
    if _is_refusal(plain):
        return REFUSAL
    return None
