"""Dumps that are proven, recorded and rotated, on a real Postgres with its own programs."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest

from argus_cli.embedded_postgres import EmbeddedPostgres
from argus_cli.postgres_place import wheel_binaries
from argus_memory.db import Database
from argus_memory.errors import Unreachable, UsageError
from argus_memory.rules.rotation import Kept
from argus_memory.upkeep.backup import Backup, list_backups, make_backup, read_manifest, restore_into
from tests.memory_rows import add_note, add_turn, at

WHEN = datetime(2026, 12, 1, 3, 30, tzinfo=UTC)
KEPT = Kept(2, 0, 0)


@pytest.fixture
def scratch(postgres: EmbeddedPostgres):  # type: ignore[no-untyped-def]
    """An empty database with pgvector on the tests' own server."""

    @contextmanager
    def made() -> Iterator[str]:
        with psycopg.connect(postgres.dsn("postgres", "postgres"), autocommit=True) as admin:
            admin.execute("create database scratch owner argus")
            try:
                with psycopg.connect(postgres.dsn("postgres", "scratch"), autocommit=True) as inside:
                    inside.execute("create extension if not exists vector")
                yield postgres.dsn("argus", "scratch")
            finally:
                admin.execute("drop database scratch with (force)")

    return made


def back_up(db: Database, folder: Path, scratch, *, when: datetime = WHEN) -> Backup:  # type: ignore[no-untyped-def]
    return make_backup(db, folder, wheel_binaries(), clock=lambda: when, scratch=scratch, kept=KEPT)


def test_a_backup_is_restored_and_compared_before_it_counts(db: Database, tmp_path: Path, scratch) -> None:  # type: ignore[no-untyped-def]
    """The file is private, its manifest fits it, the row says proven, and it holds every row there was."""
    add_turn(db, "The tomatoes ripen in July.", at(0))
    add_note(db, "Tomatoes ripen in July.")
    made = back_up(db, tmp_path / "backups", scratch)
    path = Path(made.path)
    assert made.outcome == "proven"
    assert made.rows["raw_items"] == 2
    assert [stat.S_IMODE(p.stat().st_mode) for p in (path, path.with_suffix(".json"))] == [0o600, 0o600]
    assert read_manifest(path)["rows"] == made.rows
    (row,) = list_backups(db)
    assert (row["outcome"], row["path"], row["total"]) == ("proven", made.path, 1)


def test_a_restored_memory_refuses_changes_as_the_first_did(db: Database, tmp_path: Path, scratch) -> None:  # type: ignore[no-untyped-def]
    """Triggers come back with the rows: what was immutable still is."""
    add_turn(db, "The tomatoes ripen in July.", at(0))
    made = back_up(db, tmp_path, scratch)
    with scratch() as dsn:
        restore_into(Path(made.path), dsn, wheel_binaries())
        with psycopg.connect(dsn) as conn, pytest.raises(psycopg.Error, match="refused"):
            conn.execute("update raw_items set body = 'other'")


def test_what_was_written_during_the_dump_is_not_missed_as_a_difference(
    db: Database, tmp_path: Path, scratch  # type: ignore[no-untyped-def]
) -> None:
    """Counts and dump belong to one snapshot: a capture between them changes neither."""
    add_turn(db, "The tomatoes ripen in July.", at(0))

    @contextmanager
    def late_capture() -> Iterator[str]:
        add_turn(db, "Captured while the backup is tried.", at(5))
        with scratch() as dsn:
            yield dsn

    assert back_up(db, tmp_path, late_capture).rows["raw_items"] == 1


def test_a_dump_that_restores_other_rows_is_no_backup(db: Database, tmp_path: Path, scratch) -> None:  # type: ignore[no-untyped-def]
    """A difference fails the backup, with a row that says which, and the file is kept apart."""
    add_turn(db, "The tomatoes ripen in July.", at(0))

    @contextmanager
    def fill_first() -> Iterator[str]:
        with scratch() as dsn:
            with psycopg.connect(dsn) as conn:
                conn.execute("create table raw_items (id int)")
            yield dsn

    with pytest.raises(Unreachable, match="could not be restored"):
        back_up(db, tmp_path, fill_first)
    (row,) = list_backups(db)
    assert row["outcome"] == "failed"
    assert "could not be restored" in row["error"]
    assert [path.suffix for path in tmp_path.iterdir()] == [".unproven"]


def test_programs_that_are_missing_fail_with_a_sentence(db: Database, tmp_path: Path) -> None:
    """Without pg_dump nothing is left half done, and the failure is on record."""
    with pytest.raises(Unreachable, match="cannot be run"):
        make_backup(db, tmp_path, tmp_path / "nowhere", clock=lambda: WHEN, scratch=None, kept=KEPT)
    assert list(tmp_path.iterdir()) == []
    assert list_backups(db)[0]["outcome"] == "failed"


def test_older_backups_are_rotated_and_strangers_files_are_not(db: Database, tmp_path: Path, scratch) -> None:  # type: ignore[no-untyped-def]
    """Two days are kept; the older file goes with its manifest and is marked; a file without one stays."""
    stranger = tmp_path / "argus-20200101T000000Z.dump"
    stranger.write_bytes(b"somebody's")
    made = [back_up(db, tmp_path, None, when=WHEN + timedelta(days=n)) for n in range(3)]
    assert made[-1].removed == (Path(made[0].path).name,)
    assert sorted(path.name for path in tmp_path.glob("*.dump")) == sorted(
        [stranger.name, Path(made[1].path).name, Path(made[2].path).name]
    )
    assert [row["removed_at"] is None for row in list_backups(db)] == [True, True, False]


def test_a_damaged_file_is_refused_before_anything_is_touched(db: Database, tmp_path: Path, scratch) -> None:  # type: ignore[no-untyped-def]
    """A flipped byte, a missing manifest and a missing file each name the cure."""
    path = Path(back_up(db, tmp_path, None).path)
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(UsageError, match="damaged"):
        read_manifest(path)
    path.with_suffix(".json").unlink()
    with pytest.raises(UsageError, match="not beside"):
        read_manifest(path)
    with pytest.raises(UsageError, match="no file"):
        read_manifest(tmp_path / "none.dump")
