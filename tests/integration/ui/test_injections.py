"""/ui/injections: the ledger of recalls, its filters, the scores, and what another floor would have done."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest
from psycopg.types.json import Jsonb

from argus_memory.db import Database
from tests.filled_store import Filled
from tests.ui_client import Browser, count_queries, words_of


def add_recall(db: Database, query: str, *, project: str = "attic", **given: object) -> int:
    """A recall of a prompt, by default one that showed nothing."""
    row = {
        "at": datetime.now(UTC), "session": "attic-1", "query": query, "project": project, "notes": [], "scores": [],
        "turns": [], "dropped": [], "skipped": None, "floor": 0.015, "mode": True, **given,
    }  # fmt: skip
    made = db.fetch_one(
        """insert into injections (at, session, query, project, prompt_mode, note_ids, note_scores, rrf_scores, turn_ids,
                                   turn_scores, dropped, skipped, floor, milliseconds)
           values (%(at)s, %(session)s, %(query)s, %(project)s, %(mode)s, %(notes)s, %(scores)s::real[], %(scores)s::real[],
                   %(turns)s::bigint[], %(turns)s::bigint[]::real[], %(dropped)s, %(skipped)s, %(floor)s, 12) returning id""",
        {**row, "dropped": Jsonb(row["dropped"])},
    )
    assert made
    return int(made["id"])


def ids_of(html: str) -> list[int]:
    return [int(one) for one in re.findall(r'<td class="age"><a href="/ui/injections/(\d+)"', html)]


def test_the_ledger_shows_each_recall_with_what_became_of_it(reader: Browser, shelf: Filled) -> None:
    """Newest first, each with its notes and whether the answer used them; the count stands above."""
    page = reader.page("/ui/injections")
    words = words_of(page)
    assert "61 recalls, 50 on this page" in words or "60 recalls, 50 on this page" in words
    assert "used" in words
    assert "nothing on record" in words
    assert "The greenhouse vents open" in words
    assert len(ids_of(page)) == 50


def test_an_empty_ledger_says_what_fills_it(bare: Browser) -> None:
    """With the command, and without a plot of nothing."""
    words = words_of(bare.page("/ui/injections"))
    assert "Nothing was recalled yet." in words
    assert "argus hooks install" in words
    assert "Scores" not in words


@pytest.mark.parametrize("outcome", ["shown", "used", "unused", "waiting", "nothing", "gated"])
def test_outcomes_part_the_ledger(filled: Filled, browser: Browser, db: Database, outcome: str) -> None:
    """Each recall of a project of its own is found under its outcomes and no other."""
    note = filled.note("Tomatoes")
    used = add_recall(db, "used", notes=[note], scores=[0.02])
    unused = add_recall(db, "unused", notes=[note], scores=[0.02])
    waiting = add_recall(db, "waiting", notes=[note], scores=[0.02])
    turn = add_recall(db, "turn", turns=[filled.turns["backup"][0]])
    nothing = add_recall(db, "nothing", skipped="nothing-on-record")
    gated = add_recall(db, "ok", skipped="substance")
    with db.transaction() as conn:
        for id_, was in ((used, True), (unused, False)):
            conn.execute(
                """insert into injection_uses (injection_id, note_id, used, score, turn_raw_id, at)
                   values (%s, %s, %s, 0.5, %s, now())""",
                (id_, note, was, filled.turns["backup"][1]),
            )
    wanted = {
        "shown": [turn, waiting, unused, used], "used": [used], "unused": [unused], "waiting": [waiting],
        "nothing": [nothing], "gated": [gated],
    }  # fmt: skip
    assert ids_of(browser.page(f"/ui/injections?project=attic&outcome={outcome}")) == wanted[outcome]


def test_filters_and_orders_narrow_and_turn(filled: Filled, browser: Browser, db: Database) -> None:
    """By session, note and kind; oldest first."""
    note = filled.note("Tomatoes")
    first = add_recall(db, "one", session="attic-2", notes=[note], scores=[0.02])
    second = add_recall(db, "two", session="attic-2", at=datetime.now(UTC) + timedelta(seconds=1))
    begun = add_recall(db, "", session="attic-3", mode=False)
    assert ids_of(browser.page("/ui/injections?session=attic-2")) == [second, first]
    assert ids_of(browser.page("/ui/injections?session=attic-2&sort=oldest")) == [first, second]
    assert ids_of(browser.page(f"/ui/injections?session=attic-2&note={note}")) == [first]
    assert ids_of(browser.page("/ui/injections?project=attic&kind=context")) == [begun]


@pytest.mark.parametrize("sort", ["newest", "oldest", "slowest", "longest"])
def test_every_recall_comes_once_page_by_page(reader: Browser, sort: str) -> None:
    """In every order; a place past the end leads back."""
    found, path = [], f"/ui/injections?sort={sort}"
    while path:
        page = reader.page(path)
        found += ids_of(page)
        onward = re.search(r'rel="next" href="([^"]+)"', page)
        path = onward[1].replace("&amp;", "&") if onward else ""
    assert len(found) == len(set(found)) >= 60
    assert "Back to the first page" in reader.page("/ui/injections?after=2001-01-01T00:00:00Z~1")


def test_another_floor_is_tried_on_stored_candidates(filled: Filled, browser: Browser, db: Database) -> None:
    """A lower one lets in what the floor alone kept out; a higher one keeps out what stood below it; nothing changes."""
    notes = [filled.note("Tomatoes"), filled.note("Nightly dumps")]
    low = {"type": "note", "id": notes[1], "score": 0.1, "rrf_score": 0.012, "reason": "relevance-floor"}
    far = {"type": "note", "id": notes[0], "score": 0.1, "rrf_score": 0.03, "reason": "evidence-floor"}
    kept = add_recall(db, "kept", notes=notes, scores=[0.031, 0.017])
    none = add_recall(db, "none", dropped=[low, far], skipped="nothing-on-record")
    before = db.fetch_one("select count(*) as n from injections")
    lower = words_of(browser.page("/ui/injections?project=attic&floor=0.011"))
    assert "1 candidate more would have passed this floor, in 1 recall, 1 of which showed nothing" in lower
    assert f"As in {none}" in lower
    assert "0 of 2 notes shown stand below it" in lower
    higher = words_of(browser.page("/ui/injections?project=attic&floor=0.02"))
    assert "1 of 2 notes shown stands below it, in 1 recall" in higher
    assert f"As in {kept}" in higher
    assert "0 candidates more would have passed" in higher
    gone = words_of(browser.page("/ui/injections?project=attic&floor=0,05&last=100"))
    assert "2 of 2 notes shown stand below it, in 1 recall, 1 of which would have shown nothing" in gone
    assert db.fetch_one("select count(*) as n from injections") == before


def test_the_plot_marks_the_floors(reader: Browser) -> None:
    """Kept and dropped over one axis, with the floor now and the one that is tried."""
    page = reader.page("/ui/injections?floor=0.02")
    assert page.count("relevance floor 0.0150") >= 2
    assert "tried floor 0.0200" in page
    assert "below the relevance floor" in words_of(page)


def test_a_recall_shows_what_it_chose_from(filled: Filled, browser: Browser, db: Database) -> None:
    """Notes and turns with scores, what was left out and why, used or not, and the way to its neighbours."""
    note, other = filled.note("Tomatoes"), filled.note("Nightly dumps")
    turn = filled.turns["greenhouse"][2]
    dropped = [{"type": "note", "id": other, "score": 0.3, "rrf_score": 0.0121, "reason": "relevance-floor"},
               {"type": "turn", "id": filled.turns["backup"][0], "score": 0.2, "rrf_score": 0.02, "reason": "evidence-floor"},
               {"type": "note", "id": 999999, "score": 0.2, "rrf_score": 0.02, "reason": "beyond-limit"}]  # fmt: skip
    first = add_recall(db, "before")
    id_ = add_recall(db, "when do I water?", notes=[note], scores=[0.031], turns=[turn], dropped=dropped)
    with db.transaction() as conn:
        conn.execute("insert into injection_checks values (%s, now(), 'scored', %s)", (id_, [turn + 1]))
        conn.execute(
            """insert into injection_uses (injection_id, note_id, used, score, turn_raw_id, at)
               values (%s, %s, true, 0.61, %s, now())""",
            (id_, note, turn + 1),
        )
    page = browser.page(f"/ui/injections/{id_}")
    words = words_of(page)
    for told in ("when do I water?", "RRF 0.0310", "0.61 of its own words in the answer", "below the relevance floor",
                 "too little to do with the prompt", "no longer there", "relevance floor 0.0150"):  # fmt: skip
        assert told in words + page
    assert f'href="/ui/notes/{other}"' in page
    assert f'href="/ui/raw/{turn}"' in page
    assert f'href="/ui/injections/{first}"' in page


@pytest.mark.parametrize(
    "path",
    ["/ui/injections?outcome=maybe", "/ui/injections?kind=x", "/ui/injections?floor=high", "/ui/injections?floor=nan",
     "/ui/injections?last=7", "/ui/injections?note=x", "/ui/injections?sort=best", "/ui/injections?after=x",
     "/ui/injections?note=99999999999999999999", "/ui/injections?session=" + "x" * 500],
)  # fmt: skip
def test_what_cannot_be_asked_is_refused_in_a_sentence(reader: Browser, path: str) -> None:
    """422 as a page."""
    answer = reader.get(path)
    assert answer.status_code == 422
    assert "To the overview" in answer.text


@pytest.mark.parametrize(("id_", "status"), [("99999", 404), ("0", 404), ("x", 422), ("-1", 404), ("9" * 30, 422)])
def test_an_id_that_is_none_is_said(reader: Browser, id_: str, status: int) -> None:
    """As a page, whatever stands in its place."""
    answer = reader.get(f"/ui/injections/{id_}")
    assert answer.status_code in (status, 404, 422)
    assert "To the overview" in answer.text


def test_captured_text_is_text(filled: Filled, browser: Browser, db: Database) -> None:
    """Of prompts, notes and turns: escaped, made visible, and clipped when it is a megabyte."""
    id_ = add_recall(
        db, "<script>alert(1)</script> \u202e\x1b[31m " + "x" * 1900, session="<b>odd</b>", project="<i>p</i>",
        notes=filled.hostile_notes, scores=[0.02] * len(filled.hostile_notes), turns=filled.turns["hostile"],
    )  # fmt: skip
    for path in ("/ui/injections", f"/ui/injections/{id_}"):
        page = browser.page(path)
        assert "<script>alert" not in page
        assert "<script>document" not in page
        assert "<b>odd" not in page
        assert "\u202e" not in page
        assert "\x1b" not in page
        assert len(page) < 200_000


def test_queries_do_not_grow_with_the_rows(filled: Filled, browser: Browser, db: Database) -> None:
    """As many statements for a full page as for a short one; for a recall of many notes as for an empty one."""
    one = add_recall(db, "none", project="small")
    many = add_recall(db, "all", notes=list(filled.notes.values()), scores=[0.02] * len(filled.notes))
    counts = []
    for path in ("/ui/injections?project=small", "/ui/injections", f"/ui/injections/{one}", f"/ui/injections/{many}"):
        browser.page(path)
        with count_queries() as sent:
            browser.page(path)
        counts.append(len(sent))
    assert counts[0] == counts[1] <= 14
    assert counts[2] == counts[3] <= 10
