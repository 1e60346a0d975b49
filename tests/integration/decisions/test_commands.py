"""`argus note` and `argus forget` as a person calls them, on a store with two sessions."""

from __future__ import annotations

import json
from typing import Any

import pytest

from argus_cli.main import main
from argus_memory.db import Database
from argus_memory.settings import Settings
from tests.memory_rows import add_note, add_turn, at

Said = pytest.CaptureFixture[str]


@pytest.fixture
def store(db: Database, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Database:
    monkeypatch.setenv("ARGUS_HOME", str(settings.home))
    monkeypatch.setenv("ARGUS_DATABASE_URL", db.dsn)
    return db


def told(capsys: Said, *words: str, ends: int = 0) -> Any:
    assert main([*words, "--json"]) == ends
    return json.loads(capsys.readouterr().out)


def state_of(db: Database, note_id: int) -> Any:
    return db.fetch_one(
        "select pinned_at is not null as pinned, excluded_at is not null as excluded, deleted_reason as gone"
        " from distilled_notes where id = %(id)s",
        {"id": note_id},
    )


def test_each_verb_does_and_undoes_what_it_says(store: Database, capsys: Said) -> None:
    """Pin, exclude and forget change the note and say so; their opposites bring it back; a second time changes nothing."""
    note = add_note(store, "The pump runs at 12 bar.", said_at=at(0))
    for verb, back, column, value in (
        ("pin", "unpin", "pinned", True), ("exclude", "include", "excluded", True), ("forget", "restore", "gone", "forgotten"),
    ):  # fmt: skip
        before = state_of(store, note)
        assert told(capsys, "note", verb, str(note))["outcome"] == "changed"
        assert state_of(store, note)[column] == value
        assert told(capsys, "note", verb, str(note))["outcome"] == "no-op"
        assert told(capsys, "note", back, str(note))["outcome"] == "changed"
        assert state_of(store, note) == before
    events = [event["event"] for event in told(capsys, "note", "history", str(note))["events"]]
    assert events == ["created", "pinned", "unpinned", "excluded", "included", "forgotten", "restored"]


def test_a_note_that_is_not_there_is_one_sentence(store: Database, capsys: Said) -> None:
    """Exit 2, the id, no traceback."""
    assert main(["note", "forget", "999"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("argus: ")
    assert "999" in said
    assert said.count("\n") == 1


def test_a_session_is_counted_then_forgotten_then_brought_back(store: Database, capsys: Said) -> None:
    """Without --yes nothing happens; with it the session's notes go and its turns are withheld, no other session's;
    --list names the arrival and --restore brings it back whole."""
    turns = {name: add_turn(store, text, at(n), session=name) for n, (name, text) in enumerate(
        {"s1": "The gate code is 4711.", "s2": "The hose is 12 m long."}.items())}  # fmt: skip
    notes = {
        "s1": add_note(store, "The gate code is 4711.", raw_id=turns["s1"], said_at=at(0)),
        "s2": add_note(store, "The hose is 12 m long.", raw_id=turns["s2"], said_at=at(1)),
    }
    told(capsys, "forget", "--session", "s1")
    assert state_of(store, notes["s1"])["gone"] is None
    told(capsys, "forget", "--session", "s1", "--yes", "--reason", "moved out")
    assert [state_of(store, notes[name])["gone"] for name in ("s1", "s2")] == ["forgotten", None]
    withheld = store.fetch_all("select distinct raw_id from withheld_turns")
    assert [row["raw_id"] for row in withheld] == [turns["s1"]]
    assert main(["forget", "--list"]) == 0
    assert "s1" in capsys.readouterr().out
    (arrival,) = store.fetch_all("select id from forgotten_arrivals")
    told(capsys, "forget", "--restore", str(arrival["id"]), "--yes")
    assert state_of(store, notes["s1"])["gone"] is None
    assert store.fetch_all("select raw_id from withheld_turns") == []


def test_forgetting_what_does_not_exist_is_told(store: Database, capsys: Said) -> None:
    """A project nobody ever named is not the same as a project without notes: exit 2, nothing forgotten."""
    store.fetch_all("insert into projects (name, first_method) values ('garden', 'cwd') returning id")
    add_note(store, "The hose is 12 m long.", said_at=at(1))
    assert main(["forget", "--project", "gardn", "--yes"]) == 2
    assert "there is no project 'gardn'; did you mean garden?" in capsys.readouterr().err
    assert main(["forget", "--session", "s9", "--yes"]) == 2
    assert "nothing of session 's9' is on record" in capsys.readouterr().err
    assert store.fetch_all("select id from note_decisions") == []
