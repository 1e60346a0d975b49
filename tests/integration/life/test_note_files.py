"""Notes that name files, and what became of the files: real repositories made by git."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from argus_memory.content.git_changes import FileChange, find_change
from argus_memory.db import Database
from argus_memory.settings import Settings
from argus_memory.stages.context import recall_context
from argus_memory.stages.note_files import CHECKED_EVERY, notice_files
from argus_memory.upkeep.decisions import reconfirm
from argus_memory.upkeep.fading import read_life
from tests.memory_rows import add_note, at

NOW = at(60)


def git(folder: Path, *words: str) -> str:
    names = ("-c", "user.name=Kim", "-c", "user.email=kim@example.org", "-c", "init.defaultBranch=main")
    done = subprocess.run(["git", *names, *words], cwd=folder, capture_output=True, check=True, timeout=20)
    return done.stdout.decode().strip()


def commit(folder: Path, path: str, text: str | None) -> str:
    if text is None:
        (folder / path).unlink()
    else:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "change")
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def garden(tmp_path: Path) -> Path:
    folder = tmp_path / "garden"
    folder.mkdir()
    git(folder, "init", "-q")
    commit(folder, "src/pump.py", "print(1)\n")
    return folder


def add_said(db: Database, folder: Path, text: str, commit_: str | None, *, captured: float = 0.1) -> int:
    """A note of a turn that was captured in a repository at a commit; returns its id."""
    repo: dict[str, Any] = {"remote": None, "common_dir": str(folder / ".git")} | ({"commit": commit_} if commit_ else {})
    row = db.fetch_one(
        "insert into raw_items (source, kind, body, session, project, metadata, dedup_key, said_at, captured_at)"
        " values ('claude-code', 'turn', %(text)s, 's', 'garden', %(meta)s, md5(%(text)s), %(said)s, %(captured)s)"
        " returning id",
        {"text": text, "meta": Jsonb({"role": "user", "repo": repo}), "said": at(0), "captured": at(captured)},
    )
    assert row
    return add_note(db, text, raw_id=row["id"], said_at=at(0))


def shown(db: Database, settings: Settings) -> str:
    return recall_context(db, settings, now=NOW, project="garden").text


def test_recall_says_when_a_named_file_changed(db: Database, settings: Settings, garden: Path) -> None:
    """Unchanged, nothing is said; after a commit that touches the file recall names it; reconfirmed, it is silent."""
    note = add_said(db, garden, "The pump is started by src/pump.py at dawn.", git(garden, "rev-parse", "HEAD"))
    first = notice_files(db, now=NOW)
    assert (first.read, first.noticed, first.checked, first.changed) == (1, 1, 1, 0)
    assert "changed since" not in shown(db, settings)
    commit(garden, "src/pump.py", "print(2)\n")
    assert notice_files(db, now=NOW + CHECKED_EVERY / 2).checked == 0
    assert notice_files(db, now=NOW + CHECKED_EVERY * 1.1).changed == 1
    assert "(changed since: src/pump.py)" in shown(db, settings)
    reconfirm(db, note, "kim", now=NOW)
    assert "changed since" not in shown(db, settings)
    assert notice_files(db, now=NOW + CHECKED_EVERY * 2.5).changed == 0


def test_a_file_that_was_removed_is_gone(db: Database, garden: Path) -> None:
    """A removed file is told as gone, with the day, and a bare name is found in any folder."""
    note = add_said(db, garden, "The pump is started by pump.py at dawn.", git(garden, "rev-parse", "HEAD"))
    commit(garden, "src/pump.py", None)
    notice_files(db, now=NOW)
    (file,) = read_life(db, note, now=NOW).files
    assert (file["path"], file["said"]) == ("pump.py", "gone")
    assert file["changed_on"] is not None


def test_what_is_not_known_is_not_said(db: Database, settings: Settings, garden: Path) -> None:
    """Without a commit, long after the turn, or in a repository that is not here, nothing is claimed."""
    head = git(garden, "rev-parse", "HEAD")
    late = add_said(db, garden, "Late: src/pump.py starts the pump.", head, captured=600)
    bare = add_said(db, garden, "Bare: src/pump.py starts the pump.", None)
    away = add_said(db, garden.parent / "nowhere", "Away: src/pump.py starts the pump.", head)
    commit(garden, "src/pump.py", "print(3)\n")
    report = notice_files(db, now=at(700))
    assert (report.noticed, report.checked, report.unknown, report.changed) == (3, 1, 1, 0)
    said = {note: read_life(db, note, now=NOW).files[0]["said"] for note in (late, bare, away)}
    assert said == {late: None, bare: None, away: "unknown"}
    assert "changed since" not in shown(db, settings)


def test_a_slow_git_holds_nobody_up(db: Database, garden: Path) -> None:
    """A pass that used its time leaves the other files to the next one, which begins with those; none is left out."""
    head = git(garden, "rev-parse", "HEAD")
    for name in ("a", "b", "c"):
        add_said(db, garden, f"The pump is described in docs/{name}.md.", head)
    asked: list[str] = []

    def ask(_repo: str, _commit: str, path: str) -> FileChange:
        asked.append(path)
        return FileChange("unknown")

    reports = [notice_files(db, now=NOW, ask=ask, seconds=0) for _ in range(3)]
    assert [(report.checked, report.more) for report in reports] == [(1, True), (1, True), (1, False)]
    assert sorted(asked) == ["docs/a.md", "docs/b.md", "docs/c.md"]


def test_a_commit_that_is_none_and_odd_names_are_unknown(garden: Path) -> None:
    """What looks like an option, a range or a pattern is taken for a name and changes nothing."""
    head = git(garden, "rev-parse", "HEAD")
    assert find_change(str(garden / ".git"), "--all", "src/pump.py").said == "unknown"
    assert find_change(str(garden / ".git"), "0" * 40, "src/pump.py").said == "unknown"
    commit(garden, "src/pump.py", "print(4)\n")
    for name in ("--exec=x", "*.py", "[p]ump.py", "src/*.py", ":(top)src/pump.py"):
        assert find_change(str(garden / ".git"), head, name).said in ("unchanged", "unknown"), name
    assert find_change(str(garden / ".git"), head, "pump.py").said == "changed"
