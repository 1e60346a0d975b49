"""A change that a form asks for: done, then 303 back with one line that says what happened, or why it did not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from fastapi import Request
from starlette.responses import Response

from argus_api.ui.page import back
from argus_memory.errors import Conflict, UsageError
from argus_memory.records import WriteReceipt

ACTOR: Final = "ui"  # who signs in is the hub's owner; this says by which door


def change(request: Request, path: str, act: Callable[[], str]) -> Response:
    """`act` returns what happened. What does not fit is told on the page; NotFound and failures are error pages."""
    try:
        return back(request, path, act())
    except (Conflict, UsageError) as error:
        return back(request, path, f"{sentence(str(error))}. Nothing was changed.", bad=True)


def receipt_words(receipt: WriteReceipt, done: str) -> str:
    """A receipt as a line: `done` where it took effect, and the receipt's own detail."""
    detail = f": {receipt.detail}" if receipt.detail else ""
    match receipt.outcome:
        case "no-op":
            return f"Nothing changed{detail or ': it was so before'}."
        case "refused":
            return f"Refused{detail}."
        case "held":
            return f"Held for a person{detail}."
        case _:
            return f"{done}{detail}."


def sentence(text: str) -> str:
    return text[:1].upper() + text[1:].rstrip(".")
