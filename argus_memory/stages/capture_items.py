"""One captured item: read from JSON into typed fields, then judged by itself. No database, no clock."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

import orjson

from argus_memory.errors import InvalidItem
from argus_memory.records import CANARY_PROJECT, KINDS, Redaction, is_canary_session
from argus_memory.rules.fence import cut_fenced
from argus_memory.rules.masking import add_counts, is_only_secret, mask_text, mask_tree, to_redactions
from argus_memory.rules.poison import poison_reason
from argus_memory.rules.project_keys import Place, place_of
from argus_memory.rules.storable import storable, storable_value
from argus_memory.settings import CAPTURE_MAX_BODY
from argus_memory.transcripts.exclude import excluded

FIELDS = frozenset({"source", "kind", "body", "session", "cwd", "project", "metadata"})
ROLES = ("user", "assistant")
SOURCE_FORM = re.compile(r"[a-z][a-z0-9-]{1,31}")
# Characters. Session and project stand in indexes, whose rows hold 2,700 bytes.
SESSION_MAX = 500
PROJECT_MAX = 200
FOLDER_MAX = 4096
TEXT_MAX = 1000
POSITION_MAX = 2**62

# Why an item is deliberately not stored.
EXCLUDED = "excluded"
OWN_TEXT = "own-text"
TASK_SOURCE = "task"  # what a task captures by itself
ONLY_SECRET = "only-secret"  # noqa: S105 — a reason, not a password
POISON = "poison"


@dataclass(slots=True)
class Item:
    """A captured item as the contract's `POST /capture` gives it; `metadata` keeps what has no field here."""

    source: str
    kind: str
    body: str
    session: str | None
    cwd: str | None
    project: str | None
    role: str | None
    host: str | None
    repo: str | dict[str, Any] | None
    uuid: str | None
    original_timestamp: str | int | float | None
    position: int
    is_own: bool
    metadata: dict[str, Any]

    @property
    def place(self) -> Place:
        if isinstance(self.repo, dict):
            remote, common = self.repo.get("remote"), self.repo.get("common_dir")
            if isinstance(remote, str | None) and isinstance(common, str | None):
                return _place(self.project, remote, common, self.cwd, self.host)
        return place_of(self.project, self.repo, self.cwd, self.host)


@lru_cache(maxsize=256)
def _place(project: str | None, remote: str | None, common: str | None, cwd: str | None, host: str | None) -> Place:
    """Item after item comes from the same few places."""
    return place_of(project, {"remote": remote, "common_dir": common}, cwd, host)


def read_item(given: object) -> Item:
    """Raises InvalidItem naming the field; fields this version does not know are kept in the metadata."""
    if not isinstance(given, Mapping):
        raise InvalidItem("item", f"is {_a(given)}, an object is needed")
    source = _text(given, "source", 40, needed=True) or ""
    if not SOURCE_FORM.fullmatch(source):
        raise InvalidItem("source", f"{source!r} is not of the form a-z, 0-9 and -, 2 to 32 characters")
    kind = _text(given, "kind", 40, needed=True) or ""
    if kind not in KINDS:
        raise InvalidItem("kind", f"{kind!r} is none of {', '.join(KINDS)}")
    metadata = _metadata(given)
    uuid = metadata.get("uuid")
    session = _text(given, "session", SESSION_MAX)
    project = _text(given, "project", PROJECT_MAX) or _text(metadata, "project", PROJECT_MAX, "metadata.")
    return Item(
        source,
        kind,
        _body(given),
        session=session,
        cwd=_text(given, "cwd", FOLDER_MAX),
        project=CANARY_PROJECT if is_canary_session(session) else project,
        role=_role(metadata, kind, source),
        host=_text(metadata, "host", TEXT_MAX, "metadata."),
        repo=_repo(metadata),
        uuid=str(uuid) if type(uuid) is int else _text(metadata, "uuid", TEXT_MAX, "metadata."),
        original_timestamp=_timestamp(metadata),
        position=_position(metadata),
        is_own=bool(metadata.get("argus_session")),
        metadata=metadata,
    )


def is_excluded(item: Item, globs: tuple[str, ...], known: dict[str, bool]) -> bool:
    """Whether the item's folder, its repository or its project is kept out; `known` remembers folders asked before.

    A worktree of a repository that is kept out is kept out as well; a glob without a slash also names projects.
    """
    common = item.repo.get("common_dir") if isinstance(item.repo, dict) else None
    for folder in (item.cwd, common):
        if isinstance(folder, str) and folder:
            if folder not in known:
                known[folder] = excluded(folder, globs)
            if known[folder]:
                return True
    project = item.project
    return project is not None and any("/" not in glob and fnmatchcase(project, glob.strip()) for glob in globs)


