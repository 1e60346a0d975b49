"""A store that was in use before decisions and history existed is brought up to date with all it holds."""

from __future__ import annotations

from argus_memory import migrate
from argus_memory.db import Database
from argus_memory.rules.uid import text_key
from argus_memory.upkeep.history import read_history
from tests.memory_rows import at

BEFORE = "0017_task_items"
FACTS = ("The pump runs at 12 bar.", "Mara owns the greenhouse budget.", "The pump runs at 14 bar.")


def fill(db: Database) -> list[int]:
    """Three notes of one turn, the first superseded by the third, and a verdict that says so."""
    with db.transaction() as conn:
        raw = conn.execute(
            "insert into raw_items (source, kind, body, dedup_key, said_at) values ('test', 'turn', %s, 'k', %s) returning id",
            (" ".join(FACTS), at(0)),
        ).fetchone()
        assert raw is not None
        ids = []
        for text in FACTS:
            row = conn.execute(
                """insert into distilled_notes (uid, raw_id, title, content, category, importance, source_ref, said_at,
                       model, valid_from, created_at)
                   values (%(uid)s, %(raw)s, %(text)s, %(text)s, 'fact', 0.5, %(text)s, %(at)s, 'test', %(at)s, %(at)s)
                   returning id""",
                {"uid": f"u {text}", "text": text, "raw": raw["id"], "at": at(1)},
            ).fetchone()
            assert row is not None
            ids.append(int(row["id"]))
        conn.execute(
            "update distilled_notes set deleted_at = %s, deleted_reason = 'superseded', superseded_by = %s where id = %s",
            (at(2), ids[2], ids[0]),
        )
        return ids


def test_notes_from_before_keep_their_state_and_gain_what_decisions_need(empty_dsn: str) -> None:
    """No note is lost; each has the key that decisions bind, and a history that says it was noted afterwards."""
    assert migrate.upgrade(empty_dsn, BEFORE) == migrate.current_revision(empty_dsn)
    with Database(empty_dsn) as db:
        first, second, third = fill(db)
    migrate.upgrade(empty_dsn)
    with Database(empty_dsn) as db:
        rows = db.fetch_all("select id, text_key, deleted_reason, superseded_by from distilled_notes order by id")
        assert [row["text_key"] for row in rows] == [text_key(text) for text in FACTS]
        assert [(row["id"], row["deleted_reason"], row["superseded_by"]) for row in rows] == [
            (first, "superseded", third), (second, None, None), (third, None, None),
        ]  # fmt: skip
        told = [event["event"] for event in read_history(db, first, now=at(9)).events]
        assert told == ["created", "superseded"]
        marks = db.fetch_all("select distinct detail ->> 'noted' as noted from note_events")
        assert [row["noted"] for row in marks] == ["afterwards"]
