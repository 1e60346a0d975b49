"""Reading one row with where it came from."""

from __future__ import annotations

from datetime import timedelta

from fastapi.testclient import TestClient

from argus_api.answers import NOTE_FIELDS
from argus_memory.db import Database
from argus_memory.settings import Settings
from argus_memory.stages.segment import segment_pending
from tests.memory_rows import add_dialog, add_note, add_turn, at

from .conftest import turn


def test_a_note_comes_with_its_sources(client: TestClient, db: Database) -> None:
    """Every field of the contract's note, its state, and the raw item it quotes."""
    raw = add_turn(db, "The seal of the pump is 12 mm.", at(0))
    note = client.get(f"/notes/{add_note(db, 'The seal of the pump is 12 mm.', raw_id=raw)}").json()
    assert set(note) >= set(NOTE_FIELDS)
    assert (note["live"], note["state"], note["superseded_by"]) == (True, "live", None)
    assert note["valid_from"] == "2026-03-02T09:00:00+00:00"
    source = note["sources"][0]
    assert (source["raw_id"], source["quote"]) == (raw, "The seal of the pump is 12 mm.")


def test_a_superseded_note_says_so(client: TestClient, db: Database) -> None:
    """It is still read, with the word for why it is not live and the note that took its place."""
    old, new = add_note(db, "The seal is 12 mm."), add_note(db, "The seal is 14 mm.")
    with db.transaction() as conn:
        conn.execute(
            "update distilled_notes set deleted_at = now(), deleted_reason = 'superseded', superseded_by = %s"
            " where id = %s",
            (new, old),
        )
    note = client.get(f"/notes/{old}").json()
    assert (note["live"], note["state"], note["superseded_by"]) == (False, "superseded", new)
    assert client.get(f"/notes/{old}/source").json()["state"] == "superseded"


def test_a_note_out_of_its_time_says_so(client: TestClient, db: Database) -> None:
    """Validity that is over or still to come is no tombstone, but not live either."""
    ended, coming = add_note(db, "The shop is closed."), add_note(db, "The shop opens.", said_at=at(0))
    with db.transaction() as conn:
        conn.execute("update distilled_notes set valid_to = now() where id = %s", (ended,))
        conn.execute("update distilled_notes set valid_from = now() + %s where id = %s", (timedelta(days=9), coming))
    assert client.get(f"/notes/{ended}").json()["state"] == "ended"
    assert client.get(f"/notes/{coming}").json()["state"] == "not-yet-valid"


def test_a_source_is_the_whole_item_and_its_episode(client: TestClient, db: Database, settings: Settings) -> None:
    """The body as it was said, and the turns around it in order."""
    ids = add_dialog(db, 3)
    segment_pending(db, settings, now=at(600))
    row = db.fetch_one("select episode_id from turns where raw_id = %(id)s", {"id": ids[2]})
    assert row is not None
    note = add_note(db, "user number 1", raw_id=ids[2], episode_id=row["episode_id"])
    source = client.get(f"/notes/{note}/source").json()
    assert source["raw"]["body"] == "user number 1 of s1 from minute 0"
    assert source["raw"]["notes"] == [note]
    assert [each["raw_id"] for each in source["episode"]["turns"]] == ids
    assert source["episode"]["notes"] == [note]


def test_a_raw_item_is_verbatim(client: TestClient) -> None:
    """What was captured, its project, and what was masked in it by kind."""
    id_ = client.post("/capture", json=turn("Mind the seal, password: hunter2-and-more!")).json()["id"]
    item = client.get(f"/raw/{id_}").json()
    assert item["body"].startswith("Mind the seal")
    assert "hunter2" not in str(item)
    assert (item["role"], item["project"], item["episode_id"]) == ("user", "garden", None)
    assert sum(one["count"] for one in item["redactions"]) == 1
    assert item["near_duplicate_of"] is None


def test_a_replaced_episode_says_so(client: TestClient, db: Database, settings: Settings) -> None:
    """A late turn reopened it: it is read as replaced, with the turns of its span."""
    ids = add_dialog(db, 2)
    segment_pending(db, settings, now=at(600))
    first = db.fetch_one("select id from episodes")
    assert first is not None
    late = add_turn(db, "A turn that came late.", at(1.5))
    segment_pending(db, settings, now=at(700))
    episode = client.get(f"/episodes/{first['id']}").json()
    assert episode["state"] == "replaced"
    assert episode["replaced_reason"]
    assert {each["raw_id"] for each in episode["turns"]} == {*ids, late}
    newest = db.fetch_one("select max(id) as id from episodes")
    assert newest is not None
    assert client.get(f"/episodes/{newest['id']}").json()["state"] == "closed"
