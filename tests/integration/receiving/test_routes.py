"""Writing over HTTP and from the command line: who may do what, and what the answer says."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from fastapi.testclient import TestClient

from argus_cli.main import main
from argus_memory.db import Database
from argus_memory.settings import Settings
from argus_memory.upkeep.auto_approve import auto_approve
from argus_memory.upkeep.decisions import lock_note, write_decision
from tests.memory_rows import START, add_note

PERSON = {"Authorization": "Bearer admin-token-for-tests-only"}
AGENT = {"Authorization": "Bearer mcp-token-for-tests-only"}
CAPTURE = {"Authorization": "Bearer capture-token-for-tests"}


def test_the_token_says_whether_a_person_or_an_agent_writes(client: TestClient) -> None:
    """A person's fact is a note (201), an agent's own a proposal (202) that a person accepts; capture may do neither."""
    fact = {"text": "The attic is damp.", "project": "garden"}
    assert client.post("/remember", json=fact, headers=CAPTURE).status_code == 403
    queued = client.post("/remember", json=fact, headers=AGENT)
    assert (queued.status_code, queued.json()["outcome"]) == (202, "queued")
    waiting = client.get("/proposals", headers=CAPTURE).json()["proposals"]
    assert [each["content"] for each in waiting] == ["The attic is damp."]
    accepted = client.post(f"/proposals/{waiting[0]['id']}/accept", headers=PERSON).json()
    assert accepted["outcome"] == "created"
    made = client.post("/remember", json={"text": "The cellar is dry.", "project": "garden"}, headers=PERSON)
    assert (made.status_code, made.json()["outcome"]) == (201, "created")
    assert client.get(f"/notes/{made.json()['note_id']}", headers=CAPTURE).json()["live"]


def test_what_the_switch_accepted_goes_back_to_the_queue_over_http(
    client: TestClient, db: Database, settings: Settings
) -> None:
    """Undo takes its note away and lists it again; a second undo is a conflict, and an agent may not."""
    client.post("/remember", json={"text": "The attic is damp.", "project": "garden"}, headers=AGENT)
    (waiting,) = client.get("/review", headers=CAPTURE).json()["proposals"]
    switched = replace(settings, auto_approve=timedelta(days=3))
    assert auto_approve(db, switched, now=datetime.now(UTC) + timedelta(days=4)).proposals == 1
    assert client.get("/review", headers=CAPTURE).json()["since"]["auto_approved"] == 1
    assert client.post(f"/proposals/{waiting['id']}/undo", headers=AGENT).status_code == 403
    note = client.post(f"/proposals/{waiting['id']}/undo", headers=PERSON).json()["note_id"]
    assert not client.get(f"/notes/{note}", headers=CAPTURE).json()["live"]
    assert [each["id"] for each in client.get("/review", headers=CAPTURE).json()["proposals"]] == [waiting["id"]]
    assert client.post(f"/proposals/{waiting['id']}/undo", headers=PERSON).status_code == 409


def test_a_held_correction_is_approved_over_http(client: TestClient) -> None:
    """An agent's correction of a person's note waits (202); approved, it is in force."""
    note = client.post("/remember", json={"text": "The shop opens at 9."}, headers=PERSON).json()["note_id"]
    held = client.post(f"/notes/{note}/correct", json={"text": "The shop opens at 10."}, headers=AGENT)
    assert (held.status_code, held.json()["outcome"]) == (202, "held")
    done = client.post(f"/review/decisions/{held.json()['decision_id']}/approve", headers=PERSON).json()
    assert done["outcome"] == "changed"
    assert client.get(f"/notes/{note}", headers=CAPTURE).json()["state"] == "corrected"


def test_redaction_is_a_person_s_alone_and_needs_a_reason(client: TestClient, db: Database) -> None:
    """The MCP token is refused, a missing reason too; then the words are gone from the note and its source."""
    note = add_note(db, "Quittenbaum has the spare key.", said_at=START)
    wanted = {"text": "Quittenbaum", "reason": "asked"}
    assert client.post(f"/notes/{note}/redact", json=wanted, headers=AGENT).status_code == 403
    assert client.post(f"/notes/{note}/redact", json={"text": "Quittenbaum"}, headers=PERSON).status_code == 422
    receipt = client.post(f"/notes/{note}/redact", json=wanted, headers=PERSON).json()
    assert (receipt["outcome"], receipt["unswept"]) == ("changed", [])
    raw = client.get(f"/raw/{receipt['raw_id']}", headers=CAPTURE).json()
    assert raw["body"] == "[redacted:request] has the spare key."


def test_the_commands_write_correct_and_redact(
    db: Database, settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`argus remember`, `note correct`, `note redact` and `redact --dry-run` tell in words what they did."""
    monkeypatch.setenv("ARGUS_HOME", str(settings.home))
    monkeypatch.setenv("ARGUS_DATABASE_URL", db.dsn)
    assert main(["remember", "--project", "garden", "--json", "The", "hose", "is", "12", "m", "long."]) == 0
    note = json.loads(capsys.readouterr().out)["note_id"]
    assert main(["note", "correct", str(note), "The hose is 14 m long."]) == 0
    said = capsys.readouterr().out
    found = re.match(r"changed note (\d+); note \d+ is kept as superseded", said)
    assert found, said
    row = db.fetch_one("select raw_id from distilled_notes where id = %(id)s", {"id": int(found[1])})
    assert row
    assert main(["redact", str(row["raw_id"]), "--reason", "try", "--dry-run"]) == 0
    assert "would change 1 raw item " in capsys.readouterr().out
    assert main(["note", "redact", found[1], "--text", "14 m long", "--reason", "asked"]) == 0
    assert "changed 1 raw item " in capsys.readouterr().out
    assert main(["review", "list"]) == 0
    assert "pending=0" in capsys.readouterr().out


def test_a_held_redaction_is_shown_and_approved(
    client: TestClient, db: Database, settings: Settings, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """Over HTTP and as a command: a dry run tells what would go and leaves it waiting; approved, the words are gone."""
    monkeypatch.setenv("ARGUS_HOME", str(settings.home))
    monkeypatch.setenv("ARGUS_DATABASE_URL", db.dsn)
    held = []
    for name in ("Quittenbaum", "Apfelbaum"):
        id_ = add_note(db, f"{name} has the spare key.", said_at=START)
        with db.transaction() as conn:
            note = lock_note(conn, id_)
            held.append(write_decision(
                conn, note, "redact", "claude", now=START, kind="agent", held=True, new_text=name))  # fmt: skip
    path = f"/review/decisions/{held[0]}/approve"
    assert client.post(path, headers=AGENT).status_code == 403
    assert client.post(path, json={"dry_run": True}, headers=PERSON).json()["outcome"] == "dry-run"
    assert client.post(path, headers=PERSON).json()["outcome"] == "changed"
    assert client.post(path, headers=PERSON).status_code == 409
    assert main(["review", "list"]) == 0
    assert "take out for good: Apfelbaum" in capsys.readouterr().out
    assert main(["review", "approve", f"d{held[1]}", "--dry-run"]) == 0
    assert "would change 1 raw item" in capsys.readouterr().out
    assert main(["review", "approve", f"d{held[1]}"]) == 0
    assert "lost the words" in capsys.readouterr().out
    rows = db.fetch_all("select distinct body from raw_items")
    assert rows == [{"body": "[redacted:request] has the spare key."}]
