"""The schema keeps its promises by itself, whoever writes to it."""

from __future__ import annotations

import psycopg
import pytest

from argus_memory import migrate
from argus_memory.db import Database
from argus_memory.errors import Unreachable

KEPT = [
    "raw_items", "distilled_notes", "episodes", "turns", "segment_checks", "gate_rejections",
    "distill_failures", "dedup_log", "injections", "llm_calls", "redactions", "stage_passes",
    "session_marks", "capture_outcomes", "near_duplicates", "episode_events",
]  # fmt: skip
INSERT = """insert into raw_items (source, kind, body, session, dedup_key, said_at)
            values ('cli', %s, %s, 's', md5(%s), now()) returning id"""


def insert(db: Database, kind: str, body: str) -> int:
    row = db.fetch_one(INSERT, (kind, body, body))
    assert row
    return int(row["id"])


@pytest.mark.parametrize("statement", ["update raw_items set body = 'other'", "delete from raw_items"])
def test_raw_items_refuse_changes(db: Database, statement: str) -> None:
    """A raw item can neither be changed nor deleted, even by the owner of the table."""
    insert(db, "turn", "kept as it is")
    with pytest.raises(psycopg.Error, match="append-only"), db.transaction() as connection:
        connection.execute(statement)
    assert db.fetch_one("select body from raw_items") == {"body": "kept as it is"}


@pytest.mark.parametrize("verb", ["delete from", "truncate"])
def test_memory_and_audit_rows_are_never_deleted(db: Database, verb: str) -> None:
    """DELETE and TRUNCATE on every memory and audit table are refused by a trigger of that table."""
    suffix = " cascade" if verb == "truncate" else ""
    states = {}
    for table in KEPT:
        with pytest.raises(psycopg.Error) as caught, db.transaction() as connection:
            connection.execute(f"{verb} {table}{suffix}")
        states[table] = caught.value.sqlstate
    assert states == dict.fromkeys(KEPT, "AR001")


def test_a_captured_turn_is_searchable_in_the_same_transaction(db: Database) -> None:
    """Inserting a turn fills its search terms at once, without any stage."""
    raw_id = insert(db, "turn", "The printer lives in the cellar")
    found = db.fetch_all("select raw_id from turns where tsv @@ to_tsquery('english', 'printer')")
    assert [row["raw_id"] for row in found] == [raw_id]


def test_a_captured_document_is_queued_for_distillation(db: Database) -> None:
    """Inserting anything but a turn leaves a pending distill_state row."""
    raw_id = insert(db, "document", "A page about printers")
    assert db.fetch_all("select unit_kind, unit_id, status from distill_state") == [
        {"unit_kind": "item", "unit_id": raw_id, "status": "pending"}
    ]


def test_text_without_spaces_is_found_by_a_part(db: Database) -> None:
    """A Japanese sentence is found by two characters out of its middle."""
    raw_id = insert(db, "turn", "私は東京に住んでいます")
    found = db.fetch_all("select raw_id from turns where tsv @@ argus_segment('東京')::tsquery")
    assert [row["raw_id"] for row in found] == [raw_id]


def test_a_megabyte_of_distinct_words_is_accepted(db: Database) -> None:
    """A text whose terms do not fit a tsvector is stored whole and found by its beginning."""
    body = " ".join(f"word{i:07d}" for i in range(180_000))
    insert(db, "turn", body)
    assert db.fetch_one("select length(body) as n from raw_items") == {"n": len(body)}
    assert db.fetch_one("select count(*) as n from turns where tsv @@ 'word0000001'::tsquery") == {"n": 1}


def test_a_vector_of_the_wrong_size_is_refused_by_name(db: Database) -> None:
    """A vector whose size differs from its space's violates the constraint named after it."""
    raw_id = insert(db, "turn", "something")
    row = db.fetch_one(
        "insert into embedding_spaces (model, dim, checksum, status, thresholds, calibration)"
        " values ('m', 3, 'c', 'active', '{}', '{}') returning id"
    )
    assert row
    with pytest.raises(psycopg.errors.CheckViolation) as caught, db.transaction() as connection:
        connection.execute(
            "insert into turn_vectors (space_id, raw_id, dim, embedding) values (%s, %s, 3, '[1,0]')",
            (row["id"], raw_id),
        )
    assert caught.value.diag.constraint_name == "turn_vectors_dimension"


def test_only_one_space_is_active(db: Database) -> None:
    """A second active embedding space is refused."""
    query = (
        "insert into embedding_spaces (model, dim, checksum, status, thresholds, calibration)"
        " values (%s, 3, 'c', 'active', '{}', '{}')"
    )
    with db.transaction() as connection:
        connection.execute(query, ("a",))
    with pytest.raises(psycopg.errors.UniqueViolation), db.transaction() as connection:
        connection.execute(query, ("b",))


def test_upgrade_is_repeatable(empty_dsn: str) -> None:
    """Migrating an empty database reaches the head, and a second time changes nothing."""
    assert migrate.current_revision(empty_dsn) is None
    assert migrate.upgrade(empty_dsn) == migrate.head_revision()
    assert migrate.upgrade(empty_dsn) == migrate.current_revision(empty_dsn)


def test_a_foreign_database_is_refused(empty_dsn: str) -> None:
    """A database with somebody else's tables is not touched, and the sentence names them."""
    with psycopg.connect(empty_dsn) as connection:
        connection.execute("create table customers ()")
    with pytest.raises(Unreachable, match="customers"):
        migrate.upgrade(empty_dsn)


def test_a_newer_database_is_refused(empty_dsn: str) -> None:
    """A revision this code does not know stops the start with its name."""
    migrate.upgrade(empty_dsn)
    with psycopg.connect(empty_dsn) as connection:
        connection.execute("update alembic_version set version_num = '9999_from_the_future'")
    with pytest.raises(Unreachable, match="9999_from_the_future"):
        migrate.upgrade(empty_dsn)
