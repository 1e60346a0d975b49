"""The memory as a whole, over HTTP."""

from __future__ import annotations

from starlette.testclient import TestClient

from argus_memory.db import Database
from argus_memory.stages.impact import check_impact
from argus_memory.stages.recall_ledger import Injection, record_injection
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


def test_the_ledger_of_recalls_with_their_uses(client: TestClient, db: Database) -> None:
    """Newest first and paged, each note with whether it was used; what was forgotten since is not told again."""
    raw = add_turn(db, "The tank holds 300 l.", at(0))
    kept, gone = (add_note(db, text, raw_id=raw) for text in ("The tank holds 300 l.", "The hose is blue."))
    with db.transaction() as conn:
        for minute in range(3):
            row = Injection(True, at(minute), session=f"s{minute}", query="How big is the tank?", note_ids=[kept, gone],
                            note_scores=[1.0, 0.9], rrf_scores=[0.03, 0.02])  # fmt: skip
            id_ = record_injection(conn, row)
    add_turn(db, "It holds 300 l.", at(2.5), session="s2", role="assistant")
    check_impact(db, now=at(30))
    with db.transaction() as conn:
        conn.execute("update distilled_notes set deleted_at = %s, deleted_reason = 'forgotten' where id = %s", (at(40), gone))
    page = client.get("/injections", params={"limit": 2}).json()
    first = page["injections"][0]
    assert (first["id"], first["outcome"], page["next"]) == (id_, "scored", page["injections"][1]["id"])
    assert [(note["id"], note["used"], note["content"]) for note in first["notes"]] == [
        (kept, True, "The tank holds 300 l."), (gone, False, None),
    ]  # fmt: skip
    rest = client.get("/injections", params={"before": page["next"], "note": kept}).json()
    assert ([each["session"] for each in rest["injections"]], rest["next"]) == (["s0"], None)
    assert rest["injections"][0]["notes"][0]["used"] is None
    assert client.get("/injections", params={"session": "nobody"}).json()["injections"] == []
    (week,) = client.get("/memory/uses").json()["weeks"]
    assert (week["judged"], week["used"]) == (2, 1)
