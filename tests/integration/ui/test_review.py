"""The page of reviews: all kinds in one list, decided there, taken back there."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from argus_memory.db import Database
from argus_memory.upkeep.decisions import decide, lock_note, write_decision
from tests.filled_store import Filled
from tests.ui_client import Browser, count_queries, words_of


def hold_decision(db: Database, filled: Filled, verb: str = "forget") -> int:
    """An agent would forget a note that a person said; returns the held decision's id."""
    note = filled.note("The greenhouse vents")
    receipt = decide(db, verb, note, "codex", kind="agent", reason="<b>stale</b>", now=datetime.now(UTC))  # type: ignore[arg-type]
    assert receipt.outcome == "held"
    row = db.fetch_one("select id from note_decisions where status = 'held'")
    assert row
    return int(row["id"])


def test_what_waits_is_shown_with_both_texts_and_the_reasoning(reader: Browser) -> None:
    """A held merge with its notes, closeness and words; an agent's proposal; what differs is marked."""
    page = reader.page("/ui/review")
    words = words_of(page)
    assert "2 reviews" in words
    assert "both speak of dumps, the later one of a disk" in words
    assert "closeness 0.86" in words
    assert "proposed by codex" in words
    assert "The heating oil is delivered in October." in words
    assert "<del>" in page
    assert "<ins>" in page


def test_filters_narrow_and_what_is_none_is_refused(reader: Browser) -> None:
    """By kind and project."""
    assert "1 review" in words_of(reader.page("/ui/review?kind=proposals"))
    assert "Nothing fits" in words_of(reader.page("/ui/review?kind=regenerations"))
    assert reader.get("/ui/review?kind=wishes").status_code == 422
    assert "Nothing fits" in words_of(reader.page("/ui/review?project=nowhere"))


def test_an_empty_list_says_what_would_fill_it(bare: Browser) -> None:
    """Of both tabs."""
    assert "Nothing waits for you." in words_of(bare.page("/ui/review"))
    assert "No merge was settled yet." in words_of(bare.page("/ui/review/settled"))


def test_the_queries_do_not_grow_with_the_rows(bare: Browser, reader: Browser) -> None:
    """Four, whatever waits."""
    for path in ("/ui/review", "/ui/review/settled"):
        with count_queries() as few:
            bare.page(path)
        with count_queries() as many:
            reader.page(path)
        assert len(few) == len(many)


def test_a_merge_is_rejected_and_taken_back(browser: Browser, filled: Filled, db: Database) -> None:
    """Rejected, it stands under the settled ones; taken back, it waits again."""
    (row,) = db.fetch_all("select id from dedup_log where status = 'pending'")
    told = words_of(browser.follow(f"/ui/review/merges/{row['id']}/reject"))
    assert "Rejected: both notes stand." in told
    assert "1 review" in told
    assert "rejected" in words_of(browser.page("/ui/review/settled?status=rejected"))
    told = words_of(browser.follow(f"/ui/review/merges/{row['id']}/undo", **{"from": "settled"}))
    assert "It waits again." in told
    assert "2 reviews" in words_of(browser.page("/ui/review"))


def test_two_people_approve_the_same(browser: Browser, filled: Filled, db: Database) -> None:
    """The second is told that it was decided, and nothing is done twice."""
    (row,) = db.fetch_all("select id from note_proposals where status = 'pending'")
    path = f"/ui/review/proposals/{row['id']}/approve"
    assert "Approved: it is note" in words_of(browser.follow(path))
    count = db.fetch_one("select count(*)::int as n from distilled_notes")
    assert "Nothing was changed." in words_of(browser.follow(path))
    assert db.fetch_one("select count(*)::int as n from distilled_notes") == count


def test_an_agents_decision_waits_and_is_rejected(browser: Browser, filled: Filled, db: Database) -> None:
    """With who asked and why, as text; rejected, the note stands; no undo pretends to exist."""
    held = hold_decision(db, filled)
    page = browser.page("/ui/review?kind=decisions")
    assert "asked for by codex" in words_of(page)
    assert "&lt;b&gt;stale&lt;/b&gt;" in page
    assert "Rejected: the note stays as it is." in words_of(browser.follow(f"/ui/review/decisions/{held}/reject"))
    assert "Nothing was changed." in words_of(browser.follow(f"/ui/review/decisions/{held}/undo"))
    row = db.fetch_one("select deleted_at from distilled_notes where id = %(id)s", {"id": filled.note("The greenhouse")})
    assert row == {"deleted_at": None}


def test_what_there_is_not_is_a_page_and_no_change(browser: Browser, filled: Filled) -> None:
    """An id, a kind and a verb that do not exist are 404 in one sentence."""
    for path in ("/ui/review/merges/999/approve", "/ui/review/wishes/1/approve", "/ui/review/merges/1/bless"):
        assert browser.send(path).status_code == 404


def test_having_looked_is_said_by_a_person(browser: Browser, filled: Filled, db: Database) -> None:
    """Opening the page is not looking; the button is, and what is new counts from then on."""
    assert "Nobody looked before: 2 new" in words_of(browser.page("/ui/review"))
    assert re.search(r"Since you looked .*: 0 new", words_of(browser.follow("/ui/review/looked")))


def test_an_expired_session_changes_nothing(browser: Browser, filled: Filled, db: Database) -> None:
    """A form sent after the session ended leads to signing in; the merge waits as before."""
    (row,) = db.fetch_all("select id from dedup_log where status = 'pending'")
    browser.client.cookies.clear()
    answer = browser.client.post(f"/ui/review/merges/{row['id']}/approve", data={"csrf": "old"})
    assert (answer.status_code, answer.headers["location"].split("?")[0]) == (303, "/ui/sign-in")
    assert db.fetch_one("select status from dedup_log where status = 'pending'") == {"status": "pending"}


def test_what_an_agent_would_redact_is_shown_before(browser: Browser, filled: Filled, db: Database) -> None:
    """No button approves it unseen: a page tells what would go, nothing changed by that, and takes it out from there."""
    note = filled.note("The greenhouse vents")
    with db.transaction() as conn:
        row = lock_note(conn, note)
        held = write_decision(
            conn, row, "redact", "codex", now=datetime.now(UTC), kind="agent", held=True, new_text=row["content"][4:14]
        )
    page = browser.page("/ui/review?kind=decisions")
    assert "To be taken out for good" in words_of(page)
    assert f"/ui/review/decisions/{held}/approve" not in page
    shown = browser.send(f"/ui/review/decisions/{held}/preview")
    assert (shown.status_code, "This would change: " in words_of(shown.text)) == (200, True)
    assert "greenhouse" in (db.fetch_one("select content from note_decisions where id = %(id)s", {"id": held}) or {})["content"]
    assert f'action="/ui/review/decisions/{held}/approve"' in shown.text
    assert "lost the words" in words_of(browser.follow(f"/ui/review/decisions/{held}/approve"))
    left = db.fetch_one("select content from distilled_notes where id = %(id)s", {"id": note})
    assert left
    assert "greenhouse" not in left["content"]
    assert "Nothing was changed." in words_of(browser.follow(f"/ui/review/decisions/{held}/approve"))
