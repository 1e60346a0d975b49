"""/ui/notes and /ui/raw: a note with its grounds, and what a person does with it."""

from __future__ import annotations

from typing import Any

import pytest

from argus_memory.db import Database
from tests.filled_store import Filled, add_note
from tests.memory_rows import START, add_turn
from tests.ui_client import Browser, count_queries, words_of


def row_of(db: Database, note_id: int) -> dict[str, Any]:
    row = db.fetch_one("select * from distilled_notes where id = %(id)s", {"id": note_id})
    assert row
    return row


def test_a_note_stands_with_its_source_marked_in_its_session(reader: Browser, shelf: Filled) -> None:
    """The quoted words are marked where they were said, with the turns before and after."""
    page = reader.page(f"/ui/notes/{shelf.note('Tomatoes')}")
    assert '<mark id="span">water the tomatoes at six in the morning, never in the evening</mark>' in page
    words = words_of(page)
    assert "Shall the script read the sensor every minute?" in words
    assert "watering runs at 06:00" in words
    assert "preference" in words
    assert "0.90" in words
    assert "pinned" in words
    assert "by kim" in words


def test_a_replaced_note_says_so_and_leads_to_the_one_that_holds(reader: Browser, shelf: Filled) -> None:
    """Both versions know each other; the old one offers nothing that does not fit."""
    old, new = shelf.note("Dumps are kept for 30"), shelf.note("Dumps are kept for 14")
    page = reader.page(f"/ui/notes/{old}")
    assert "No recall shows this note" in words_of(page)
    assert f'href="/ui/notes/{new}"' in page
    assert f"/ui/notes/{old}/correct" not in page
    assert f"/ui/notes/{old}/pin" not in page
    assert "replaced by it" in reader.page(f"/ui/notes/{new}")


def test_dedups_verdict_is_part_of_the_history(reader: Browser, shelf: Filled) -> None:
    """With its state, its likeness and its reasoning."""
    words = words_of(reader.page(f"/ui/notes/{shelf.note('Nightly')}"))
    assert "supersede verdict, pending" in words
    assert "0.86 alike" in words
    assert "both speak of dumps" in words


@pytest.mark.parametrize(
    ("do", "undo", "column", "told"),
    [("pin", "unpin", "pinned_at", "Pinned."), ("exclude", "include", "excluded_at", "Excluded: no recall shows it."),
     ("forget", "restore", "deleted_at", "Forgotten: it does not come back by itself")],
)  # fmt: skip
def test_each_decision_is_done_and_undone(
    filled: Filled, browser: Browser, db: Database, do: str, undo: str, column: str, told: str
) -> None:
    """The page tells what happened and offers the way back; the decision is on record by the page's name."""
    note = filled.note("The greenhouse vents")
    page = browser.follow(f"/ui/notes/{note}/{do}")
    assert told in words_of(page)
    assert row_of(db, note)[column] is not None
    assert f"/ui/notes/{note}/{undo}" in page
    page = browser.follow(f"/ui/notes/{note}/{undo}")
    assert row_of(db, note)[column] is None
    assert f"/ui/notes/{note}/{do}" in page
    assert told not in words_of(browser.page(f"/ui/notes/{note}"))
    decisions = db.fetch_all(
        "select actor, actor_kind from note_decisions where note_id = %(id)s", {"id": note}
    )
    assert {(row["actor"], row["actor_kind"]) for row in decisions} == {("ui", "person")}


def test_twice_the_same_is_told_and_is_no_error(filled: Filled, browser: Browser) -> None:
    """Two people at once: the second learns that it was so."""
    note = filled.note("The greenhouse vents")
    browser.follow(f"/ui/notes/{note}/forget")
    assert "Nothing changed: it was forgotten before." in words_of(browser.follow(f"/ui/notes/{note}/forget"))


