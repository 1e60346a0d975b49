"""/ui/timeline: events of notes, and what changed about a subject between two moments."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest

from argus_memory.db import Database
from tests.filled_store import Filled, add_many_notes
from tests.ui_client import Browser, count_queries, words_of


def notes_of(html: str) -> list[str]:
    return re.findall(r'<td><a dir="auto" href="/ui/notes/(\d+)"', html)


def test_events_stand_with_their_note_and_actor(reader: Browser, shelf: Filled) -> None:
    """Newest first: what a person did, with the text, the other note and the project."""
    page = reader.page("/ui/timeline")
    words = words_of(page)
    for told in ("pinned", "excluded", "corrected", "created", "kim", "garden", "Tomatoes are watered"):
        assert told in words
    assert f'href="/ui/notes/{shelf.note("Dumps are kept for 14")}"' in page
    assert "Events a day" in page


def test_an_empty_timeline_says_what_fills_it(bare: Browser) -> None:
    """With the commands, and without a plot of nothing."""
    page = bare.page("/ui/timeline")
    assert "Nothing has happened to a note yet." in words_of(page)
    assert "argus import" in page
    assert "Events a day" not in page
    assert "Nothing changed about it" in words_of(bare.page("/ui/timeline?subject=vents"))


@pytest.mark.parametrize(
    ("query", "there", "away"),
    [("event=pinned", "Tomatoes", "Nightly"), ("actor=kim", "Tomatoes", "label printer"), ("actor=nobody", "Nothing fits", "kim"),
     ("project=homelab", "Nightly", "Tomatoes"), ("until=2001-01-01", "Nothing fits", "kim"), ("since=90d", "Tomatoes", None)],
)  # fmt: skip
def test_filters_narrow(reader: Browser, query: str, there: str, away: str | None) -> None:
    """By event, actor, project and time."""
    page = reader.page(f"/ui/timeline?{query}")
    rows = page[page.index('<p class="count">') :]
    assert there in rows
    assert away is None or away not in rows


def test_events_of_no_known_project_are_counted(filled: Filled, browser: Browser, db: Database) -> None:
    """A note that lost its project stands beside a project's events, and that is said."""
    with db.transaction() as conn:
        conn.execute("update distilled_notes set project = null where id = %s", (filled.note("Tomatoes"),))
    words = words_of(browser.page("/ui/timeline?project=homelab"))
    assert re.search(r"\d+ events? of this time belongs? to no known project, and (is|are) not shown", words)
    assert "none known" in words_of(browser.page("/ui/timeline"))


def test_a_former_name_leads_to_the_project(filled: Filled, browser: Browser, db: Database) -> None:
    """A renamed project's events stand under both names; one that never was is an error page."""
    from argus_memory.upkeep.projects import rename

    rename(db, "homelab", "cellar", "kim", now=datetime.now(UTC))
    assert notes_of(browser.page("/ui/timeline?project=homelab&event=created")) == notes_of(
        browser.page("/ui/timeline?project=cellar&event=created")
    )
    assert browser.get("/ui/timeline?project=never-was").status_code == 404


@pytest.mark.parametrize("sort", ["newest", "oldest"])
def test_every_event_comes_once_page_by_page(filled: Filled, browser: Browser, db: Database, sort: str) -> None:
    """120 notes over three pages; the count stands on each."""
    add_many_notes(db, 120, datetime.now(UTC))
    found: list[str] = []
    path = f"/ui/timeline?event=created&project=garden&sort={sort}"
    while path:
        page = browser.page(path)
        found += notes_of(page)
        onward = re.search(r'rel="next" href="([^"]+)"', page)
        path = onward[1].replace("&amp;", "&") if onward else ""
    assert len(found) == len(set(found)) >= 120
    assert f"{len(found)} events" in words_of(page)


def test_a_subject_is_compared_between_two_moments(reader: Browser, shelf: Filled) -> None:
    """What is new, and both texts of what changed; nothing before it was said."""
    words = words_of(reader.page("/ui/timeline?subject=dumps+kept&since=1h"))
    assert "Changed 1" in words
    assert "Dumps are kept for 30 days." in words
    assert "Dumps are kept for 14 days." in words
    assert "New" in words_of(reader.page("/ui/timeline?subject=tomatoes&since=90d"))
    assert "Nothing changed about it" in words_of(reader.page("/ui/timeline?subject=walrus"))
    assert "Nothing changed about it" in words_of(
        reader.page("/ui/timeline?subject=tomatoes&since=2001-01-01&until=2001-02-01")
    )


@pytest.mark.parametrize(
    "query",
    ["event=shown", "since=whenever", "until=13th", "since=today&until=2001-01-01", "sort=best", "after=x", "subject=%3F%21",
     "project=" + "x" * 500, "subject=a&since=x"],
)  # fmt: skip
def test_what_cannot_be_asked_is_refused_in_a_sentence(reader: Browser, query: str) -> None:
    """422 as a page."""
    answer = reader.get(f"/ui/timeline?{query}")
    assert answer.status_code == 422
    assert "To the overview" in answer.text


def test_captured_text_is_text(reader: Browser) -> None:
    """In the list and in a diff: escaped, and what cannot be seen made visible."""
    for path in (
        "/ui/timeline?project=lab",
        "/ui/timeline?subject=said&since=90d",
        "/ui/timeline?subject=invoice&since=90d",
    ):
        page = reader.page(path)
        assert "<script>document" not in page
        assert "\u202e" not in page
        assert "\x1b" not in page
        assert "⟨U+202E⟩" in page
    assert reader.get("/ui/timeline?subject=<script>alert(1)</script>").text.count("<script>alert") == 0


@pytest.mark.parametrize("path", ["/ui/timeline?project=garden", "/ui/timeline?subject=bed&since=90d"])
def test_queries_do_not_grow_with_the_events(filled: Filled, browser: Browser, db: Database, path: str) -> None:
    """As many statements for many notes as for a few."""
    browser.page(path)
    with count_queries() as few:
        browser.page(path)
    add_many_notes(db, 120, datetime.now(UTC))
    with count_queries() as many:
        browser.page(path)
    assert len(few) == len(many) <= 14
