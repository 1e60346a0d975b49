"""What an engine's own message means, by its words. Pure; never given what a tool has printed.

Kinds, in the order they are looked for:

    infra           "not your usage limit": said by the servers about themselves, whatever else stands there
    capped          a plan's limit, a session's, a week's; it ends by itself
    configuration   logged out, no key, unpaid: it ends when a person acts. A credit balance that is too low is no
                    cap: no time heals it
    content         this job's fault: too long for the model, refused by policy
    infra           overloaded, 429, 5xx, connection
"""

from __future__ import annotations

import re
from typing import Final, Literal

from argus_memory.rules.storable import storable

Kind = Literal["capped", "infra", "content", "configuration"]
NOTICE_CHARS: Final = 400  # a limit notice is a line or two; an answer that talks about limits is longer or is prose
REASON_CHARS: Final = 300


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_NOT_THE_PLAN: Final = _any(r"not your usage limit", r"temporarily limiting requests")
_LIMIT: Final = _any(
    r"you['’]?(?:ve| have) (?:hit|reached|exceeded) your (?:[\w-]+ ){0,3}limit",
    r"\bclaude (?:ai )?usage limit reached",
    r"\b(?:usage|session|weekly|5-hour|five-hour|opus|sonnet|spend(?:ing)?) limit "
    r"(?:was |has been )?(?:reached|hit|exceeded)",
    r"\byou['’]?(?:re| are) out of extra usage",
    r"\busage_limit_(?:reached|exceeded)\b",
    r"\bblocking_limit\b",
    r"\blimit (?:will )?resets? at\b",
)
_NOTICE: Final = re.compile(rf"\s*(?:api error:\s*|error:\s*|⚠️?\s*)?(?:{_LIMIT.pattern})", re.IGNORECASE)
_CONFIGURATION: Final = _any(
    r"\bnot (?:logged|signed) in\b",
    r"\b(?:please )?(?:run|use) [`'\"]?(?:/login|(?:claude|codex) login|claude setup-token)",
    r"\bplease (?:log|sign) in\b",
    r"\binvalid (?:api[ -]?key|authentication|bearer token)",
    r"\b(?:oauth|access|refresh) token (?:has |was |is |could not be )?"
    r"(?:expired|revoked|invalid|refreshed|already used)",
    r"\bauthentication[_ ](?:error|failed|required)",
    r"\b(?:api error|status|http(?: status)?|error)[: (]*40[123]\b",
    r"\b401 unauthorized\b|\b403 forbidden\b|\b402 payment required\b",
    r"\bmissing api key\b|\bno api key\b",
    r"\bcredit balance is too low\b",
    r"\bcheck your plan and billing\b|\binsufficient_quota\b|\bbilling_error\b|\bcredits_required\b",
    r"\borgani[sz]ation (?:has been |is )?disabled\b|\bdoes not have access to (?:claude|codex)\b",
    r"\bunexpected argument\b|\bunknown option\b|\bunknown configuration field\b|\berror loading config",
)
_CONTENT: Final = _any(
    r"\bprompt is too long\b|\binput (?:is )?too long\b|\brequest too large\b",
    r"\bcontext[_ ](?:window|length)(?:_exceeded)?\b|\bmaximum context length\b",
    r"\bcontent (?:policy|filter)|\busage polic(?:y|ies)\b|\bcyberpolicy\b",
    r"\binvalid_request_error\b|\bapi error[: (]*(?:400|413|422)\b",
)
_INFRA: Final = _any(
    r"\b(?:429|5\d\d)\b|\boverloaded\b|\brate[_ ]limit",
    r"\btimed? ?out\b|\bconnection\b|\bnetwork\b|\beconn\w+|\benotfound\b|\bstream (?:disconnected|error)",
    r"\bservice unavailable\b|\binternal server error\b|\btry again later\b|\bfetch failed\b",
)


def read_failure(text: str) -> Kind | None:
    """What a text that is known to be a failure's message says; None when its words are unknown."""
    if _NOT_THE_PLAN.search(text):
        return "infra"
    if _LIMIT.search(text):
        return "capped"
    if _CONFIGURATION.search(text):
        return "configuration"
    if _CONTENT.search(text):
        return "content"
    return "infra" if _INFRA.search(text) else None


def is_limit_notice(text: str) -> bool:
    """Whether a text that is not marked as an error is a limit notice as a whole.

    Some builds print the notice as an ordinary answer with exit code 0. It begins with it and is short; a
    sentence that mentions a usage limit further on is somebody's answer.
    """
    return len(text) <= NOTICE_CHARS and _NOTICE.match(text) is not None and not _NOT_THE_PLAN.search(text)


def reason_of(text: str) -> str:
    """A message on one line, at most REASON_CHARS characters."""
    line = " ".join(storable(text).split())
    return line if len(line) <= REASON_CHARS else line[: REASON_CHARS - 1] + "…"
