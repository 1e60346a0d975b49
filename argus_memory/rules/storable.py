"""Text as Postgres takes it: without NULs and lone surrogates. Pure."""

from __future__ import annotations

import re
from typing import Any

_REPLACEMENT = "\ufffd"
_SURROGATES = re.compile("[\ud800-\udfff]")


def storable(text: str) -> str:
    """`text` with each NUL and lone surrogate replaced by U+FFFD."""
    if text.isascii():
        return text.replace("\0", _REPLACEMENT) if "\0" in text else text
    return _SURROGATES.sub(_REPLACEMENT, text).replace("\0", _REPLACEMENT)


def storable_value(value: Any) -> Any:
    """The same for every text in a JSON value, keys included."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, list):
        return [storable_value(item) for item in value]
    if isinstance(value, dict):
        return {storable(str(key)): storable_value(item) for key, item in value.items()}
    return value
