"""`argus import` into a real database, as a person calls it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from argus_cli.main import main
from argus_memory.db import Database
from argus_memory.settings import Settings
from tests.unit.transcripts.lines import assistant, header, said, to_bytes, user


@pytest.fixture
def transcripts(tmp_path: Path) -> Path:
    """Two programs' transcripts: four turns, one line of another kind."""
    folder = tmp_path / "transcripts"
    folder.mkdir()
    (folder / "a.jsonl").write_bytes(to_bytes(user("Move the pier."), {"type": "mode"}, assistant("Moved.")))
    (folder / "b.jsonl").write_bytes(to_bytes(header(), said("user", "Go on."), said("assistant", "Done with it.")))
    return folder


@pytest.fixture
def home(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """The command's environment: the test's home and database."""
    assert settings.database_url
    for name in [name for name in os.environ if name.startswith("ARGUS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("ARGUS_HOME", str(settings.home))
    monkeypatch.setenv("ARGUS_DATABASE_URL", settings.database_url)
    return settings


def call(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    code = main(["import", "--json", *arguments])
    return code, json.loads(capsys.readouterr().out)


def test_an_import_stores_each_turn_once(
    home: Settings, db: Database, transcripts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first run stores the turns verbatim with who said them; a second finds only duplicates."""
    code, first = call(capsys, str(transcripts))
    assert (code, first["files"], first["new"], first["duplicate"]) == (0, 2, 4, 0)
    assert first["skipped"] == {"bookkeeping": 2}
    rows = db.fetch_all("select source, body, metadata->>'role' as role, said_at from raw_items order by id")
    assert sorted((row["source"], row["role"], row["body"]) for row in rows) == [
        ("claude-code", "assistant", "Moved."),
        ("claude-code", "user", "Move the pier."),
        ("codex", "assistant", "Done with it."),
        ("codex", "user", "Go on."),
    ]
    assert {row["said_at"].date().isoformat() for row in rows} == {"2026-03-01"}
    code, second = call(capsys, str(transcripts))
    assert (code, second["new"], second["duplicate"]) == (0, 0, 4)
    passes = db.fetch_all("select outcome, counts from stage_passes where stage = 'import' order by id")
    assert [(row["outcome"], row["counts"]["new"], row["counts"]["duplicate"]) for row in passes] == [
        ("ok", 4, 0),
        ("ok", 0, 4),
    ]


def test_a_dry_run_stores_nothing(
    home: Settings, db: Database, transcripts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It counts the turns and leaves the database as it was."""
    code, report = call(capsys, "--dry-run", str(transcripts))
    assert (code, report["turns"], report["new"], report["dry_run"]) == (0, 4, 0, True)
    assert db.fetch_all("select id from raw_items") == []


def test_the_closing_table_names_each_count(
    home: Settings, transcripts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A person sees files, turns new and duplicate, what was skipped and why, bytes and seconds."""
    assert main(["import", str(transcripts)]) == 0
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    size = sum(path.stat().st_size for path in transcripts.iterdir())
    for expected in (
        "files read 2",
        "turns new 4",
        "turns duplicate 0",
        "lines skipped: bookkeeping 2",
        f"bytes {size:,}",
    ):
        assert expected in lines
    assert any(line.startswith("seconds ") for line in lines)


def test_an_unreadable_file_is_something_to_look_at(
    home: Settings, transcripts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The rest is imported, the file is named on stderr, and the exit code is 1."""
    (transcripts / "rollout-c.jsonl.zst").write_bytes(b"damaged")
    assert main(["import", str(transcripts)]) == 1
    told = capsys.readouterr()
    assert "turns new" in told.out
    assert "rollout-c.jsonl.zst could not be read" in told.err


def test_a_path_that_does_not_exist_is_wrong_use(home: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    """One sentence on stderr, exit code 2."""
    assert main(["import", "/nowhere/at/all"]) == 2
    assert capsys.readouterr().err == (
        "argus: /nowhere/at/all: no such file or folder; name a transcript or a folder that holds some\n"
    )


def test_folders_kept_out_are_not_imported(
    home: Settings,
    db: Database,
    transcripts: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """ARGUS_EXCLUDE holds for the import as well."""
    monkeypatch.setenv("ARGUS_EXCLUDE", "harbour")
    _, report = call(capsys, str(transcripts))
    assert (report["new"], report["not_stored"]) == (0, {"excluded": 4})
    assert db.fetch_all("select id from raw_items") == []


def test_the_shared_transcripts_are_imported_whole(
    home: Settings, db: Database, shared_data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every turn found is stored, known already, or deliberately left out; the second run adds nothing."""
    folders = [str(shared_data / "claude-code"), str(shared_data / "codex")]
    code, first = call(capsys, *folders)
    stored = db.fetch_one("select count(*) as n from raw_items")
    assert code == 0
    assert stored is not None
    assert first["turns"] == first["new"] + first["duplicate"] + sum(first["not_stored"].values())
    assert stored["n"] == first["new"] > 200
    code, second = call(capsys, *folders)
    assert (code, second["new"], second["turns"]) == (0, 0, first["turns"])
