"""POST /capture: what goes in, what comes back, and that it is all or nothing."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from fastapi.testclient import TestClient

from argus_memory.db import Database

from .conftest import count_rows, turn

HOOK = {"host": "laptop", "target": "claude-code", "version": "1", "event": "SessionEnd", "session": "s1"}


def test_one_item_gives_one_receipt(client: TestClient) -> None:
    """A new row answers 201 with exactly the contract's four fields."""
    answer = client.post("/capture", json=turn("The pump needs a new seal."))
    assert answer.status_code == 201
    receipt = answer.json()
    assert receipt == {"id": receipt["id"], "duplicate": False, "skipped": None, "redactions": []}
    assert receipt["id"] > 0


def test_a_repeat_gives_the_first_id(client: TestClient, db: Database) -> None:
    """The same item again is 200, the same id, and no second row."""
    first = client.post("/capture", json=turn("The pump needs a new seal.")).json()
    again = client.post("/capture", json=turn("The pump needs a new seal."))
    assert again.status_code == 200
    assert again.json() == {"id": first["id"], "duplicate": True, "skipped": None, "redactions": []}
    assert count_rows(db) == 1


def test_many_items_give_receipts_in_order(client: TestClient) -> None:
    """A list answers a list of receipts in its order; 201 as soon as one of them is new."""
    known = client.post("/capture", json=turn("The first.")).json()["id"]
    answer = client.post("/capture", json={"items": [turn("The first."), turn("The second."), turn("The third.")]})
    assert answer.status_code == 201
    receipts = answer.json()["receipts"]
    assert receipts[0]["id"] == known
    assert [receipt["duplicate"] for receipt in receipts] == [True, False, False]
    assert receipts[1]["id"] < receipts[2]["id"]


def test_nothing_new_answers_200(client: TestClient) -> None:
    """A request of repeats, and one of no items at all, are fine and new to nobody."""
    client.post("/capture", json=turn("The first."))
    assert client.post("/capture", json={"items": [turn("The first.")]}).status_code == 200
    empty = client.post("/capture", json={"items": []})
    assert (empty.status_code, empty.json()) == (200, {"receipts": []})


def test_a_skipped_item_says_why(client: TestClient, db: Database) -> None:
    """What is deliberately not stored has no id and a reason, and is 200."""
    answer = client.post("/capture", json=turn("API Error: 529 Overloaded", role="assistant"))
    assert answer.status_code == 200
    assert (answer.json()["id"], answer.json()["skipped"]) == (None, "poison")
    assert count_rows(db) == 0


def test_secrets_are_masked_and_counted(client: TestClient, db: Database) -> None:
    """The receipt names the kind and number of secrets; neither the answer nor the row holds one."""
    secret = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    answer = client.post("/capture", json=turn(f"Use the token {secret} for the mirror."))
    assert answer.status_code == 201
    assert sum(one["count"] for one in answer.json()["redactions"]) == 1
    assert secret not in answer.text
    row = db.fetch_one("select body from raw_items")
    assert row is not None
    assert secret not in row["body"]


def test_a_hook_leaves_its_sign_of_life_with_the_items(client: TestClient, db: Database) -> None:
    """Items and the hook's heartbeat arrive in one request; a heartbeat alone is taken as well."""
    assert client.post("/capture", json={"items": [turn("The end.")], "hook": HOOK}).status_code == 201
    assert client.post("/capture", json={"hook": HOOK}).status_code == 200
    beat = db.fetch_one("select beats, host from hook_heartbeats")
    assert beat == {"beats": 2, "host": "laptop"}


@pytest.mark.parametrize("place", [0, 1, 2])
def test_one_bad_item_keeps_all_out(client: TestClient, db: Database, place: int) -> None:
    """The field and the item's index are named, and no item of the request is stored."""
    items = [turn("The first."), turn("The second."), turn("The third.")]
    items[place]["kind"] = "opinion"
    answer = client.post("/capture", json={"items": items})
    assert answer.status_code == 422
    error = answer.json()["error"]
    assert (error["code"], error["field"], error["index"]) == ("invalid_item", "kind", place)
    assert f"items[{place}].kind" in error["message"]
    assert count_rows(db) == 0


def test_a_bad_hook_keeps_all_out(client: TestClient, db: Database) -> None:
    """A malformed heartbeat is named, and the items that came with it are not stored."""
    answer = client.post("/capture", json={"items": [turn("The first.")], "hook": {"host": 3}})
    assert answer.status_code == 422
    assert "hook.host" in answer.json()["error"]["message"]
    assert count_rows(db) == 0


def test_concurrent_repeats_make_one_row(server: httpx.Client, db: Database) -> None:
    """Eight connections that send the same turn at once get one id; exactly one of them made the row."""
    for number in range(5):
        item = turn(f"The same thought number {number}, many times.")

        def send(_: int, item: dict[str, object] = item) -> httpx.Response:
            return server.post("/capture", json=item)

        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(send, range(8)))
        assert sorted(answer.status_code for answer in answers) == [200] * 7 + [201]
        assert len({answer.json()["id"] for answer in answers}) == 1
    assert count_rows(db) == 5


def test_concurrent_batches_that_cross_make_no_second_row(server: httpx.Client, db: Database) -> None:
    """Two lists of the same items in opposite order, at once: no deadlock, and one row an item."""
    items = [turn(f"Item number {number} of many.") for number in range(50)]
    with ThreadPoolExecutor(4) as pool:
        lists = [items, items[::-1], items, items[::-1]]
        answers = list(pool.map(lambda one: server.post("/capture", json={"items": one}), lists))
    assert all(answer.status_code in (200, 201) for answer in answers)
    assert count_rows(db) == 50


def test_a_thousand_items_are_taken_and_one_more_is_not(client: TestClient, db: Database) -> None:
    """The contract's limit of items a request."""
    items = [turn(f"Item number {number}.") for number in range(1001)]
    refused = client.post("/capture", json={"items": items})
    assert refused.status_code == 422
    assert "1000" in refused.json()["error"]["message"]
    assert client.post("/capture", json={"items": items[:1000]}).status_code == 201
    assert count_rows(db) == 1000
