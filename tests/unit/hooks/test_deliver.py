"""Batches, halving, and what counts as final."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from argus_api.hooks.parts.deliver import (
    BATCH_BYTES,
    BATCH_ITEMS,
    Delivery,
    batches,
    deliver,
    encode_item,
    is_final,
)
from argus_api.hooks.parts.wire import Answer

ERROR = json.dumps({"error": {"code": "invalid_item", "message": "no"}}).encode()


def run(count: int, poison: set[int], down_after: int | None = None) -> tuple[Delivery, list[int]]:
    """Deliver items 0..count-1 to a server that refuses the poisonous ones; returns what it stored, in order."""
    stored: list[int] = []
    calls = 0

    def post(body: bytes) -> Answer:
        nonlocal calls
        calls += 1
        if down_after is not None and calls > down_after:
            return Answer(0, problem="server unreachable")
        numbers = [item["n"] for item in json.loads(body)["items"]]
        if poison.intersection(numbers):
            return Answer(422, ERROR)
        stored.extend(numbers)
        return Answer(201, json.dumps({"receipts": [{"id": n, "duplicate": False} for n in numbers]}).encode())

    into = Delivery()
    items = [encode_item({"n": number}) for number in range(count)]
    deliver(items, [str(number) for number in range(count)], None, post, into)
    return into, stored


@given(st.lists(st.integers(1, 3_000_000), max_size=3000))
def test_batches_cover_all_items_in_order_within_both_limits(sizes: list[int]) -> None:
    """No item is left out or sent twice; a batch above the byte limit holds a single item."""
    items = [_Sized(size) for size in sizes]
    runs = list(batches(items))  # type: ignore[arg-type]
    assert [index for start, end in runs for index in range(start, end)] == list(range(len(sizes)))
    for start, end in runs:
        assert 0 < end - start <= BATCH_ITEMS
        assert end - start == 1 or sum(sizes[start:end]) <= BATCH_BYTES


class _Sized:
    def __init__(self, size: int) -> None:
        self.size = size

    def __len__(self) -> int:
        return self.size


@given(st.integers(0, 300), st.sets(st.integers(0, 300), max_size=5))
def test_exactly_the_poisonous_items_are_rejected(count: int, chosen: set[int]) -> None:
    """All others are stored, in order, whatever stands where."""
    poison = {number for number in chosen if number < count}
    into, stored = run(count, poison)
    assert stored == [number for number in range(count) if number not in poison]
    assert into.rejected == [(str(number), 422) for number in sorted(poison)]
    assert into.held is None
    assert into.new == len(stored)


@given(st.integers(1, 200), st.integers(0, 6))
def test_an_outage_in_the_middle_holds(count: int, calls: int) -> None:
    """What was stored before stays a prefix; nothing is called rejected, and the batch counts as held."""
    into, stored = run(count, {count // 2}, down_after=calls)
    assert stored == [number for number in range(count) if number != count // 2][: len(stored)]
    if into.held is not None:
        assert into.held.status == 0
    else:
        assert len(stored) == count - 1


def test_the_hook_rides_on_the_last_batch_only() -> None:
    """A heartbeat of SessionEnd must not overtake the session's turns."""
    seen = []

    def post(body: bytes) -> Answer:
        value = json.loads(body)
        seen.append((len(value["items"]), "hook" in value))
        return Answer(200, b"{}")

    into = Delivery()
    deliver([encode_item({"n": n}) for n in range(2500)], [""] * 2500, b'{"event":"Stop"}', post, into)
    assert seen == [(1000, False), (1000, False), (500, True)]
    assert into.hook_sent


def test_what_is_final() -> None:
    """4xx but 401, 408 and 429; a 404 or 405 only when Argus itself says it."""
    assert all(is_final(Answer(status, ERROR)) for status in (400, 403, 404, 405, 409, 410, 413, 415, 422))
    assert not any(is_final(Answer(status, ERROR)) for status in (0, 200, 301, 401, 408, 429, 500, 502, 503))
    assert not any(is_final(Answer(status, b"<html>")) for status in (404, 405))


def test_a_lone_surrogate_is_replaced() -> None:
    """It can be written as JSON but no server can store it."""
    assert json.loads(encode_item({"body": "a\ud800b 😀"})) == {"body": "a\ufffdb 😀"}
