"""/ui/search: one box over notes and verbatim turns."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest

from argus_memory.db import Database
from tests.filled_store import Filled, add_many_notes
from tests.ui_client import Browser, count_queries, words_of


def hits(html: str) -> list[str]:
    """Where the hits lead, in their order."""
    return re.findall(r'<h3 dir="auto"><a href="([^"]+)"', html)


def walk(browser: Browser, path: str) -> list[str]:
    """The hits of all pages from this one on."""
    found: list[str] = []
    while path:
        page = browser.page(path)
        found += hits(page)
        onward = re.search(r'rel="next" href="([^"]+)"', page)
        path = onward[1].replace("&amp;", "&") if onward else ""
    return found


def test_a_question_finds_notes_and_turns_and_says_why(reader: Browser, shelf: Filled) -> None:
    """Each hit with its track and rank, its words marked, project, source and time."""
    page = reader.page("/ui/search?q=where+do+the+dumps+go")
    found = hits(page)
    assert f"/ui/notes/{shelf.note('Nightly dumps')}" in found
    assert f"/ui/raw/{shelf.turns['backup'][0]}" in found
    words = words_of(page)
    assert words.count("Found by words (rank 1)") == 2
    assert "<mark>dumps</mark>" in page
    assert "homelab" in words
    assert "claude-code" in words


def test_words_alone_are_told(reader: Browser) -> None:
    """Nothing is embedded here, and the page does not pretend otherwise."""
    assert "Words alone were looked for" in words_of(reader.page("/ui/search?q=dumps"))


def test_nothing_on_record_is_said(reader: Browser) -> None:
    """An empty answer names what could be changed."""
    assert "Nothing on record fits." in words_of(reader.page("/ui/search?q=walrus"))


def test_an_empty_store_says_what_fills_it(bare: Browser) -> None:
    """With the command."""
    assert "argus hooks install" in bare.page("/ui/search")
    assert "Nothing on record fits." in bare.page("/ui/search?q=vents")


@pytest.mark.parametrize(
    ("query", "there", "away"),
    [
        ("type=note", "/ui/notes/", "/ui/raw/"),
        ("type=turn", "/ui/raw/", "/ui/notes/"),
        ("type=turn&kind=document", None, "/ui/"),
        ("project=workshop", None, None),
        ("source=codex", None, None),
        ("kind=turn", "/ui/", None),
    ],
)
def test_filters_narrow_both_kinds(reader: Browser, query: str, there: str | None, away: str | None) -> None:
    """In, project, kind, source: of a question and of the newest alike."""
    for question in ("&q=label+printer", ""):
        page = reader.page(f"/ui/search?{query}{question}")
        if there:
            assert hits(page)
            assert all(there in one for one in hits(page))
        if away:
            assert not any(away in one for one in hits(page))
        if "workshop" in query or "codex" in query:
            assert hits(page)
            assert "homelab" not in "".join(re.findall(r'<p class="meta">.*?</p>', page, re.DOTALL))


def test_time_narrows(reader: Browser, shelf: Filled) -> None:
    """Since and until, as a person writes them; what lies outside is not found."""
    note = f"/ui/notes/{shelf.note('The greenhouse vents')}"
    assert note in hits(reader.page("/ui/search?q=vents&since=3d"))
    assert note not in hits(reader.page("/ui/search?q=vents&since=1d"))
    assert note in hits(reader.page("/ui/search?since=3d&until=1d"))
    assert note not in hits(reader.page("/ui/search?until=3d"))
    assert hits(reader.page("/ui/search?type=turn&since=12h&until=3h")) == [
        f"/ui/raw/{id_}" for id_ in reversed(shelf.turns["backup"])
    ]


def test_states_are_told_apart(reader: Browser, shelf: Filled) -> None:
    """Live is what is shown unasked; excluded, replaced and pinned notes are found by their state."""
    states = {
        "pinned": "Tomatoes are", "excluded": "The relay", "replaced": "Dumps are kept for 30",
    }  # fmt: skip
    live = hits(reader.page("/ui/search"))
    for state, beginning in states.items():
        path = f"/ui/notes/{shelf.note(beginning)}"
        assert path in hits(reader.page(f"/ui/search?state={state}"))
        assert (path in live) == (state == "pinned")
        assert path in hits(reader.page("/ui/search?state=any"))
    words = "relay"
    found = reader.page(f"/ui/search?q={words}&state=excluded")
    assert f"/ui/notes/{shelf.note('The relay')}" in hits(found)
    assert f"/ui/notes/{shelf.note('The relay')}" not in hits(reader.page(f"/ui/search?q={words}"))


def test_the_newest_come_page_by_page_each_once(filled: Filled, browser: Browser, db: Database) -> None:
    """120 notes in every order over three pages; the count stands on each."""
    add_many_notes(db, 120, datetime.now(UTC))
    for order in ("", "&sort=oldest", "&sort=importance"):
        found = walk(browser, f"/ui/search?type=note&project=garden{order}")
        assert len(found) == len(set(found)) == 123
    assert "123 notes" in words_of(browser.page("/ui/search?type=note&project=garden"))


def test_ranked_hits_come_page_by_page_each_once(filled: Filled, browser: Browser, db: Database) -> None:
    """The order of the first page goes on; a link to a page gives that page again."""
    add_many_notes(db, 90, datetime.now(UTC))
    found = walk(browser, "/ui/search?q=bed+plants&type=note")
    assert len(found) == len(set(found)) >= 90
    first = browser.page("/ui/search?q=bed+plants&type=note")
    onward = re.search(r'rel="next" href="([^"]+)"', first)
    assert onward
    path = onward[1].replace("&amp;", "&")
    assert hits(browser.page(path)) == hits(browser.page(path)) == found[50:100]


@pytest.mark.parametrize("path", ["/ui/search?q=plants", "/ui/search", "/ui/search?type=turn"])
def test_queries_do_not_grow_with_the_hits(filled: Filled, browser: Browser, db: Database, path: str) -> None:
    """As many statements for fifty hits as for a few."""
    add_many_notes(db, 2, datetime.now(UTC))
    browser.page(path)
    with count_queries() as few:
        browser.page(path)
    with db.transaction() as conn:
        conn.execute("update distilled_notes set content = content || ' And plants.' where false")
    add_many_more(db)
    with count_queries() as many:
        browser.page(path)
    assert len(few) == len(many) <= 20


def add_many_more(db: Database) -> None:
    with db.transaction() as conn:
        conn.execute(
            """insert into distilled_notes (uid, text_key, raw_id, title, content, category, importance, confidence,
                                            project, source_ref, role, said_at, model, valid_from)
               select 'more-' || n, md5('more' || n), raw_id, 'Row ' || n || ' has plants', 'Row ' || n || ' has plants.',
                      category, importance, confidence, project, source_ref, role, said_at, model, valid_from
               from distilled_notes, generate_series(1, 80) n where uid = 'many-1'"""
        )


def test_captured_text_is_text(reader: Browser) -> None:
    """Markup is escaped, terminal sequences are gone, what has no width or turns the direction is made visible."""
    for path in ("/ui/search?project=lab", "/ui/search?q=said&project=lab", "/ui/search?type=turn&project=lab"):
        page = reader.page(path)
        assert "<script>document" not in page
        assert "<img src=x" not in page
        assert "\x1b" not in page
        assert "\u202e" not in page
        assert "\u200b" not in page
        assert "⟨U+202E⟩gpj.exe" in page
        assert "👩‍🔬" in page or "q=said" in path
        assert len(page) < 60_000


@pytest.mark.parametrize(
    "query",
    ["type=all%00", "kind=magic", "state=gone", "since=whenever", "until=13th", "sort=best", "after=nowhere",
     "project=" + "x" * 500],
)  # fmt: skip
def test_what_cannot_be_asked_is_refused_in_a_sentence(reader: Browser, query: str) -> None:
    """422 as a page."""
    answer = reader.get(f"/ui/search?{query}")
    assert answer.status_code == 422
    assert "To the overview" in answer.text


@pytest.mark.parametrize(
    "question", ["%00", "%F0%9F%8C%B1", "'); drop table notes; --", "<script>alert(1)</script>", "%25s %(q)s", "the and or",
                 "\u202e", "a" * 399],
)  # fmt: skip
def test_any_question_is_answered(reader: Browser, question: str) -> None:
    """Hostile or without a word to look for: a page, with the question as it was typed and escaped."""
    answer = reader.get(f"/ui/search?q={question}")
    assert answer.status_code == 200
    assert "<script>alert" not in answer.text


def test_a_project_that_is_none_holds_nothing(reader: Browser) -> None:
    """An empty answer, and the filter still shows what was asked for."""
    page = reader.page("/ui/search?project=nowhere&q=vents")
    assert "Nothing on record fits." in words_of(page)
    assert 'value="nowhere" selected' in page
    assert "Nothing fits these filters." in words_of(reader.page("/ui/search?project=nowhere"))
