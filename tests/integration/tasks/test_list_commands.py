"""Commands around config.ini that need neither hub nor database: check, new, import, export."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from argus_cli.main import main
from argus_memory.tasks.config import read_task_list
from tests.integration.tasks.calls import BROKEN, LIST, Shown, make_list, told, told_json


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A list of four tasks, a home without a hub, and a database that does not answer."""
    monkeypatch.setenv("ARGUS_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("ARGUS_DATABASE_URL", "postgresql://nobody@127.0.0.1:1/none")
    return make_list(tmp_path, monkeypatch)


def test_check_reads_the_list_without_a_hub(folder: Path, capsys: Shown) -> None:
    """The next five times of each task in its zone; exit 0 while nothing is broken, also without any database."""
    text = told(capsys, "task", "check")
    assert text.count(" 03:00 +0") == 5
    assert "4 can be used, 0 broken" in text
    found = told_json(capsys, "task", "check", "weather")
    (weather,) = found["tasks"]
    times = [datetime.fromisoformat(at) for at in weather["next"]]
    assert [later - earlier for earlier, later in pairwise(times)] == [timedelta(minutes=90)] * 4


def test_check_ends_1_where_something_is_wrong(folder: Path, capsys: Shown) -> None:
    """A broken stanza is a fault, and an unknown name wrong use; notes alone are neither."""
    (folder / "config.ini").write_text(LIST + BROKEN)
    assert "bad  broken  config.ini:14" in told(capsys, "task", "check", code=1)
    assert "there is no task nothing" in told(capsys, "task", "check", "nothing", code=2)
    (folder / "config.ini").write_text("[backup]\ncommand = x\nchannel = nowhere\nenv.A = ${NOT_SET_ANYWHERE}\n")
    text = told(capsys, "task", "check")
    assert "channel nowhere is not in ARGUS_TELEGRAM_CHATS" in text
    assert "NOT_SET_ANYWHERE is set neither here" in text


def test_new_makes_a_task_that_check_accepts(folder: Path, capsys: Shown) -> None:
    """`new` then `check`: the task is there with its next times; a second one of the name is refused."""
    assert "and its stanza" in told(capsys, "task", "new", "water", "--schedule", "@hourly", "--shell")
    assert "5 can be used, 0 broken" in told(capsys, "task", "check")
    assert "choose another name" in told(capsys, "task", "new", "water", code=2)


def test_a_pause_needs_the_database(capsys: Shown) -> None:
    """Without one the command ends 3 with one sentence."""
    text = told(capsys, "task", "pause", "backup", code=3)
    assert text.startswith("argus: ")
    assert text.count("\n") == 1


OFELIA = '[job-local "tidy"]\nschedule = 0 0 4 * * *\ncommand = rm x\nenvironment = TOKEN=hush\n[job-local "vague"]\nschedule = 0 5 * * *\ncommand = y\n[job-service-run "s"]\nschedule = @daily\n'


def test_an_import_shows_first_and_writes_when_told(folder: Path, tmp_path: Path, capsys: Shown) -> None:
    """Without --write the list stays as it is; with it the stanzas are there, observed, the doubtful one off."""
    source = tmp_path / "ofelia.ini"
    source.write_text(OFELIA)
    text = told(capsys, "task", "import-ofelia", str(source), code=1)
    assert "runs as task tidy" in text
    assert "3 jobs: 1 runs as, 1 ambiguous, 1 not supported; nothing is written, --write appends 2 stanzas" in text
    assert "hush" not in text
    assert (folder / "config.ini").read_text() == LIST
    found = told_json(capsys, "task", "import-ofelia", str(source), "--write", "--timezone", "Asia/Tokyo", code=1)
    assert found["written"] == 2
    tasks = {task.name: task for task in read_task_list(folder, default_zone="UTC").tasks}
    assert (tasks["tidy"].mode, tasks["tidy"].timezone, tasks["tidy"].env["TOKEN"]) == ("observe", "Asia/Tokyo", "hush")
    assert tasks["vague"].enabled is False
    assert (folder / "tidy").is_dir()
    assert "in config.ini already" in told(capsys, "task", "import-ofelia", str(source), "--write", code=1)


def test_a_crontab_can_be_taken_over_at_once(folder: Path, tmp_path: Path, capsys: Shown) -> None:
    """With --mode run Argus starts the jobs itself."""
    source = tmp_path / "crontab"
    source.write_text("0 4 * * * /opt/rotate.sh\n")
    assert "1 stanzas appended" in told(capsys, "task", "import-crontab", str(source), "--write", "--mode", "run")
    rotate = next(t for t in read_task_list(folder, default_zone="UTC").tasks if t.name == "rotate")
    assert (rotate.mode, rotate.command, rotate.folder) == ("run", "/opt/rotate.sh", Path.home())


def test_files_that_cannot_be_imported_are_said(tmp_path: Path, capsys: Shown) -> None:
    """Absent, not UTF-8, a zone that is none: one sentence each."""
    assert "cannot be read" in told(capsys, "task", "import-ofelia", str(tmp_path / "gone"), code=2)
    (tmp_path / "latin").write_bytes(b"# gr\xfc\xdf\n")
    assert "is not UTF-8" in told(capsys, "task", "import-crontab", str(tmp_path / "latin"), code=2)
    source = tmp_path / "empty"
    source.write_text("")
    assert "--timezone" in told(capsys, "task", "import-crontab", str(source), "--timezone", "Mars", code=2)
    assert "is it the right file" in told(capsys, "task", "import-crontab", str(source), code=1)


def test_the_export_is_printed_and_the_rest_named(capsys: Shown) -> None:
    """What Ofelia can run is on stdout, what it cannot on stderr, exit 1."""
    assert main(["task", "export-ofelia"]) == 1
    shown = capsys.readouterr()
    assert '[job-local "weather"]' in shown.out
    assert "by-hand is left out: it has no schedule" in shown.err
