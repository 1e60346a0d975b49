"""Session context against a real database."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from argus_memory.db import Database
from argus_memory.rules.fence import OPEN
from argus_memory.settings import CONTEXT_TURN_CHARS, Settings
from argus_memory.stages.context import ContextRecall, recall_context
from tests.integration.recall.conftest import NOW, Store
from tests.memory_rows import add_note, add_turn, at


def context(db: Database, settings: Settings, **more: Any) -> ContextRecall:
    values: dict[str, Any] = {"project": "garden", "session": "now", "now": NOW} | more
    return recall_context(db, settings, **values)


def weigh(db: Database, id_: int, importance: float) -> int:
    db.fetch_all(
        "update distilled_notes set importance = %(i)s where id = %(id)s returning id", {"i": importance, "id": id_}
    )
    return id_


def test_own_notes_come_first_by_importance_then_global(db: Database, settings: Settings) -> None:
    """Importance, then recency, the own project before the global one however important that is."""
    low = weigh(db, add_note(db, "low", said_at=at(9)), 0.2)
    old = weigh(db, add_note(db, "old", said_at=at(1)), 0.9)
    new = weigh(db, add_note(db, "new", said_at=at(5)), 0.9)
    world = weigh(db, add_note(db, "world", project="global"), 1.0)
    add_note(db, "foreign", project="harbour")
    assert [note.id for note in context(db, settings).notes] == [new, old, low, world]


def test_standing_preferences_and_context_surface_without_a_query(db: Database, settings: Settings) -> None:
    """Among many weightier facts the standing notes are there, also the global ones; what was excluded is not."""
    for number in range(30):
        weigh(db, add_note(db, f"fact {number}", said_at=at(number)), 0.9)
    standing = {
        weigh(db, add_note(db, "Kim wants short answers.", category="preference", project="global"), 0.4),
        weigh(db, add_note(db, "The garden is leased until 2029.", category="context"), 0.3),
    }
    gone = add_note(db, "Kim wants long answers.", category="preference")
    with db.transaction() as conn:
        conn.execute("update distilled_notes set excluded_at = %s where id = %s", (NOW, gone))
    given = context(db, settings)
    assert {note.id for note in given.notes[:2]} == standing
    assert len(given.notes) == 12
    assert gone not in {note.id for note in given.notes}
    assert "Kim wants short answers." in given.text


def test_what_faded_stands_behind_what_did_not(db: Database, settings: Settings) -> None:
    """A weightier note without a sign for a year stands behind a fresh one; nothing is written back."""
    old = weigh(db, add_note(db, "old", said_at=NOW - timedelta(days=365)), 0.9)
    new = weigh(db, add_note(db, "new", said_at=NOW), 0.5)
    assert [note.id for note in context(db, settings).notes] == [new, old]
    assert db.fetch_one("select importance from distilled_notes where id = %(id)s", {"id": old}) == {
        "importance": pytest.approx(0.9)
    }


def test_at_most_twelve_notes(db: Database, settings: Settings) -> None:
    """The limit holds over both projects together."""
    for number in range(10):
        add_note(db, f"own {number}")
        add_note(db, f"world {number}", project="global")
    assert [note.project for note in context(db, settings).notes] == ["garden"] * 10 + ["global"] * 2


def test_the_latest_other_sessions_end_is_given_verbatim(db: Database, settings: Settings) -> None:
    """Without a single note the next session still begins where the last one stopped, oldest turn first."""
    add_turn(db, "from an older session", at(1), session="older")
    add_turn(db, "let us use vega for the charts", at(10), session="last")
    add_turn(db, "Done: vega draws them.", at(11), role="assistant", session="last")
    add_turn(db, "what I type now", at(20), session="now")
    add_turn(db, "elsewhere", at(30), session="foreign", project="harbour")
    found = context(db, settings)
    assert [turn.text for turn in found.turns] == ["let us use vega for the charts", "Done: vega draws them."]
    assert found.text.startswith(OPEN)
    assert "Done: vega draws them." in found.text


def test_long_turns_are_cut_to_the_limit_and_keep_the_question(db: Database, settings: Settings) -> None:
    """1,500 characters in all; a long answer does not push the question out."""
    add_turn(db, "why is the build slow?", at(1), session="last")
    add_turn(db, "because " * 800, at(2), role="assistant", session="last")
    found = context(db, settings)
    assert sum(len(turn.text) for turn in found.turns) <= CONTEXT_TURN_CHARS
    assert found.turns[0].text == "why is the build slow?"


def test_the_same_store_gives_the_same_text_and_asks_no_model(store: Store) -> None:
    """Deterministic, and without a vector."""
    asked = len(store.embedder.batches)
    first, second = (context(store.db, store.settings) for _ in range(2))
    assert first.text == second.text
    assert len(store.embedder.batches) == asked


def test_each_context_is_a_row_and_counts_what_it_showed(store: Store) -> None:
    """prompt_mode is false, the scores are what is left of the importance at that moment."""
    found = context(store.db, store.settings)
    row = store.db.fetch_one("select * from injections where id = %(id)s", {"id": found.injection_id})
    assert row
    assert not row["prompt_mode"]
    assert row["note_ids"] == [note.id for note in found.notes]
    assert row["note_scores"] == pytest.approx([note.score for note in found.notes])
    assert all(0 < score <= note.importance for score, note in zip(row["note_scores"], found.notes, strict=True))
    shown = store.db.fetch_all("select id from distilled_notes where shown_count = 1")
    assert {each["id"] for each in shown} == set(row["note_ids"])


def test_an_empty_store_gives_an_empty_text_and_a_row(db: Database, settings: Settings) -> None:
    """Nothing on record is nothing to inject; that it ran is on record."""
    found = context(db, settings)
    assert (found.text, found.notes, found.turns) == ("", (), ())
    assert found.injection_id > 0


def test_the_canary_gets_nothing(store: Store) -> None:
    """A probe's recall touches no one's memory."""
    found = context(store.db, store.settings, project="argus-canary")
    assert found.notes == ()
    assert found.turns == ()


def test_a_folder_names_the_project(store: Store) -> None:
    """Without a project named, the last part of the folder is it."""
    assert context(store.db, store.settings, project=None, cwd="/home/kim/garden").project == "garden"
