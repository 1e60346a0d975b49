"""What goes out: records as JSON. Datetimes are ISO 8601 in UTC."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from datetime import date, datetime
from typing import Any

import orjson
from starlette.responses import Response

from argus_memory.records import Note, Receipt

JSON = "application/json"
NOTE_FIELDS = (
    "id", "uid", "title", "content", "category", "importance", "confidence", "project", "keywords", "tags", "context",
    "links", "source_ref", "raw_id", "episode_id", "valid_from", "valid_to", "model", "model_real", "score",
    "rrf_score", "why", "said_at", "changed_on", "changed_files",
)  # fmt: skip
NO_STORE = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


def answer(data: object, status: int = 200) -> Response:
    """One JSON answer; dataclasses and datetimes included. What was said is cached nowhere."""
    try:
        content = orjson.dumps(data)
    except TypeError:  # a number beyond 64 bits in somebody's metadata, which a jsonb column keeps to the digit
        content = orjson.dumps(orjson.loads(json.dumps(data, default=_plain)))
    return Response(content, status_code=status, media_type=JSON, headers=NO_STORE)


def _plain(value: Any) -> Any:
    """What the standard library does not write by itself; raises TypeError on anything else."""
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, datetime | date):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} is not JSON")


def receipt_json(receipt: Receipt) -> dict[str, Any]:
    """The contract's receipt; `near_duplicate_of` only where it is set."""
    shown: dict[str, Any] = {
        "id": receipt.id,
        "duplicate": receipt.duplicate,
        "skipped": receipt.skipped,
        "redactions": [{"kind": one.kind, "count": one.count} for one in receipt.redactions],
    }
    if receipt.near_duplicate_of is not None:
        shown["near_duplicate_of"] = receipt.near_duplicate_of
    return shown


def note_json(note: Note) -> Mapping[str, Any]:
    """A note as every answer shows it."""
    return {name: getattr(note, name) for name in NOTE_FIELDS}