def test_what_does_not_fit_is_told_and_changes_nothing(filled: Filled, browser: Browser, db: Database) -> None:
    """Pinning what is forgotten: a red line with the cure."""
    note = filled.note("The greenhouse vents")
    browser.follow(f"/ui/notes/{note}/forget")
    page = browser.follow(f"/ui/notes/{note}/pin")
    assert "comes first. Nothing was changed." in words_of(page)
    assert 'class="flash bad" role="status"' in page
    assert row_of(db, note)["pinned_at"] is None


def test_reconfirming_is_on_record(filled: Filled, browser: Browser, db: Database) -> None:
    """Each time anew."""
    note = filled.note("The greenhouse vents")
    assert "Confirmed: it still holds." in words_of(browser.follow(f"/ui/notes/{note}/reconfirm"))
    assert row_of(db, note)["confirmed_at"] is not None


def test_a_correction_leads_to_the_new_note(filled: Filled, browser: Browser, db: Database) -> None:
    """The old one is replaced; a blank or repeated text changes nothing."""
    note = filled.note("The greenhouse vents")
    page = browser.follow(f"/ui/notes/{note}/correct", text="The vents open at 26 degrees.", reason="new relay")
    assert f"Corrected: this note stands in the place of note {note}" in words_of(page)
    assert "The vents open at 26 degrees." in words_of(page)
    assert row_of(db, note)["superseded_by"] is not None
    other = filled.note("Tomatoes")
    assert "is missing" in words_of(browser.follow(f"/ui/notes/{other}/correct", text="  "))
    same = row_of(db, other)["content"]
    assert "it says so already" in words_of(browser.follow(f"/ui/notes/{other}/correct", text=same))
    long = browser.follow(f"/ui/notes/{other}/correct", text="a " * 3000)
    assert "a fact has at most 2,000" in words_of(long)
    assert "Nothing changed" in words_of(browser.follow(f"/ui/notes/{other}/exclude", reason="x" * 501)) or (
        row_of(db, other)["excluded_at"] is None
    )


def test_redaction_says_what_it_does_before_it_does_it(filled: Filled, browser: Browser, db: Database) -> None:
    """The page explains, the preview counts and changes nothing, the second step is for good."""
    note = filled.note("Nightly dumps")
    path = f"/ui/notes/{note}/redact"
    assert "Redaction cannot be taken back." in words_of(browser.page(path))
    fields = {"text": "/srv/dumps", "reason": "a path nobody should know"}
    preview = browser.send(path, **fields)
    assert preview.status_code == 200
    words = words_of(preview.text)
    assert "This would change: 1 captured item" in words
    assert "Redact for good" in words
    assert "/srv/dumps" in row_of(db, note)["content"]
    done = browser.follow(path, **fields, sure="agreed")
    assert "Redacted in 1 captured item" in words_of(done)
    assert "/srv/dumps" not in row_of(db, note)["content"]
    assert "/srv/dumps" not in browser.page("/ui/search?q=dumps&state=any")


def test_a_redaction_that_cannot_be_is_told_on_its_page(filled: Filled, browser: Browser) -> None:
    """No reason, words that do not stand there, too few letters: 422, the form as it was filled in."""
    path = f"/ui/notes/{filled.note('Nightly')}/redact"
    for fields, told in (
        ({"text": "/srv/dumps"}, "A reason is needed"),
        ({"text": "walrus and seal", "reason": "r"}, "do not stand in raw item"),
        ({"text": "a", "reason": "r"}, "too many places"),
        ({"text": "/srv/dumps", "reason": "r", "replacement": "x" * 90}, "at most 80"),
    ):
        answer = browser.send(path, **fields, sure="agreed")
        assert answer.status_code == 422
        assert told in words_of(answer.text)


