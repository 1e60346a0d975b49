"""Codex's `notify`: one line in config.toml, for a Codex whose hooks are not to be approved or do not exist. Pure."""

from __future__ import annotations

import json
import re
import tomllib

from argus_memory.errors import UsageError

_TABLE = re.compile(r"^[ \t]*\[", re.MULTILINE)


def notify_line(command: list[str]) -> str:
    return f"notify = {json.dumps(command, ensure_ascii=False)}"


def is_our_notify(value: object) -> bool:
    return isinstance(value, list) and any("capture_hook" in str(word) for word in value)


def wire_notify(text: str, command: list[str], name: str) -> str:
    """The configuration with our `notify`, before the first table; raises UsageError where another one stands."""
    present = notify_of(text, name)
    if present == command:
        return text
    if is_our_notify(present):
        text = unwire_notify(text, name)
    elif present is not None:
        raise UsageError(f"notify in {name} already runs another program; remove it, or use Codex's hooks instead")
    table = _TABLE.search(text)
    at = table.start() if table else len(text)
    before = text[:at]
    joint = "" if not before or before.endswith("\n") else "\n"
    return f"{before}{joint}{notify_line(command)}\n{text[at:]}"


def unwire_notify(text: str, name: str) -> str:
    """The configuration without our `notify`."""
    present = notify_of(text, name)
    if not is_our_notify(present):
        return text
    table = _TABLE.search(text)
    at = table.start() if table else len(text)
    left = re.sub(r"^[ \t]*notify[ \t]*=.*(?:\n|\Z)", "", text[:at], count=1, flags=re.MULTILINE) + text[at:]
    if notify_of(left, name) is not None:
        raise UsageError(f"notify in {name} is written over several lines; remove it by hand")
    return left


def notify_of(text: str, name: str) -> object:
    """What `notify` is set to, None where it is not; raises UsageError for a file that is no TOML."""
    try:
        return tomllib.loads(text).get("notify")
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{name} is not valid TOML ({error}); correct it, then run this again") from None
