"""A document captured again with hardly a change is stored, linked, and not distilled twice."""

from __future__ import annotations

from typing import Any

import pytest

from argus_memory.db import Database
from argus_memory.records import Receipt
from argus_memory.settings import Settings
from argus_memory.stages.capture import accept

from .items import NOW, item, page


def capture(db: Database, settings: Settings, *bodies: str, **more: Any) -> list[Receipt]:
    given = {"kind": "document", "source": "feed", **more}
    return accept(db, settings, [item(body, **given) for body in bodies], now=NOW)


def states(db: Database) -> list[tuple[int, str]]:
    found = db.fetch_all("select unit_id, status from distill_state order by unit_id")
    return [(row["unit_id"], row["status"]) for row in found]


PAGE = page("mossy and old")


def test_a_page_with_a_byte_changed_is_linked_and_not_distilled(db: Database, settings: Settings) -> None:
    """The receipt names the first one; the row is there; only the first is queued."""
    (first,) = capture(db, settings, PAGE)
    (again,) = capture(db, settings, PAGE.replace("gorse", "gorze", 1))
    assert again.id != first.id
    assert (again.duplicate, again.near_duplicate_of) == (False, first.id)
    assert states(db) == [(first.id, "pending"), (again.id, "skipped")]
    row = db.fetch_one("select raw_id, of_raw_id, similarity from near_duplicates")
    assert row
    assert (row["raw_id"], row["of_raw_id"]) == (again.id, first.id)
    assert 0.9 <= row["similarity"] < 1


def test_the_same_page_within_one_request_is_linked(db: Database, settings: Settings) -> None:
    """Order decides: the later item repeats the earlier one."""
    first, again = capture(db, settings, PAGE, PAGE + "!")
    assert (first.near_duplicate_of, again.near_duplicate_of) == (None, first.id)


@pytest.mark.parametrize(
    "other",
    [
        page("freshly painted"), page("mossy and old", 6), PAGE.replace("mossy", "400 years", 1),
        PAGE.replace("gorse", "gorze", 1)[:150],
    ],
    ids=["another page", "half of it", "a number changed", "too short to tell"],
)  # fmt: skip
def test_other_documents_are_distilled(db: Database, settings: Settings, other: str) -> None:
    """Other words, other numbers and short texts are documents of their own."""
    _, receipt = capture(db, settings, PAGE, other)
    assert receipt.near_duplicate_of is None
    assert [status for _, status in states(db)] == ["pending", "pending"]


def test_other_kinds_and_other_projects_are_left_alone(db: Database, settings: Settings) -> None:
    """Only documents of one project are compared: its notes would not be found from another."""
    capture(db, settings, PAGE)
    (event,) = capture(db, settings, PAGE + "!", kind="event")
    (elsewhere,) = capture(db, settings, PAGE + "!!", cwd="/home/kim/kitchen")
    assert event.near_duplicate_of is None
    assert elsewhere.near_duplicate_of is None


def test_a_page_that_drifts_is_distilled_again(db: Database, settings: Settings) -> None:
    """Small changes add up: versions are compared with the one that was distilled, not with each other."""
    receipts = []
    text = PAGE
    for word in ("alder", "birch", "cedar", "damson", "elder", "hazel", "gorse", "maple"):
        receipts += capture(db, settings, text)
        text = text.replace(word, word[::-1] + "ish")
    fresh = [receipt for receipt in receipts if receipt.near_duplicate_of is None]
    assert 1 < len(fresh) < len(receipts)
    assert {receipt.near_duplicate_of for receipt in receipts} - {None} <= {receipt.id for receipt in fresh}


def test_an_exact_repeat_is_a_duplicate_and_not_near(db: Database, settings: Settings) -> None:
    """The dedup key comes first."""
    (first,) = capture(db, settings, PAGE)
    (again,) = capture(db, settings, PAGE)
    assert (again.id, again.duplicate, again.near_duplicate_of) == (first.id, True, None)
    assert db.fetch_all("select raw_id from near_duplicates") == []
