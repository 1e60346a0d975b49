"""One captured item: read from JSON into typed fields, then judged by itself. No database, no clock."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from argus_memory.errors import InvalidItem
from argus_memory.records import KINDS, Redaction
from argus_memory.rules.fence import cut_fenced
from argus_memory.rules.masking import add_counts, is_only_secret, mask_text, mask_tree, to_redactions
from argus_memory.rules.poison import poison_reason
from argus_memory.rules.storable import storable, storable_value
from argus_memory.settings import CAPTURE_MAX_BODY

FIELDS = ("source", "kind", "body", "session", "cwd", "project", "metadata")
ROLES = ("user", "assistant")
SOURCE_FORM = re.compile(r"[a-z][a-z0-9-]{1,31}")
SHORT_MAX = 4096  # characters of a session, folder, project or uuid
POSITION_MAX = 2**62

# Why an item is deliberately not stored.
EXCLUDED = "excluded"
OWN_TEXT = "own-text"
ONLY_SECRET = "only-secret"  # noqa: S105 — a reason, not a password
POISON = "poison"


@dataclass(slots=True)
class Item:
    """A captured item as the contract's `POST /capture` gives it; `metadata` keeps what has no field here."""

    source: str
    kind: str
    body: str
    session: str | None = None
    cwd: str | None = None
    project: str | None = None
    role: str | None = None
    host: str | None = None
    repo: Any = None
    uuid: str | None = None
    original_timestamp: str | int | float | None = None
    position: int = 0
    argus_session: bool = False
    metadata: dict[str, Any] = field(default_factory=dict)


def read_item(given: object) -> Item:
    """Raises InvalidItem naming the field; fields this version does not know are kept in the metadata."""
    if not isinstance(given, Mapping):
        raise InvalidItem("item", f"is a {type(given).__name__}, an object is needed")
    source = _text(given, "source", needed=True) or ""
    if not SOURCE_FORM.fullmatch(source):
        raise InvalidItem("source", f"{source[:40]!r} is not of the form a-z, 0-9 and -, 2 to 32 characters")
    kind = _text(given, "kind", needed=True) or ""
    if kind not in KINDS:
        raise InvalidItem("kind", f"{kind[:40]!r} is none of {', '.join(KINDS)}")
    body = given.get("body")
    if not isinstance(body, str):
        raise InvalidItem("body", "is missing" if body is None else f"is a {type(body).__name__}, text is needed")
    if not body.strip():
        raise InvalidItem("body", "is empty")
    if len(body) > CAPTURE_MAX_BODY:
        raise InvalidItem("body", f"has {len(body)} characters, at most {CAPTURE_MAX_BODY} are taken")
    metadata = given.get("metadata")
    if metadata is not None and not isinstance(metadata, dict):
        raise InvalidItem("metadata", f"is a {type(metadata).__name__}, an object is needed")
    extra = {str(key): value for key, value in given.items() if key not in FIELDS}
    metadata = storable_value({**extra, **(metadata or {})})
    return Item(
        source,
        kind,
        storable(body),
        session=_text(given, "session"),
        cwd=_text(given, "cwd"),
        project=_text(given, "project") or _text(metadata, "project", "metadata."),
        role=_role(metadata, kind),
        host=_text(metadata, "host", "metadata."),
        repo=metadata.get("repo"),
        uuid=_text(metadata, "uuid", "metadata."),
        original_timestamp=_timestamp(metadata),
        position=_position(metadata),
        argus_session=metadata.get("argus_session") is True,
        metadata=metadata,
    )


def judge_item(item: Item, *, is_excluded: bool, is_own: bool) -> tuple[str | None, Item, tuple[Redaction, ...]]:
    """(reason it is not stored or None, the item with secrets masked and our own text cut out, what was masked)."""
    if is_excluded:
        return EXCLUDED, item, ()
    if is_own or item.argus_session:
        return OWN_TEXT, item, ()
    body, cut = cut_fenced(item.body)
    if cut and not body.strip():
        return OWN_TEXT, item, ()
    body, counts = mask_text(body)
    metadata, more = mask_tree(item.metadata)
    redactions = to_redactions(add_counts(counts, more))
    masked = replace(item, body=body, metadata=metadata)
    if counts and is_only_secret(body):
        return ONLY_SECRET, masked, redactions
    if item.kind == "turn" and poison_reason(body, item.role):
        return POISON, masked, redactions
    return None, masked, redactions


def _text(given: Mapping[str, Any], name: str, where: str = "", *, needed: bool = False) -> str | None:
    value = given.get(name)
    if value is None or value == "":
        if needed:
            raise InvalidItem(where + name, "is missing")
        return None
    if not isinstance(value, str):
        raise InvalidItem(where + name, f"is a {type(value).__name__}, text is needed")
    if len(value) > SHORT_MAX:
        raise InvalidItem(where + name, f"has {len(value)} characters, at most {SHORT_MAX} are taken")
    return storable(value)


def _role(metadata: Mapping[str, Any], kind: str) -> str | None:
    role = _text(metadata, "role", "metadata.")
    if kind != "turn":
        return role
    if role not in (None, *ROLES):
        raise InvalidItem("metadata.role", f"{role[:40]!r} is neither user nor assistant")
    return role or "user"


def _timestamp(metadata: Mapping[str, Any]) -> str | int | float | None:
    value = metadata.get("original_timestamp")
    if value is None or value == "":
        return None
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise InvalidItem("metadata.original_timestamp", f"is a {type(value).__name__}, an ISO time is needed")
    if isinstance(value, str) and len(value) > 100:
        raise InvalidItem("metadata.original_timestamp", "is longer than a time can be")
    return value


def _position(metadata: Mapping[str, Any]) -> int:
    value = metadata.get("position")
    if isinstance(value, bool) or not isinstance(value, int):
        return 0
    return min(max(value, 0), POSITION_MAX)
