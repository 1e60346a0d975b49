"""Recall and search over HTTP."""

from __future__ import annotations

import json

from fastapi import FastAPI
from fastapi.testclient import TestClient

from argus_api.hub import WarmEmbedder
from argus_memory.db import Database
from tests.helpers import wait_until
from tests.memory_rows import add_note, add_turn, at

from .conftest import turn

ITEM = {
    "source": "claude-code",
    "kind": "turn",
    "body": "The greenhouse pump needs a seal of 14 mm, the old one of 12 mm leaked.",
    "session": "earlier",
    "cwd": "/home/kim/garden",
    "metadata": {"role": "user", "original_timestamp": "2026-03-01T09:00:00Z"},
}


def test_a_captured_turn_is_found_at_once(client: TestClient) -> None:
    """Verbatim search needs no run: the turn is there with the next call."""
    id_ = client.post("/capture", json=ITEM).json()["id"]
    answer = client.get("/search", params={"q": "seal of the greenhouse pump"}).json()
    hit = answer["results"][0]
    assert (hit["type"], hit["id"], hit["raw_id"], hit["project"]) == ("turn", id_, id_, "garden")
    assert set(hit) == {"type", "id", "raw_id", "title", "text", "score", "project", "at", "withheld"}
    assert hit["withheld"] is None
    assert hit["at"] == "2026-03-01T09:00:00+00:00"


def test_search_narrows_to_type_and_project(client: TestClient, db: Database) -> None:
    """One type, one project, so many results."""
    note = add_note(db, "The greenhouse pump needs a seal of 14 mm.")
    add_turn(db, "The greenhouse pump again.", at(1), project="shop", session="s2")
    notes = client.get("/search", params={"q": "greenhouse pump", "type": "note"}).json()["results"]
    assert [(hit["type"], hit["id"]) for hit in notes] == [("note", note)]
    there = client.get("/search", params={"q": "greenhouse pump", "project": "shop", "type": "note,turn"}).json()
    assert {hit["project"] for hit in there["results"]} == {"shop"}
    assert len(client.get("/search?q=greenhouse%20pump&limit=1").json()["results"]) == 1


def test_a_new_session_is_given_the_end_of_the_last(client: TestClient, db: Database) -> None:
    """Notes and last turns of the folder's project, fenced; one row of the ledger."""
    client.post("/capture", json=ITEM)
    note = add_note(db, "Kim waters the tomatoes on Mondays.", said_at=at(-9999))
    repo = json.dumps({"common_dir": "/home/kim/garden/.git"})
    asked = {"cwd": "/home/kim/garden", "session": "new", "source": "startup"}
    answer = client.get("/recall/context", params=asked).json()
    assert set(answer) >= {"injection_id", "notes", "turns", "text"}
    assert [each["id"] for each in answer["notes"]] == [note]
    assert "14 mm" in answer["text"]
    assert "<argus-recalled-memory>" in answer["text"]
    row = db.fetch_one(
        "select prompt_mode, session from injections where id = %(id)s", {"id": answer["injection_id"]}
    )
    assert row == {"prompt_mode": False, "session": "new"}
    assert client.get("/recall/context", params={**asked, "repo": repo}).status_code == 200
    assert client.get("/recall/context", params={**asked, "repo": "no json"}).status_code == 200
    assert client.get("/recall/context", params={"cwd": "nul\0\ud83d".encode("utf-8", "replace")}).status_code == 200


def test_a_prompt_gets_what_is_on_record(client: TestClient, db: Database) -> None:
    """Notes and turns with their scores, and the text that a hook hands on."""
    client.post("/capture", json=ITEM)
    prompt = {"prompt": "Which seal does the greenhouse pump need?", "session": "new", "cwd": "/home/kim/garden"}
    answer = client.post("/recall/notes", json=prompt).json()
    assert set(answer) >= {"injection_id", "skipped", "notes", "turns", "text"}
    assert answer["skipped"] is None
    assert "14 mm" in answer["text"]
    assert len(answer["text"]) <= 8000
    assert answer["turns"][0]["score"] > 0
    assert db.fetch_one("select id from injections") == {"id": answer["injection_id"]}


def test_a_prompt_that_is_not_looked_up_says_why(client: TestClient, db: Database) -> None:
    """Gates and an empty store: a reason, an empty text, and a row of the ledger each."""
    for prompt, reason in (
        ("ok", "substance"),
        ("<system-reminder>Remember the plan.</system-reminder>", "system-turn"),
        ("Which seal does the greenhouse pump need?", "nothing-on-record"),
    ):
        answer = client.post("/recall/notes", json={"prompt": prompt, "session": "new"}).json()
        assert (answer["skipped"], answer["text"], answer["notes"]) == (reason, "", [])
    assert db.fetch_one("select count(*)::int as n from injections") == {"n": 3}


def test_a_prompt_with_half_an_emoji_is_looked_up(client: TestClient) -> None:
    """What cannot be stored as it is loses the character, not the recall."""
    prompt = json.dumps({"prompt": "Which \ud83d seal \u0000 does the pump need?", "session": "a\udc00"})
    assert client.post("/recall/notes", content=prompt).status_code == 200


def test_until_the_embedder_is_loaded_recall_goes_by_words(client: TestClient, app: FastAPI, db: Database) -> None:
    """A recall right after the start waits for no model: it finds by words, and answer and ledger say so."""
    wait_until(lambda: app.state.hub.embedder.is_ready, what="the embedder is loaded")
    hub = app.state.hub
    client.post("/capture", json=turn("The greenhouse pump needs a seal of 14 mm."))
    from argus_memory.stages.spaces import ensure_space

    ensure_space(db, hub.embedder, now=at(0))
    cold = WarmEmbedder(hub.embedder)
    object.__setattr__(hub, "embedder", cold)
    answer = client.get("/search", params={"q": "seal of the greenhouse pump"}).json()
    assert "still being loaded" in answer["degraded"]
    assert len(answer["results"]) == 1
    prompt = {"prompt": "Which seal does the greenhouse pump need?", "session": "new"}
    assert "still being loaded" in client.post("/recall/notes", json=prompt).json()["degraded"]
    cold.start()
    wait_until(lambda: cold.is_ready, what="the embedder is loaded again")
    assert client.get("/search", params={"q": "seal of the greenhouse pump"}).json()["degraded"] is None
