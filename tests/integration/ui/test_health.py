"""/ui/health: the score with its parts, the notes behind each, and the graph."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from argus_memory.db import Database
from tests.filled_store import Filled, add_many_notes
from tests.ui_client import Browser, count_queries, words_of


def test_the_report_names_its_parts_with_their_notes(reader: Browser) -> None:
    """A score, every part with its share or why it is unknown, and notes with what to do."""
    page = reader.page("/ui/health")
    words = words_of(page)
    assert "Memory health" in words
    assert "of 100" in words
    for part in ("Near duplicates", "Contradictions", "Stale", "Fading", "Orphans", "Low confidence", "Unused"):
        assert part in words
    assert "nothing is embedded yet" in words
    assert "It still holds" in words


def test_an_empty_memory_is_unknown_and_says_what_fills_it(bare: Browser) -> None:
    """No score is made up."""
    words = words_of(bare.page("/ui/health"))
    assert "Memory health is unknown" in words
    assert "argus hooks install" in words
    assert "There are no notes to draw." in words_of(bare.page("/ui/health/graph"))
    assert "No note is stale." in words_of(bare.page("/ui/health/stale"))


def test_faded_notes_are_listed_page_by_page(filled: Filled, browser: Browser, db: Database) -> None:
    """All of them, the most faded first; confirming one takes it off the list."""
    add_many_notes(db, 60, datetime.now(UTC))
    with db.transaction() as conn:
        conn.execute("update distilled_notes set said_at = now() - interval '2 years' where uid like 'many-%'")
    first = browser.page("/ui/health/stale")
    assert "60 notes" in words_of(first)
    assert first.count("It still holds") == 50
    second = browser.page("/ui/health/stale?passed=50")
    assert second.count("It still holds") == 10
    assert "Back to the first page" in browser.page("/ui/health/stale?passed=500")
    note = db.fetch_one("select id from distilled_notes where uid = 'many-1'")
    assert note
    browser.follow(f"/ui/notes/{note['id']}/reconfirm")
    assert "59 notes" in words_of(browser.page("/ui/health/stale"))


def test_the_graph_links_to_notes_and_tells_itself_in_words(reader: Browser, shelf: Filled) -> None:
    """As a picture with links, and as a list."""
    page = reader.page("/ui/health/graph?project=garden")
    note = shelf.note("Tomatoes")
    assert f'<a class="g-pinned" href="/ui/notes/{note}">' in page
    assert "In words" in page
    assert "<style" not in page
    around = reader.page(f"/ui/health/graph?note={shelf.note('Dumps are kept for 14')}")
    assert "stands in the place of" in around


@pytest.mark.parametrize(
    ("path", "status"),
    [("/ui/health/graph?note=x", 422), ("/ui/health/graph?depth=99", 422), ("/ui/health/graph?note=999999", 404),
     ("/ui/health/walrus", 404), ("/ui/health/orphans", 404), ("/ui/health/stale?passed=-1", 422),
     ("/ui/health/stale?passed=x", 422), ("/ui/health?project=" + "x" * 500, 422)],
)  # fmt: skip
def test_what_cannot_be_asked_is_refused_in_a_sentence(reader: Browser, path: str, status: int) -> None:
    """As a page."""
    answer = reader.get(path)
    assert answer.status_code == status
    assert "To the overview" in answer.text


def test_captured_text_is_text(reader: Browser) -> None:
    """In the report and in the picture."""
    for path in ("/ui/health?project=lab", "/ui/health/graph?project=lab"):
        page = reader.page(path)
        assert "<script>document" not in page
        assert "<img src=x" not in page
        assert "\u202e" not in page
        assert "\x1b" not in page


@pytest.mark.parametrize("path", ["/ui/health", "/ui/health/graph", "/ui/health/stale"])
def test_queries_do_not_grow_with_the_notes(filled: Filled, browser: Browser, db: Database, path: str) -> None:
    """As many statements for many notes as for a few."""
    browser.page(path)
    with count_queries() as few:
        browser.page(path)
    add_many_notes(db, 120, datetime.now(UTC))
    with count_queries() as many:
        browser.page(path)
    assert len(few) == len(many) <= 30
