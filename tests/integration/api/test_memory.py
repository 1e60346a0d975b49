"""The memory as a whole, over HTTP."""

from __future__ import annotations

from starlette.testclient import TestClient

from argus_memory.db import Database
from tests.memory_rows import add_note, add_turn, at

DEAD = "We tried WebSockets behind the old proxy, it failed because the proxy drops idle connections."


def test_health_with_its_parts(client: TestClient, db: Database) -> None:
    """The score, every part with its share or as unknown, and the recorded history."""
    add_note(db, "The tank holds 300 l.", raw_id=add_turn(db, "The tank holds 300 l.", at(0)))
    told = client.get("/memory/health").json()
    assert told["notes"] == 1
    assert {"name", "count", "share", "act", "examples"} <= set(told["parts"][0])
    assert told["history"] == []


def test_fading_and_stale_lists(client: TestClient) -> None:
    """Both lists have their count; any other word is refused by name."""
    assert client.get("/memory/fading").json() == {"asked": "fading", "count": 0, "notes": []}
    assert client.get("/memory/stale").json()["count"] == 0
    assert client.get("/memory/rotten").status_code == 422


def test_the_graph_in_three_forms(client: TestClient, db: Database) -> None:
    """JSON, Mermaid and SVG with their media types; a note that is not there is 404."""
    add_note(db, "The tank holds 300 l.", raw_id=add_turn(db, "The tank holds 300 l.", at(0)))
    assert client.get("/memory/graph").json()["nodes"][0]["label"]
    assert client.get("/memory/graph?format=mermaid").text.startswith("flowchart LR")
    svg = client.get("/memory/graph?format=svg")
    assert (svg.headers["content-type"].split(";")[0], svg.text[:4]) == ("image/svg+xml", "<svg")
    assert client.get("/memory/graph?note=999").status_code == 404


def test_before_you_try(client: TestClient, db: Database) -> None:
    """A dead end is told with its reason; nothing on record is an empty text; a blank plan is refused."""
    note = add_note(db, DEAD, raw_id=add_turn(db, DEAD, at(0)), category="procedure")
    told = client.get("/before-you-try", params={"q": "WebSockets behind the old proxy"}).json()
    assert [each["id"] for each in told["notes"]] == [note]
    assert "drops idle connections" in told["text"]
    assert client.get("/before-you-try", params={"q": "bake bread"}).json()["notes"] == []
    assert client.get("/before-you-try", params={"q": " "}).status_code == 422
