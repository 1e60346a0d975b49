"""Whoever sends what how often and at the same time: one row for one thing, all or nothing for one request."""

from __future__ import annotations

import random
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import count

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from argus_memory.db import Database
from argus_memory.errors import InvalidItem, Unreachable
from argus_memory.records import Receipt
from argus_memory.settings import Settings
from argus_memory.stages.capture import accept

from .items import NOW, turn

NUMBERS = count()
SHARED = settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.parametrize("size", [1, 40])
def test_parallel_repeats_make_one_row_each(db: Database, settings: Settings, size: int) -> None:
    """Eight senders of the same items, each in an order of its own: no second row, no deadlock, one id for all."""
    items = [turn(f"Step {n}", uuid=f"u-{n}") for n in range(size)]
    ready = threading.Barrier(8)

    def send(number: int) -> dict[str, int | None]:
        mine = random.Random(number).sample(items, len(items))
        ready.wait()
        receipts = accept(db, settings, mine, now=NOW)
        return {item["body"]: receipt.id for item, receipt in zip(mine, receipts, strict=True)}

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(send, range(8)))
    assert all(answer == answers[0] for answer in answers)
    row = db.fetch_one("select count(*) as n from raw_items")
    assert row == {"n": size}


def test_repeats_that_meet_by_either_key_make_one_row(db: Database, settings: Settings) -> None:
    """Copies of one turn under four sessions at once: the uuid alone tells that they are one."""
    ready = threading.Barrier(8)

    def send(number: int) -> Receipt:
        ready.wait()
        return accept(db, settings, [turn("Forked.", uuid="u", session=f"s{number % 4}")], now=NOW)[0]

    with ThreadPoolExecutor(8) as pool:
        receipts = list(pool.map(send, range(8)))
    assert len({receipt.id for receipt in receipts}) == 1
    assert sum(not receipt.duplicate for receipt in receipts) == 1


ITEMS = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from(["s1", "s2"]), st.sampled_from(["u1", "u2", None]),
              st.sampled_from(["2026-11-30T10:00:00Z", None])),
    max_size=8,
)  # fmt: skip


@SHARED
@given(st.lists(ITEMS, min_size=1, max_size=4))
def test_no_two_rows_share_a_key_and_receipts_point_at_rows(
    db: Database, settings: Settings, requests: list[list[tuple[str, str, str | None, str | None]]]
) -> None:
    """Whatever is sent in whatever portions: each receipt names a row, and a row is new in exactly one receipt."""
    with db.transaction() as conn:
        before = {row["id"] for row in conn.execute("select id from raw_items")}
    new: list[int | None] = []
    for request in requests:
        items = [turn(body, session=session, uuid=uuid, at=at) for body, session, uuid, at in request]
        items = [{**item, "metadata": {k: v for k, v in item["metadata"].items() if v is not None}} for item in items]
        receipts = accept(db, settings, items, now=NOW)
        assert len(receipts) == len(items)
        rows = {row["id"]: row for row in db.fetch_all("select id, body, identity_key from raw_items")}
        for item, receipt in zip(items, receipts, strict=True):
            row = rows[receipt.id]
            assert row["body"] == item["body"] or row["identity_key"] == f"uuid:{item['metadata'].get('uuid')}"
        new += [receipt.id for receipt in receipts if not receipt.duplicate]
    after = {row["id"] for row in db.fetch_all("select id from raw_items")}
    assert sorted(new, key=str) == sorted(after - before, key=str)


@SHARED
@given(st.lists(st.sampled_from(["ok", "bad"]), min_size=1, max_size=6))
def test_a_request_is_stored_whole_or_not_at_all(db: Database, settings: Settings, kinds: list[str]) -> None:
    """One malformed item anywhere keeps all of its request out, and its index is the first bad one's."""
    counted = "select count(*) as n from raw_items"
    before = db.fetch_one(counted)
    number = next(NUMBERS)
    items = [turn(f"Request {number}, item {n}", **({} if kind == "ok" else {"position": "x"})) for n, kind in enumerate(kinds)]
    if "bad" in kinds:
        with pytest.raises(InvalidItem) as caught:
            accept(db, settings, items, now=NOW)
        assert caught.value.index == kinds.index("bad")
        assert db.fetch_one(counted) == before
    else:
        assert before
        accept(db, settings, items, now=NOW)
        assert db.fetch_one(counted) == {"n": before["n"] + len(items)}


def test_a_connection_that_dies_in_the_middle_leaves_nothing_behind(
    db: Database, settings: Settings, dsn: str
) -> None:
    """The server ends the session while a request waits: Unreachable, no row; sent again, all of it is stored."""
    items = [turn(f"Step {n}") for n in range(5)]
    accept(db, settings, [turn("Warm.")], now=NOW)
    with psycopg.connect(dsn) as holder, ThreadPoolExecutor(1) as pool:
        holder.execute("select pg_advisory_xact_lock(hashtext('argus bulk capture'))")
        waiting = pool.submit(accept, db, settings, items, now=NOW)
        with psycopg.connect(dsn, autocommit=True) as killer:
            found: list[tuple[int]] = []
            while not found:
                found = killer.execute(
                    "select pid from pg_locks where locktype = 'advisory' and not granted and database ="
                    " (select oid from pg_database where datname = current_database())"
                ).fetchall()
            killer.execute("select pg_terminate_backend(%s)", found[0])
        with pytest.raises(Unreachable):
            waiting.result(20)
    assert db.fetch_one("select count(*) as n from raw_items") == {"n": 1}
    assert [receipt.duplicate for receipt in accept(db, settings, items, now=NOW)] == [False] * 5
