"""Decisions over HTTP: a person's take effect, an agent's may be held; whole arrivals; what waits is settled."""

from __future__ import annotations

from fastapi.testclient import TestClient

from argus_memory.db import Database
from argus_memory.settings import Settings
from tests.integration.api.conftest import bearer
from tests.memory_rows import add_note


def test_a_person_decides(client: TestClient, db: Database) -> None:
    """Forget and restore change the note's state; the reason is kept; an unknown verb is not there."""
    id_ = add_note(db, "The tank holds 300 l.")
    receipt = client.post(f"/notes/{id_}/forget", json={"reason": "wrong"}).json()
    assert (receipt["outcome"], receipt["note_id"]) == ("changed", id_)
    assert client.get(f"/notes/{id_}").json()["state"] == "forgotten"
    assert client.post(f"/notes/{id_}/restore").json()["outcome"] == "changed"
    assert client.get(f"/notes/{id_}").json()["state"] == "live"
    assert client.post(f"/notes/{id_}/pin").status_code == 200
    assert client.post(f"/notes/{id_}/reconfirm").status_code == 200
    assert client.post(f"/notes/{id_}/dance").status_code == 422
    assert client.post("/notes/999/pin").status_code == 404


def test_an_agents_decision_waits(client: TestClient, db: Database, settings: Settings) -> None:
    """With the MCP token what a person said is held (202), listed under review and settled there; not with capture's."""
    id_ = add_note(db, "The tank holds 300 l.")
    agent = bearer(settings.mcp_token)
    held = client.post(f"/notes/{id_}/forget", headers=agent)
    assert (held.status_code, held.json()["outcome"]) == (202, "held")
    assert client.get(f"/notes/{id_}").json()["state"] == "live"
    (listed,) = client.get("/review").json()["decisions"]
    assert (listed["id"], listed["decision"], listed["actor"]) == (held.json()["decision_id"], "forget", "mcp")
    address = f"/review/decisions/{listed['id']}/approve"
    assert client.post(address, headers=agent).status_code == 403
    assert client.post(address).json()["outcome"] == "changed"
    assert client.post(address).status_code == 409
    assert client.get(f"/notes/{id_}").json()["state"] == "forgotten"
    assert client.post(f"/notes/{id_}/pin", headers=bearer(settings.capture_token)).status_code == 403


def test_an_arrival_is_counted_forgotten_and_restored(client: TestClient, db: Database) -> None:
    """Without "sure" it is only counted."""
    add_note(db, "The tank holds 300 l.", project="harbour")
    add_note(db, "The shed is green.")
    counted = client.post("/forget", json={"project": "harbour"}).json()
    assert (counted["id"], counted["notes"]) == (None, 1)
    done = client.post("/forget", json={"project": "harbour", "sure": True}).json()
    assert (done["notes"], done["raw_items"]) == (1, 1)
    assert client.post(f"/forget/{done['id']}/restore").json()["notes"] == 1
    assert client.post("/forget", json={}).status_code == 422
