"""Held merges over HTTP."""

from __future__ import annotations

from fastapi.testclient import TestClient

from argus_memory.db import Database
from tests.memory_rows import add_note, at


def hold(db: Database) -> tuple[int, int, int]:
    """A supersede that waits; returns (its id, the newer note, the older one)."""
    old = add_note(db, "The seal is 12 mm.", confidence=0.8, said_at=at(0))
    new = add_note(db, "The seal is 14 mm.", said_at=at(60))
    row = db.fetch_one(
        """insert into dedup_log (note_id, other_id, verdict, similarity, model, status, reasoning)
           values (%(new)s, %(old)s, 'supersede', 0.93, 'test', 'pending', 'two sizes') returning id""",
        {"new": new, "old": old},
    )
    assert row is not None
    return int(row["id"]), new, old


def test_a_held_merge_is_listed_approved_and_taken_back(client: TestClient, db: Database) -> None:
    """List, approve (the older note goes), undo (it is back)."""
    id_, new, old = hold(db)
    held = client.get("/review").json()["held"]
    assert [(one["id"], one["note_id"], one["other_id"], one["status"]) for one in held] == [
        (id_, new, old, "pending")
    ]
    receipt = client.post(f"/review/{id_}/approve").json()
    assert (receipt["was"], receipt["status"], receipt["tombstoned"]) == ("pending", "approved", [old])
    assert client.get(f"/notes/{old}").json()["state"] == "superseded"
    assert client.post(f"/review/{id_}/undo").json()["restored"] == [old]
    assert client.get(f"/notes/{old}").json()["state"] == "live"


def test_what_does_not_fit_the_state_is_a_conflict(client: TestClient, db: Database) -> None:
    """Rejecting twice is 409 with the reason; the decision stays on record with who made it."""
    id_, _, old = hold(db)
    assert client.post(f"/review/{id_}/reject").json()["status"] == "rejected"
    again = client.post(f"/review/{id_}/reject")
    assert again.status_code == 409
    assert again.json()["error"]["code"] == "conflict"
    assert client.get(f"/notes/{old}").json()["live"]
    assert db.fetch_one("select decided_by from dedup_log") == {"decided_by": "api"}
