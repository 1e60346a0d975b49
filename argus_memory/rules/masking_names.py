"""Secrets that are known by the name they are given to: `DB_PASSWORD=…`, `"api_key": "…"`, `my password is …`.

A name alone proves little (`token = get_token()`, `password: str`), so the value has a say: how it is written
(quoted, in an `.env` line, bare) decides how much it must look like a secret itself.

The text is searched for the signs between name and value, which are few, and the name is read backwards from there.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from argus_memory.rules.masking_formats import JUDGED, has_digit, looks_random

ASSIGNED: Final = "assignment"
ENV: Final = "env"

# A name, without `_`, `-` and blanks, ends in one of these: MAX_TOKENS, TOKEN_LIMIT and password_policy do not.
_STRONG: Final = (
    "password", "passwd", "passphrase", "passcode", "passwort", "pwd", "contraseña", "contrasena", "motdepasse",
    "secret", "secretkey", "secretbase", "apikey", "apitoken", "accesskey", "accesskeyid", "privatekey", "privkey",
    "authtoken", "accesstoken", "refreshtoken", "bearertoken", "sessiontoken", "bottoken", "deploytoken", "idtoken",
    "csrftoken", "encryptionkey", "signingkey", "masterkey", "servicekey", "accountkey", "authkey", "clientkey",
    "databasekey", "dbkey", "licensekey", "storagekey", "sharedkey", "dbpass", "databasepass", "keypass", "rootpass",
    "userpass", "adminpass", "connectionstring", "credential", "credentials", "webhookurl", "authorization",
)  # fmt: skip
# After one of these, as a word of its own, the value must look random.
_WEAK: Final = ("token", "pass", "salt", "signature", "dsn", "pin", "otp", "key", "auth", "cookie")
_WEAK_WORD: Final = re.compile(rf"(?:^|[^a-z])(?:{'|'.join(_WEAK)})\Z")
_WEAK_CHARS: Final = max(map(len, _WEAK)) + 1  # such a word and what stands before it
_NAME_CHARS: Final = 64  # how far a name is read back
_SUFFIXES: Final = (
    "production", "prod", "development", "dev", "test", "staging", "stage", "live", "old", "new", "value",
)  # fmt: skip
_SUFFIX: Final = re.compile(rf"[_-]?(?:\d{{1,3}}|base64|b64|{'|'.join(_SUFFIXES)})\Z")
_SUFFIX_ENDS: Final = ("base64", "b64", *_SUFFIXES)
# Most names are seen to be harmless by their last three letters.
_LAST: Final = frozenset(word[-3:] for word in (*_STRONG, *_WEAK, *_SUFFIXES))
_QUOTES: Final = " \t\\\"'`]"
_JOINTS: Final = str.maketrans("", "", "_- \t")

# The sign first, then what stands before it: three times as fast as the other way round.
_SIGN: Final = re.compile(r"[:=](?<=[\w \t\\\"'`\]][:=])")
_SAID: Final = re.compile(
    r"(?i)(?:password|passphrase|passcode|passwort|pwd)[ \t]{1,2}(?:is|was|ist|lautet)[ \t:]{1,3}"
)
_VALUE: Final = re.compile(
    r"=?>?[ \t]{0,8}(?:(?:f|b|r|rb)?(?P<quote>\\?[\"'`])"
    r"(?P<quoted>(?:\\(?P=quote)|(?!(?P=quote))[^\n\r]){1,4096})(?P=quote)"
    r"|(?P<bare>[^\s\"'`,;)}\]\\]{1,4096}))"
)
# The head of a long bare value; a text that is one such run after the other is read only so far for each sign.
_LONG: Final = re.compile(rf"=?>?[ \t]{{0,8}}(?P<bare>[^\s\"'`,;)}}\]\\]{{{JUDGED}}})")
_ENV_NAME: Final = re.compile(r"[ \t>+-]{0,8}(?:(?:export|set|ENV|ARG)[ \t]+)?[A-Z][A-Z0-9_]*[ \t]?")
_DSN: Final = re.compile(
    r"(?i)(?:host|hostaddr|dbname|server|uid|user id|data source)=[^\s,()]+[ ;]|[ ;](?:dbname|host)="
)

# What stands where a secret would: a hole to fill in, a type, a reference.
_HOLE: Final = re.compile(
    r"(?i)(?:\$[A-Z_({]|<|\{|\[|%[({\w]|\*{2,}|\.{2,}|x{3,}\b|-{2,})"
    r"|(?:your|my|the|some|insert|enter|change|replace|add)[\W_]"
    r"|(?:none|null|nil|true|false|undefined|str(?:ing)?|int|bytes|bool|any|optional|required|redacted|hidden|empty"
    r"|example|placeholder|todo|unset|missing|default|process|os|env|settings|config|self|this|input|getpass"
    r"|password|passwd|secret|token|key|username|user|value|text|file|path)\W*\Z"
)
_REFERENCE: Final = re.compile(r"[A-Za-z_]\w*(?:(?:\.|->|::)[A-Za-z_]\w*)*(?:[(\[{].*)?", re.DOTALL)
_PLACE: Final = re.compile(r"(?:~|\.{1,2})?/[\w.-]+(?:/|\Z)|[A-Za-z]:\\|https?://")
_REDACTED: Final = re.compile(r"\[redacted:[a-z-]+\]")
_WORDS: Final = re.compile(r"[A-Za-z]+(?:[_/.-][A-Za-z]+)*[.!?:,]?")


def mask_named(text: str, lower: str, found: dict[str, int]) -> str:
    """`text` with the values of secret names masked, each counted in `found`; `lower` is the text in lower case."""
    out: list[str] = []
    kept_to = 0
    for sign in _SIGN.finditer(text):
        at = sign.start()
        if at < kept_to or at == 0:
            continue
        name = text[max(0, at - _NAME_CHARS) : at].rstrip(_QUOTES).lower()
        if name[-3:] not in _LAST and not name[-1:].isdigit():
            continue
        strong = _strength(name)
        if strong is None:
            continue
        kind = ENV if _is_env_line(text, at) else ASSIGNED
        span = _value_at(text, sign.end(), strong, kind == ENV)
        if span:
            out += [text[kept_to : span[0]], f"[redacted:{kind}]"]
            kept_to = span[1]
            found[kind] = found.get(kind, 0) + 1
    if out:
        text = "".join([*out, text[kept_to:]])
    return _mask_said(text, found) if "pass" in lower or "pwd" in lower else text


@lru_cache(maxsize=1024)
def names_secret(key: str) -> bool:
    """Whether what stands under this key of a mapping is a secret by the key's name."""
    strong = _strength(key.lower())
    return bool(strong) or (strong is not None and key.lower().endswith("token"))


