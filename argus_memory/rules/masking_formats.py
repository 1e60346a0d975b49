"""Secrets that are known by their form alone: tokens of known makers, headers, cookies, addresses with passwords.

Two kinds of rules, for speed. An anchored rule's pattern begins with one of a few literals and is tried only where
one stands; most texts hold none. A searched rule's pattern is run over the whole text, but only when one of its
literals (lower case) stands somewhere in it. A pattern masks its group `secret`, or the whole match where it has
none. Repetitions are bounded and do not overlap, so that no text makes a pattern slow.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Rule:
    """`judge`, where given, has the last word on what the pattern found."""

    kind: str
    literals: tuple[str, ...]
    pattern: re.Pattern[str]
    judge: Callable[[str], bool] | None = None


_START = r"(?<![A-Za-z0-9_-])"  # a token begins here, not in the middle of a longer word
_END = r"(?![A-Za-z0-9])"


_DIGIT: Final = re.compile("[0-9]")
JUDGED: Final = 256  # characters of a value that tell whether it is one; each sign in a long run asks anew


def has_digit(text: str) -> bool:
    return _DIGIT.search(text) is not None


def looks_random(text: str) -> bool:
    """A digit beside letters, or capitals among small letters: what a word or a name seldom has."""
    head = text[:JUDGED]
    if has_digit(head):
        return any(char.isalpha() for char in head)
    return head[1:] != head[1:].lower() and head != head.upper() and "_" not in head


def one_of(words: Sequence[str]) -> str:
    """A pattern for any of the words, as a tree by their letters: three times as fast as a list of alternatives."""
    tails: dict[str, list[str]] = {}
    for word in words:
        tails.setdefault(word[0], []).append(word[1:])
    parts = [re.escape(head) + (one_of(rest) if all(rest) else "") for head, rest in sorted(tails.items())]
    return parts[0] if len(parts) == 1 else f"(?:{'|'.join(parts)})"


def _anchored(kind: str, literals: str, rest: str, judge: Callable[[str], bool] | None = None) -> Rule:
    words = tuple(literals.split())
    heads = "|".join(re.escape(word) for word in words)
    return Rule(kind, words, re.compile(f"{_START}(?:{heads}){rest}"), judge)


ANCHORED: Final = (
    _anchored("aws-key", "AKIA ASIA ABIA ACCA", "[A-Z0-9]{16}" + _END),
    _anchored("aws-key", "bedrock-api-key-", "[A-Za-z0-9+/=]{20,500}"),
    _anchored("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", "[A-Za-z0-9]{20,255}"),
    _anchored("github-token", "github_pat_", "[A-Za-z0-9_]{20,255}"),
    _anchored("gitlab-token",
              "glpat- gldt- glrt- glptt- glft- glsoat- glcbt- glagent- gloas- glimt- glffct-",
              "[A-Za-z0-9_.-]{15,300}[A-Za-z0-9_]"),
    _anchored("slack-token", "xoxa- xoxb- xoxc- xoxd- xoxe- xoxe. xoxo- xoxp- xoxr- xoxs- xapp-",
              "[A-Za-z0-9%.-]{9,500}[A-Za-z0-9]"),
    _anchored("discord-token", "mfa.", "[A-Za-z0-9_-]{60,100}"),
    # A bot's token begins with its number, whose digits are such letters in base64.
    _anchored("discord-token", "MT Mj Mz ND NT Nj Nz OD OT",
              r"[A-Za-z0-9_-]{21,26}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}"),
    _anchored("stripe-key", "sk_live_ rk_live_ pk_live_ sk_test_ rk_test_ pk_test_", "[A-Za-z0-9]{10,247}"),
    _anchored("stripe-key", "whsec_", "[A-Za-z0-9+/=]{20,100}"),
    _anchored("anthropic-key", "sk-ant-", "[A-Za-z0-9_-]{10,300}"),
    _anchored("openai-key", "sk-", "[A-Za-z0-9_-]{20,300}", has_digit),
    _anchored("openai-key", "sess-", "[A-Za-z0-9]{40}" + _END),
    _anchored("huggingface-token", "hf_ api_org_", "[A-Za-z0-9]{20,100}"),
    _anchored("npm-token", "npm_", "[A-Za-z0-9]{30,100}"),
    _anchored("pypi-token", "pypi-", "[A-Za-z0-9_-]{40,400}"),
    _anchored("docker-token", "dckr_pat_ dckr_oat_", "[A-Za-z0-9_-]{20,100}"),
    _anchored("gcp-key", "AIza", "[A-Za-z0-9_-]{35}" + _END),
    _anchored("gcp-key", "ya29.", "[A-Za-z0-9_-]{20,500}"),
    _anchored("gcp-key", "GOCSPX-", "[A-Za-z0-9_-]{20,60}"),
    _anchored("sendgrid-key", "SG.", r"[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}"),
    _anchored("twilio-key", "SK AC", "[0-9a-f]{32}" + _END),
    _anchored("mailgun-key", "key-", "[0-9a-f]{32}" + _END),
    _anchored("square-token", "sq0csp- sq0atp- sq0idp-", "[A-Za-z0-9_-]{20,60}"),
    _anchored("shopify-token", "shpat_ shpca_ shppa_ shpss_", "[A-Fa-f0-9]{32}"),
    _anchored("digitalocean-token", "dop_v1_ dor_v1_ doo_v1_", "[a-f0-9]{64}"),
    _anchored("vault-token", "hvs. hvb. hvr.", "[A-Za-z0-9_-]{20,300}"),
    _anchored("artifactory-token", "AKC AP", "[A-Za-z0-9]{40,100}" + _END, has_digit),
    _anchored("artifactory-token", "cmVmd", "[A-Za-z0-9]{50,100}" + _END),
    _anchored("service-token",
              "lin_api_ ntn_ dapi r8_ sbp_ figd_ glsa_ gsk_ xai- pplx- sntrys_ fo1_ NRAK- phx_ dp.pt. tskey- pul-",
              "[A-Za-z0-9_-]{24,300}", has_digit),
    _anchored("jwt", "eyJ", r"[A-Za-z0-9_-]{8,8192}(?:\.[A-Za-z0-9_-]{4,8192}){1,4}\.?"),
    _anchored("age-key", "AGE-SECRET-KEY-", "[A-Za-z0-9]{40,70}"),
)  # fmt: skip


def _searched(kind: str, literals: str, pattern: str, judge: Callable[[str], bool] | None = None) -> Rule:
    return Rule(kind, tuple(literals.split()), re.compile(pattern), judge)


def _is_basic(text: str) -> bool:
    return looks_random(text) and (len(text) >= 16 or text.endswith("=") or has_digit(text))


_HEADER = r"(?i)\bauthorization['\"]?\s{0,4}[:=,]\s{0,4}(?:f?['\"])?"
SEARCHED: Final = (
    _searched("slack-token", "hooks.slack.com/",
              r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[A-Za-z0-9/_-]{20,200})"),
    _searched("discord-token", "/api/webhooks/", r"/api/webhooks/\d{15,22}/(?P<secret>[A-Za-z0-9_-]{40,100})"),
    _searched("telegram-token", ":aa", _START + r"\d{8,10}:AA[A-Za-z0-9_-]{33}" + _END),
    _searched("azure-key", "7q~ 8q~", r"[A-Za-z0-9_~.]{3}[78]Q~[A-Za-z0-9_~.-]{31,34}"),
    _searched("azure-key", "accountkey sharedaccesskey",
              r"(?i)(?:Account|SharedAccess)Key\s?=\s?(?P<secret>[A-Za-z0-9+/]{20,200}={0,2})"),
    _searched("azure-key", "sig=", r"[?&;]sig=(?P<secret>[A-Za-z0-9%+/=_-]{20,200})"),
    _searched("mailchimp-key", "-us", _START + r"[0-9a-f]{32}-us\d{1,2}" + _END),
    _searched("bearer", "authorization", _HEADER + r"bearer\s{1,4}(?P<secret>[A-Za-z0-9._~+/=:-]{12,4096})"),
    _searched("basic-auth", "authorization", _HEADER + r"basic\s{1,4}(?P<secret>[A-Za-z0-9+/_-]{4,2048}={0,2})"),
    _searched("bearer", "authorization",
              _HEADER + r"(?:(?:token|bot|apikey|api-key|digest)\s{1,4})?"
              r"(?P<secret>(?!(?:bearer|basic)\b)[A-Za-z0-9._~+/=:-]{8,4096})", looks_random),
    _searched("bearer", "bearer", r"(?i)\bbearer\s{1,4}(?P<secret>[A-Za-z0-9._~+/=-]{12,4096})", looks_random),
    _searched("basic-auth", "basic", r"\b[Bb]asic\s(?P<secret>[A-Za-z0-9+/]{12,2048}={0,2})", _is_basic),
    _searched("api-key", "x-api-key x-auth-token x-access-token private-token",
              r"(?i)\b(?:x-api-key|x-auth-token|x-access-token|private-token)['\"]?\s{0,4}[:=,]\s{0,4}['\"]?"
              r"(?P<secret>[A-Za-z0-9._~+/=-]{8,4096})", looks_random),
    _searched("basic-auth", "-u --user --proxy-user",
              r"\s(?:-u|--user|--proxy-user)[ =]['\"]?[^\s:'\"]{1,100}:(?P<secret>[^\s'\"$<{(/][^\s'\"]{2,200})"),
    _searched("cookie", "cookie",
              r"(?i)\b(?:set-)?cookie['\"]?\s{0,4}:\s{0,4}['\"]?(?P<secret>[A-Za-z0-9_.%$*-]{1,100}=[^\s'\";]{4,4096}"
              r"(?:;[ \t]?[A-Za-z0-9_.%$*-]{1,100}(?:=[^\s'\";]{0,4096})?){0,100})"),
    _searched("cookie", "--cookie -b",
              r"\s(?:-b|--cookie)[ =](?P<quote>['\"])(?P<secret>[A-Za-z0-9_.%-]{1,100}=[^'\"\n]{4,4096})(?P=quote)"),
    _searched("url-credentials", "token= key= secret= password= passwd= pwd= signature=",
              r"(?i)[?&][a-z_-]{0,30}(?:token|key|secret|password|passwd|pwd|signature)="
              r"(?P<secret>[A-Za-z0-9%._~+/=-]{8,4096})", looks_random),
)  # fmt: skip

# An address with a password: tried at each `://`. A database's password may hold a slash or an @, a web address's
# may not; a token may stand alone before the @.
_WEB: Final = re.compile(r"(?:https?|wss?|git|ssh|svn|ftps?|file)\Z", re.IGNORECASE)
_IN_WEB: Final = re.compile(
    r"://(?:[^\s:/@'\"<>`?#\[]{0,200}:(?P<secret>[^\s/@'\"<>`?#]{1,500})|(?P<alone>[A-Za-z0-9_-]{20,500}))@"
)
_IN_STORE: Final = re.compile(r"://[^\s:/@'\"<>`\[,]{0,200}:(?P<secret>(?:(?!://)[^\s'\"<>`,]){1,500})@(?=[^\s@'\"<>`])")
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,30}\Z")


def find_address(text: str, at: int) -> tuple[str, int, int] | None:
    """(kind, start, end) of the secret of the address whose `://` stands at `at`."""
    scheme = _SCHEME.search(text, max(0, at - 32), at)
    if scheme is None:
        return None
    web = _WEB.search(scheme[0]) is not None
    match = (_IN_WEB if web else _IN_STORE).match(text, at)
    if match is None:
        return None
    group = "alone" if web and match["alone"] is not None else "secret"
    secret = match[group]
    hole = secret[0] in "$<{%*[" and not secret.startswith(("$2", "%2", "%4"))
    if hole or (group == "alone" and not has_digit(secret)) or (secret.isdigit() and len(secret) <= 5):
        return None
    return ("url-credentials" if web else "connection-string"), match.start(group), match.end(group)
