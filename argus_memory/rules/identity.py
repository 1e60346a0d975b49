"""How a repeat of a turn is recognised, and when a thing was said.

Two keys, each unique among raw items; a capture that meets either one is a repeat:

* `dedup_key`: md5(session|original_timestamp|body) over the masked body, null as empty. The same post again.
* `identity_key`: 'uuid:…' of the record across all files and sessions; a turn without one: 'text:…', a hash of role,
  text and time. Forks and resumed copies of a session repeat their turns under new session ids.
"""

from __future__ import annotations

import hashlib
import unicodedata
from datetime import UTC, datetime, timedelta
from typing import Final

UUID_MAX: Final = 200  # characters of a uuid kept as they are; a longer one is hashed
# Above it a number of seconds would lie in the year 5138: it counts milliseconds.
_MILLISECONDS_FROM: Final = 1e11
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

Stamp = str | int | float | None


def dedup_key(session: str | None, original_timestamp: Stamp, body: str) -> str:
    """32 hexadecimal digits; the timestamp's text is taken as given."""
    stamp = "" if original_timestamp is None else str(original_timestamp)
    text = f"{session or ''}|{stamp}|{body}"
    return hashlib.md5(text.encode("utf-8"), usedforsecurity=False).hexdigest()


def identity_key(uuid: str | None, *, role: str, body: str, said_at: datetime | None) -> str | None:
    """The key across sessions. `said_at` is the parsed timestamp, None where there is none or the item is no turn."""
    if uuid:
        return "uuid:" + (uuid if len(uuid) <= UUID_MAX else hashlib.sha256(uuid.encode()).hexdigest())
    if said_at is None:
        return None
    plain = " ".join(unicodedata.normalize("NFKC", body).split())
    text = "\n".join((role, said_at.isoformat(), plain))
    return "text:" + hashlib.sha256(text.encode("utf-8")).hexdigest()


def parse_stamp(value: Stamp) -> datetime | None:
    """The UTC time a timestamp names; a missing zone is UTC; None for what is no time after 1970.

    ISO 8601 in all its forms, or seconds or milliseconds since the epoch. Programs that have no time write zero or
    the year 1: neither is a time.
    """
    try:
        if isinstance(value, str):
            text = value.strip()
            if text.replace(".", "", 1).isdigit() and len(text) >= 9 and text.isascii():
                return _from_epoch(float(text))
            found = datetime.fromisoformat(text.removesuffix("UTC").removesuffix("GMT").rstrip())
            found = found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
            return found if found > _EPOCH else None
        return None if value is None else _from_epoch(float(value))
    except (ValueError, OverflowError):
        return None


def _from_epoch(number: float) -> datetime | None:
    seconds = number / 1000 if number >= _MILLISECONDS_FROM else number
    found = _EPOCH + timedelta(seconds=seconds)
    return found if found > _EPOCH else None