def is_value(value: str) -> bool:
    """Whether a value under such a key is one, and not a hole to fill in or a mark of what was masked."""
    return _is_quoted_secret(value, True)


def _strength(name: str) -> bool | None:
    """True for a strong name (in lower case), False for a weak one, None for any other."""
    has_suffix = name[-1:].isdigit() or name.endswith(_SUFFIX_ENDS)
    for form in (name, _SUFFIX.sub("", name)) if has_suffix else (name,):
        if form.translate(_JOINTS).endswith(_STRONG):
            return True
        if form.endswith(_WEAK) and _WEAK_WORD.search(form[-_WEAK_CHARS:]):
            return False
    return None


def _value_at(text: str, start: int, strong: bool, env: bool) -> tuple[int, int] | None:
    """Where the secret begins and ends, if there is one behind the sign."""
    long = _LONG.match(text, start)
    if long is not None and not (env or looks_random(long["bare"]) or (strong and _in_dsn(text, start))):
        return None
    match = _VALUE.match(text, start)
    if match is None:
        return None
    if match["quoted"] is not None:
        secret = _is_env_secret(match["quoted"], strong) if env else _is_quoted_secret(match["quoted"], strong)
        return match.span("quoted") if secret else None
    value = match["bare"]
    if env and _is_env_secret(value, strong):
        return match.span("bare")
    tight = match.start("bare") == start and text[start - 1] == "="
    if tight and strong and _in_dsn(text, start) and not _is_no_value(value):
        return match.span("bare")
    return match.span("bare") if _is_bare_secret(value, strong) else None


def _mask_said(text: str, found: dict[str, int]) -> str:
    """`the password is hunter2`: a bare word or a quoted one that looks random."""
    out: list[str] = []
    kept_to = 0
    for said in _SAID.finditer(text):
        match = _VALUE.match(text, said.end())
        if match is None or said.start() < kept_to:
            continue
        group = "bare" if match["quoted"] is None else "quoted"
        if _is_bare_secret(match[group].rstrip(".:!?"), True):
            end = match.start(group) + len(match[group].rstrip(".:!?"))
            out += [text[kept_to : match.start(group)], f"[redacted:{ASSIGNED}]"]
            kept_to = end
            found[ASSIGNED] = found.get(ASSIGNED, 0) + 1
    return "".join([*out, text[kept_to:]]) if out else text


def _is_env_line(text: str, at: int) -> bool:
    """Whether the sign at `at` follows a name in capitals that begins its line: `export DB_PASSWORD=`."""
    earliest = max(0, at - 2 * _NAME_CHARS)
    begin = max(text.rfind("\n", earliest, at) + 1, earliest)
    return _ENV_NAME.fullmatch(text, begin, at) is not None


def _in_dsn(text: str, at: int) -> bool:
    """Whether this is part of `host=… user=… password=…`."""
    return _DSN.search(text, max(0, at - 200), min(len(text), at + 200)) is not None


def _is_no_value(value: str) -> bool:
    return len(value) < 4 or bool(_HOLE.match(value) or _PLACE.match(value) or _REDACTED.search(value))


def _is_env_secret(value: str, strong: bool) -> bool:
    if _is_no_value(value) or (value.isdigit() and len(value) < 6):
        return False
    return strong or looks_random(value)


def _is_quoted_secret(value: str, strong: bool) -> bool:
    if _is_no_value(value) or " " in value:
        return False
    if not strong:
        return len(value) >= 12 and looks_random(value) and has_digit(value)
    return has_digit(value) or len(value) >= 8 or not _WORDS.fullmatch(value)


def _is_bare_secret(value: str, strong: bool) -> bool:
    plain = value.rstrip(".:!?")
    if _is_no_value(plain) or len(plain) < (6 if strong else 16) or not looks_random(plain):
        return False
    if any(char in plain for char in "()[]{}<>|"):
        return False
    return has_digit(plain) or not _REFERENCE.fullmatch(plain)
