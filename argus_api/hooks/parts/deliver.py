"""Sending turns: in batches the server takes, and around the one it will never take.

The offset may move only when every item of a batch is settled: stored, known, or refused for good. A status of 4xx
other than 401, 408 and 429 is final for something in the batch: the batch is halved until that item stands alone.
Anything else (refused connection, no answer, 401, 408, 429, 5xx, a redirect) holds everything where it is. So does
a 404 or 405 that does not speak as Argus does: another program listens there, and no item is to blame.
"""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

    from argus_api.hooks.parts.wire import Answer

BATCH_ITEMS = 1000
BATCH_BYTES = 4 * 1024 * 1024
PASSING = (401, 408, 429)


class Delivery:
    """What became of the items. `held` is the answer that stopped it, None when every item is settled."""

    __slots__ = ("duplicates", "held", "hook_sent", "new", "rejected", "skipped", "why")

    def __init__(self) -> None:
        self.new = self.duplicates = self.skipped = 0
        self.rejected: List[Tuple[str, int]] = []  # (uuid or position, status)
        self.why = ""
        self.held: Optional[Answer] = None
        self.hook_sent = False


def encode_item(item: Dict[str, Any]) -> bytes:
    """The item as UTF-8 JSON. A lone surrogate, which no server can store, becomes U+FFFD."""
    text = json.dumps(item, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode("utf-8")


def batches(encoded: List[bytes]) -> Iterator[Tuple[int, int]]:
    """(start, end) of each run of items that fits one request; an item above the limit stands alone."""
    start = size = 0
    for index, item in enumerate(encoded):
        if index > start and (index - start >= BATCH_ITEMS or size + len(item) > BATCH_BYTES):
            yield start, index
            start, size = index, 0
        size += len(item) + 1
    if start < len(encoded):
        yield start, len(encoded)


def is_final(answer: Answer) -> bool:
    """Whether trying the same thing again is pointless."""
    if not 400 <= answer.status < 500 or answer.status in PASSING:
        return False
    return answer.status not in (404, 405) or isinstance(answer.object().get("error"), dict)


def request_body(encoded: List[bytes], hook: Optional[bytes]) -> bytes:
    return b'{"items":[' + b",".join(encoded) + b"]" + (b',"hook":' + hook if hook else b"") + b"}"


def deliver(
    encoded: List[bytes], names: List[str], hook: Optional[bytes], post: Callable[[bytes], Answer], into: Delivery
) -> None:
    """Send the items in order; `hook` rides on the last batch. Stops at the first answer that holds."""
    runs = list(batches(encoded))
    for start, end in runs:
        _settle(encoded, names, start, end, hook if end == len(encoded) else None, post, into)
        if into.held is not None:
            return


def _settle(
    encoded: List[bytes],
    names: List[str],
    start: int,
    end: int,
    hook: Optional[bytes],
    post: Callable[[bytes], Answer],
    into: Delivery,
) -> None:
    answer = post(request_body(encoded[start:end], hook))
    if answer.ok:
        _count_receipts(answer, end - start, into)
        into.hook_sent = into.hook_sent or hook is not None
        return
    if not is_final(answer):
        into.held = answer
        return
    if end - start > 1:
        middle = (start + end) // 2
        _settle(encoded, names, start, middle, None, post, into)
        if into.held is None:
            _settle(encoded, names, middle, end, hook, post, into)
    elif hook is not None:  # was it the item, or what rode with it?
        _settle(encoded, names, start, end, None, post, into)
    else:
        into.rejected.append((names[start], answer.status))
        into.why = answer.reason()


def _count_receipts(answer: Answer, sent: int, into: Delivery) -> None:
    receipts = answer.object().get("receipts")
    if not isinstance(receipts, list):
        into.new += sent
        return
    for receipt in receipts:
        if not isinstance(receipt, dict):
            continue
        if receipt.get("skipped"):
            into.skipped += 1
        elif receipt.get("duplicate"):
            into.duplicates += 1
        else:
            into.new += 1