def find_reason(item: Item) -> str | None:
    """Why the item is not stored, as far as it can be seen unmasked; our own fenced text is cut out of its body."""
    if item.is_own:
        return OWN_TEXT
    item.body, cut = cut_fenced(item.body)
    if cut and not item.body.strip():
        return OWN_TEXT
    return POISON if item.kind == "turn" and poison_reason(item.body, item.role) else None


def mask_item(item: Item, own_tokens: Iterable[str]) -> tuple[str | None, tuple[Redaction, ...]]:
    """(why it is not stored after all, or None; what was masked); body and metadata are replaced by what may be kept.

    Raises InvalidItem for metadata nested without end.
    """
    try:
        item.metadata, counts = mask_tree(item.metadata, own_tokens)
    except ValueError as error:
        raise InvalidItem("metadata", f"is {error} levels") from None
    if counts and str(item.metadata.get("uuid")) != item.uuid:
        item.uuid = None  # what was masked as a secret identifies nothing
    item.body, masked = mask_text(item.body, own_tokens)
    if not (masked or counts):
        return None, ()
    reason = ONLY_SECRET if masked and is_only_secret(item.body) else None
    return reason, to_redactions(add_counts(counts, masked))


def _a(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def _body(given: Mapping[str, Any]) -> str:
    body = given.get("body")
    if not isinstance(body, str):
        raise InvalidItem("body", "is missing" if body is None else f"is {_a(body)}, text is needed")
    if len(body) > CAPTURE_MAX_BODY:
        raise InvalidItem("body", f"has {len(body):,} characters, at most {CAPTURE_MAX_BODY:,} are taken")
    if not body or body.isspace():
        raise InvalidItem("body", "is empty")
    return storable(body)


def _metadata(given: Mapping[str, Any]) -> dict[str, Any]:
    metadata = given.get("metadata")
    if metadata is not None and not isinstance(metadata, dict):
        raise InvalidItem("metadata", f"is {_a(metadata)}, an object is needed")
    if not given.keys() <= FIELDS:
        metadata = {**{str(key): given[key] for key in given.keys() - FIELDS}, **(metadata or {})}
    try:
        if not metadata or b"\\u0000" not in orjson.dumps(metadata):
            return metadata or {}
    except TypeError:  # lone surrogates, numbers above 64 bits
        pass
    try:
        return storable_value(metadata)  # type: ignore[no-any-return]  # a dict gives a dict
    except RecursionError:
        raise InvalidItem("metadata", "is nested too deep to be read") from None


def _text(given: Mapping[str, Any], name: str, limit: int, where: str = "", *, needed: bool = False) -> str | None:
    value = given.get(name)
    if value is None or value == "":
        if needed:
            raise InvalidItem(where + name, "is missing")
        return None
    if not isinstance(value, str):
        raise InvalidItem(where + name, f"is {_a(value)}, text is needed")
    if len(value) > limit:
        raise InvalidItem(where + name, f"has {len(value):,} characters, at most {limit:,} are taken")
    return storable(value)


def _role(metadata: Mapping[str, Any], kind: str, source: str) -> str | None:
    """Who spoke; a turn without a word on it is a person's, but a task's is never."""
    role = _text(metadata, "role", TEXT_MAX, "metadata.")
    if kind != "turn":
        return role
    if role not in (None, *ROLES):
        raise InvalidItem("metadata.role", f"{role[:40]!r} is neither user nor assistant")
    return role or ("assistant" if source == TASK_SOURCE else "user")


def _repo(metadata: Mapping[str, Any]) -> str | dict[str, Any] | None:
    repo = metadata.get("repo")
    if repo is None or isinstance(repo, str | dict):
        return repo
    raise InvalidItem("metadata.repo", f"is {_a(repo)}, an address, a folder or an object of both is needed")


def _timestamp(metadata: Mapping[str, Any]) -> str | int | float | None:
    value = metadata.get("original_timestamp")
    if value is None or value == "":
        return None
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise InvalidItem("metadata.original_timestamp", f"is {_a(value)}, an ISO time is needed")
    if isinstance(value, str) and len(value) > 100:
        raise InvalidItem("metadata.original_timestamp", "is longer than a time can be")
    return value


def _position(metadata: Mapping[str, Any]) -> int:
    value = metadata.get("position")
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidItem("metadata.position", f"is {_a(value)}, a whole number is needed")
    return min(max(value, 0), POSITION_MAX)
