"""Hooks over HTTP: what a command hook does and says, done by the API; tried against the command hook itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from argus_memory.db import Database
from argus_memory.settings import Settings
from tests.helpers import wait_until
from tests.memory_rows import add_note, add_turn, at
from tests.stubs.hook_home import HookHome
from tests.unit.transcripts.lines import assistant, to_bytes, user

PROMPT = "When are the tomatoes in the greenhouse watered?"


@pytest.fixture
def home(tmp_path: Path, settings: Settings, server: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> HookHome:
    """A person's home whose hooks call the real server, which runs as the same person."""
    made = HookHome(tmp_path / "person", str(server.base_url))
    made.write_env(settings.capture_token or "")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(made.root / ".claude"))
    return made


def post(server: httpx.Client, settings: Settings, event: str, body: dict[str, Any], **headers: str) -> httpx.Response:
    token = {"authorization": f"Bearer {settings.capture_token}"}
    return server.post(f"/hooks/{event}", json=body, headers={**token, **headers})


def bodies(db: Database) -> list[str]:
    return [row["body"] for row in db.fetch_all("select body from raw_items order by id")]


def test_a_prompt_is_answered_as_by_the_command_hook(
    server: httpx.Client, home: HookHome, db: Database, settings: Settings
) -> None:
    """The same event to both gives the same context; where nothing is on record both say nothing."""
    text = "Tomatoes in the greenhouse are watered at six in the morning, never in the evening."
    add_note(db, text, raw_id=add_turn(db, text, at(0), session="old"))
    event = {"hook_event_name": "UserPromptSubmit", "prompt": PROMPT, "cwd": "/home/kim/garden"}
    told = home.run("recall_hook", {**event, "session_id": "by-command"}).context
    answer = post(server, settings, "UserPromptSubmit", {**event, "session_id": "by-http"})
    assert answer.status_code == 200
    given = answer.json()["hookSpecificOutput"]
    assert given["hookEventName"] == "UserPromptSubmit"
    assert "six in the morning" in given["additionalContext"]
    assert given["additionalContext"].replace("by-http", "") == told.replace("by-command", "")
    nothing = post(server, settings, "UserPromptSubmit", {**event, "session_id": "by-http", "prompt": "knit a goose"})
    assert (nothing.status_code, nothing.content) == (200, b"")


def test_what_was_said_is_captured_from_the_transcript(
    server: httpx.Client, home: HookHome, db: Database, settings: Settings
) -> None:
    """At Stop the turns of the session's file are stored, once, however often the event comes."""
    path = home.projects / "-home-kim-garden" / "s1.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(to_bytes(user("Water the beds.", uuid="u1"), assistant("Watered.", uuid="a1")))
    event = {"session_id": "s1", "transcript_path": str(path), "cwd": "/home/kim/garden"}
    for _ in range(2):
        answer = post(server, settings, "Stop", {**event, "last_assistant_message": "Watered."})
        assert (answer.status_code, answer.content) == (200, b"")
    wait_until(lambda: bodies(db) == ["Water the beds.", "Watered."], what="both turns are stored")


def test_a_file_that_is_no_transcript_is_not_read(
    server: httpx.Client, home: HookHome, db: Database, settings: Settings, tmp_path: Path
) -> None:
    """A path elsewhere, also by a link out of the home, counts for nothing: the token captures, it reads no files."""
    secret = tmp_path / "elsewhere.jsonl"
    secret.write_bytes(to_bytes(user("The safe opens with 4711.", uuid="u9")))
    link = home.projects / "p" / "s9.jsonl"
    link.parent.mkdir(parents=True)
    link.symlink_to(secret)
    for path in (secret, link):
        post(server, settings, "SessionEnd", {"session_id": f"s-{path.name}", "transcript_path": str(path), "cwd": "/tmp/x"})
    assert bodies(db) == []


def test_a_session_of_argus_itself_is_passed_over(
    server: httpx.Client, home: HookHome, db: Database, settings: Settings
) -> None:
    """Its header says so, as the environment does to a command hook."""
    text = "Tomatoes in the greenhouse are watered at six in the morning."
    add_note(db, text, raw_id=add_turn(db, text, at(0), session="old"))
    before = bodies(db)
    event = {"prompt": PROMPT, "session_id": "own", "cwd": "/home/kim/garden"}
    answer = post(server, settings, "UserPromptSubmit", event, **{"X-Argus-Own-Session": "1"})
    assert (answer.status_code, answer.content) == (200, b"")
    assert bodies(db) == before


@pytest.mark.parametrize(
    ("event", "body", "status"),
    [
        ("SessionStart", {}, 404), ("Nothing", {}, 404), ("Stop", [], 422), ("Stop", {"hook_event_name": "PreCompact"}, 422),
    ],
)  # fmt: skip
def test_what_is_no_hook_of_ours_is_refused(
    server: httpx.Client, home: HookHome, settings: Settings, event: str, body: Any, status: int
) -> None:
    """In a sentence; SessionStart takes no http hooks."""
    answer = post(server, settings, event, body)
    assert (answer.status_code, "message" in answer.json()["error"]) == (status, True)


def test_a_stranger_is_refused(server: httpx.Client, home: HookHome) -> None:
    """Without the token nothing is captured or told."""
    answer = server.post("/hooks/Stop", json={}, headers={"authorization": "Bearer wrong"})
    assert answer.status_code == 401


def test_hostile_events_change_nothing_and_end_well(
    server: httpx.Client, home: HookHome, db: Database, settings: Settings
) -> None:
    """Fields of other types, lone surrogates, a NUL in the path: 200, no word, no row."""
    for event in (
        {"prompt": 5, "session_id": [], "cwd": {}}, {"transcript_path": "\u0000", "session_id": "x\ud800"},
        {"transcript_path": "~nobody-here/x", "session_id": "../../etc"},
    ):  # fmt: skip
        answer = server.post(
            "/hooks/UserPromptSubmit", content=json.dumps(event), headers={"authorization": f"Bearer {settings.capture_token}"}
        )
        assert (answer.status_code, answer.content) == (200, b"")
    assert bodies(db) == []
