"""`argus task new` and the writing of the list: a folder and a stanza, both or neither."""

from __future__ import annotations

import os
from pathlib import Path
from threading import Thread

import pytest

from argus_memory.errors import Conflict, Unreachable, UsageError
from argus_memory.records import Handler
from argus_memory.tasks.config import read_task_list
from argus_memory.tasks.list_file import append_stanzas, names_in, render_stanza
from argus_memory.tasks.new_task import NewTask, make_task


def make(folder: Path, name: str = "water", handler: Handler = "code", **given: object) -> NewTask:
    options: dict[str, object] = {"schedule": "@daily", "shell": False, "description": None, **given}
    return make_task(folder, name, handler, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("handler", "shell", "file"),
    [("code", False, "run.py"), ("code", True, "run.sh"), ("llm", False, "prompt.md"), ("agent", False, "prompt.md")],
)
def test_what_is_made_can_be_used(tmp_path: Path, handler: Handler, shell: bool, file: str) -> None:
    """Folder, file and stanza are there, and the list reads them without a fault."""
    made = make(tmp_path / "tasks", handler=handler, shell=shell, description="Waters\nthe beds")
    assert made.files == (file,)
    task_list = read_task_list(tmp_path / "tasks", default_zone="UTC")
    assert task_list.broken == ()
    (task,) = task_list.tasks
    assert (task.name, task.handler, task.schedule, task.description) == ("water", handler, "@daily", "Waters the beds")
    assert (task.folder / file).is_file()


def test_a_list_keeps_what_is_in_it(tmp_path: Path) -> None:
    """Comments, line ends, modes and a link in the file's place stay; the stanza comes at the end."""
    real = tmp_path / "elsewhere.ini"
    real.write_bytes(b"; mine\r\n[a]\r\ncommand = x\r\nfolder = .")
    real.chmod(0o640)
    folder = tmp_path / "tasks"
    folder.mkdir()
    (folder / "config.ini").symlink_to(real)
    make(folder)
    assert (folder / "config.ini").is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    data = real.read_bytes()
    assert data.startswith(b"; mine\r\n[a]\r\ncommand = x\r\nfolder = .\r\n\r\n[water]\r\n")
    assert data.count(b"\n") == data.count(b"\r\n")
    assert [task.name for task in read_task_list(folder, default_zone="UTC").tasks] == ["a", "water"]


@pytest.mark.parametrize("name", ["Water", "9lives", "a_b", "", "../x", "defaults", "context", "x" * 64])
def test_names_that_cannot_be_are_refused(tmp_path: Path, name: str) -> None:
    """A name outside the rule, and the two that mean something else, make nothing."""
    with pytest.raises(UsageError, match="cannot be a task's name"):
        make(tmp_path / "tasks", name)
    assert not (tmp_path / "tasks").exists()


def test_a_taken_name_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    """An existing stanza, broken or not, and an existing folder each stop it, and nothing changes."""
    (tmp_path / "old").mkdir()
    (tmp_path / "config.ini").write_text("[water]\nnonsense\n")
    with pytest.raises(Conflict, match=r"stanza \[water\]"):
        make(tmp_path)
    with pytest.raises(Conflict, match="is there already"):
        make(tmp_path, "old")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["config.ini", "old"]
    assert (tmp_path / "config.ini").read_text() == "[water]\nnonsense\n"


def test_a_bad_schedule_makes_nothing(tmp_path: Path) -> None:
    """The reason is the schedule's own."""
    with pytest.raises(UsageError, match=r"--schedule: .*61"):
        make(tmp_path / "tasks", schedule="61 * * * *")
    with pytest.raises(UsageError, match="--shell belongs to"):
        make(tmp_path / "tasks", handler="llm", shell=True)
    assert not (tmp_path / "tasks").exists()


def test_a_list_that_cannot_take_it_leaves_no_folder(tmp_path: Path) -> None:
    """A UTF-16 list is refused, and the folder made for the task is gone again."""
    (tmp_path / "config.ini").write_bytes("[a]\n".encode("utf-16"))
    with pytest.raises(UsageError, match="UTF-16"):
        make(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["config.ini"]


def test_a_place_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    """A file where the folder should be: one sentence."""
    (tmp_path / "tasks").write_text("")
    with pytest.raises(Unreachable, match="cannot be"):
        make(tmp_path / "tasks")


def test_writers_at_once_lose_no_stanza(tmp_path: Path) -> None:
    """Eight writers append at the same time, and eight stanzas stand in the list."""
    writers = [
        Thread(target=append_stanzas, args=(tmp_path, {f"t{n}": render_stanza(f"t{n}", {"command": "x"})}, [f"t{n}"]))
        for n in range(8)
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert names_in(tmp_path) == {f"t{n}" for n in range(8)}
    assert read_task_list(tmp_path, default_zone="UTC").broken == ()
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]
