"""`POST /capture`: the person's wait ends here, so it is a bare route without dependencies or models."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from fastapi import Request
from fastapi.concurrency import run_in_threadpool
from starlette.responses import Response

from argus_api.answers import answer, receipt_json
from argus_api.auth import Level, check_token
from argus_api.body import read_json, require_object
from argus_api.hub import Hub
from argus_memory.errors import InvalidItem
from argus_memory.settings import CAPTURE_MAX_BYTES
from argus_memory.stages.capture import accept


async def capture(request: Request) -> Response:
    """One item, or `{"items": [...], "hook": {...}}`: 201 when any row is new, else 200; all or nothing."""
    check_token(request, Level.CAPTURE)
    data = require_object(await read_json(request, CAPTURE_MAX_BYTES))
    return await run_in_threadpool(_accept, request.app.state.hub, data)


def _accept(hub: Hub, data: dict[str, Any]) -> Response:
    many = "items" in data or ("hook" in data and "source" not in data)
    items = data.get("items", []) if many else [data]
    hook = data.get("hook") if many else None
    if not isinstance(items, list):
        raise InvalidItem("items", f"is a {type(items).__name__}, a list is needed")
    if hook is not None and not isinstance(hook, dict):
        raise InvalidItem("hook", f"is a {type(hook).__name__}, an object is needed")
    receipts = accept(hub.db, hub.settings, items, now=datetime.now(UTC), hook=hook)
    status = 201 if any(receipt.id is not None and not receipt.duplicate for receipt in receipts) else 200
    shown = [receipt_json(receipt) for receipt in receipts]
    return answer({"receipts": shown} if many else shown[0], status)
