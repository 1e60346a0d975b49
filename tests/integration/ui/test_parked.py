"""The page of what was tried too often: the reasons, another try, giving up."""

from __future__ import annotations

from argus_memory.db import Database
from tests.filled_store import Filled
from tests.ui_client import Browser, count_queries, words_of

STATE = "select status, content_failures, last_error from distill_state where unit_kind = 'episode' and unit_id = %(id)s"


def parked_episode(db: Database) -> int:
    row = db.fetch_one("select unit_id from distill_state where status = 'parked'")
    assert row
    return int(row["unit_id"])


def test_what_is_parked_is_listed_with_its_reasons(browser: Browser, filled: Filled, db: Database) -> None:
    """The last error, and every try under it, as text."""
    with db.transaction() as conn:
        conn.execute(
            """insert into distill_failures (unit_kind, unit_id, class, detail, model, attempt, parked)
               values ('episode', %s, 'content', 'the answer <i>is</i> no JSON', 'small:8b', 5, true)""",
            (parked_episode(db),),
        )
    page = browser.page("/ui/parked")
    assert "1 thing" in words_of(page)
    assert "1 try" in words_of(page)
    assert "the answer &lt;i&gt;is&lt;/i&gt; no JSON" in page


def test_another_try_makes_it_wait_again(browser: Browser, filled: Filled, db: Database) -> None:
    """With a clean count; a second time there is nothing parked."""
    id_ = parked_episode(db)
    assert "five more tries" in words_of(browser.follow(f"/ui/parked/episode/{id_}/retry"))
    row = db.fetch_one(STATE, {"id": id_})
    assert row is not None
    assert (row["status"], row["content_failures"]) == ("pending", 0)
    assert browser.send(f"/ui/parked/episode/{id_}/retry").status_code == 404


def test_giving_up_says_who_did_and_keeps_the_reason(browser: Browser, filled: Filled, db: Database) -> None:
    """It is tried no more, and its last error stays readable."""
    id_ = parked_episode(db)
    assert "Given up" in words_of(browser.follow(f"/ui/parked/episode/{id_}/drop"))
    row = db.fetch_one(STATE, {"id": id_})
    assert row is not None
    assert row["status"] == "skipped"
    assert row["last_error"].startswith("given up by ui on ")
    assert row["last_error"].endswith("the answer is no JSON")
    assert "Nothing is parked." in words_of(browser.page("/ui/parked"))


def test_a_text_that_could_not_be_embedded_gets_five_more_tries(browser: Browser, filled: Filled, db: Database) -> None:
    """Its row of the queue begins to count anew; it cannot be given up."""
    raw = filled.turns["backup"][0]
    with db.transaction() as conn:
        space = conn.execute(
            """insert into embedding_spaces (model, dim, checksum, status, thresholds, calibration)
               values ('test', 2, 'c', 'active', '{}', '{}') returning id"""
        ).fetchone()
        assert space
        conn.execute(
            """insert into embed_queue (space_id, target, target_id, attempts, last_error) values (%(s)s, 'turn', %(raw)s, 5, 'no')
               on conflict (space_id, target, target_id) do update set attempts = 5, last_error = 'no'""",
            {"s": space["id"], "raw": raw},
        )
    assert f"turn {raw}" in words_of(browser.page("/ui/parked?kind=embedding"))
    assert browser.send(f"/ui/parked/turn/{raw}/drop").status_code == 404
    assert "five more tries" in words_of(browser.follow(f"/ui/parked/turn/{raw}/retry"))
    assert db.fetch_one("select attempts from embed_queue where target_id = %(raw)s and space_id = %(s)s", {"raw": raw, "s": space["id"]}) == {"attempts": 0}  # fmt: skip


def test_an_empty_list_says_what_would_fill_it(bare: Browser) -> None:
    """Nothing parked is good news."""
    assert "Nothing is parked." in words_of(bare.page("/ui/parked"))


def test_the_queries_do_not_grow_with_the_rows(bare: Browser, reader: Browser) -> None:
    """Three, whatever is parked."""
    with count_queries() as few:
        bare.page("/ui/parked")
    with count_queries() as many:
        reader.page("/ui/parked")
    assert len(few) == len(many)