def test_a_captured_item_can_be_redacted_whole(filled: Filled, browser: Browser, db: Database) -> None:
    """Without any note of it; its page then says what was taken out."""
    raw = filled.turns["sensors"][1]
    page = browser.follow(f"/ui/raw/{raw}/redact", reason="not mine", sure="agreed")
    assert "Redacted in 1 captured item" in words_of(page)
    assert "five percentage points" not in words_of(page)
    again = browser.follow(f"/ui/raw/{raw}/redact", reason="not mine", sure="agreed")
    assert "had been redacted before" in words_of(again)


def test_an_item_stands_in_its_session_with_its_notes(reader: Browser, shelf: Filled) -> None:
    """Verbatim, with project, source and the notes that quote it."""
    page = reader.page(f"/ui/raw/{shelf.turns['backup'][1]}")
    words = words_of(page)
    assert "They go to /srv/dumps on the second disk since March" in words
    assert "Nightly dumps go to /srv/dumps" in words
    assert "homelab" in words
    assert "by cwd" in words


def test_a_megabyte_in_one_line_is_clipped_until_all_is_asked_for(reader: Browser, shelf: Filled) -> None:
    """The page stays small; a link shows the whole."""
    raw = shelf.turns["hostile"][-1]
    page = reader.page(f"/ui/raw/{raw}")
    assert len(page) < 40_000
    assert "(980,000 more characters)" in words_of(page)
    whole = reader.page(f"/ui/raw/{raw}?whole=true")
    assert whole.count("x") > 1_000_000


def test_a_span_deep_in_a_long_item_is_still_shown(filled: Filled, browser: Browser, db: Database) -> None:
    """What is shown of a long item is the part around the quoted words."""
    body = "lorem ipsum " * 40_000 + "the key hangs behind the door" + " dolor sit" * 40_000
    raw = add_turn(db, body, START, session="deep")
    note = add_note(db, raw, body, "the key hangs behind the door", "The key hangs behind the door.", project="home")
    page = browser.page(f"/ui/notes/{note}")
    assert '<mark id="span">the key hangs behind the door</mark>' in page
    assert len(page) < 40_000


@pytest.mark.parametrize("number", range(5))
def test_hostile_notes_are_text(reader: Browser, shelf: Filled, number: int) -> None:
    """Title, content, source and history: escaped, visible, and the page keeps its own markup."""
    page = reader.page(f"/ui/notes/{shelf.hostile_notes[number]}")
    for bad in ("<script>document", "<img src=x", "\x1b", "\u202e", "\u200b", "\x08", "\x9b"):
        assert bad not in page
    assert page.rstrip().endswith("</html>")
    assert reader.page(f"/ui/raw/{shelf.turns['hostile'][number]}")


@pytest.mark.parametrize("path", ["/ui/notes/999999", "/ui/raw/999999", "/ui/notes/999999/redact"])
def test_what_does_not_exist_is_not_there(reader: Browser, path: str) -> None:
    """404 as a page, for reading and for acting."""
    answer = reader.get(path)
    assert answer.status_code == 404
    assert "999999" in words_of(answer.text)


def test_acting_on_what_does_not_exist_is_404(reader: Browser) -> None:
    """An unknown note, and an unknown word for what to do with one."""
    assert reader.send("/ui/notes/999999/pin").status_code == 404
    assert reader.send("/ui/notes/1/explode").status_code == 404


def test_queries_do_not_grow_with_turns_and_events(filled: Filled, browser: Browser, db: Database) -> None:
    """As many statements for a note of a long session with a long history as for a small one."""
    note = filled.note("Tomatoes")
    browser.page(f"/ui/notes/{note}")
    with count_queries() as few:
        browser.page(f"/ui/notes/{note}")
    for number in range(30):
        add_turn(db, f"later turn {number}", START, session="greenhouse", position=number)
        browser.send(f"/ui/notes/{note}/reconfirm")
    browser.page(f"/ui/notes/{note}")
    with count_queries() as many:
        browser.page(f"/ui/notes/{note}")
    assert len(few) == len(many) <= 20
