"""`${VARIABLE}` in a stanza's env: the task gets the hub's value, and a missing one is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from argus_memory.db import Database
from argus_memory.records import TaskSpec
from argus_memory.settings import Settings
from argus_memory.tasks.runner import run_task

COMMAND = 'echo "got $GREETING"; echo "$GREETING" > greeting'


def spec(folder: Path, value: str) -> TaskSpec:
    return TaskSpec("greet", "code", folder, folder / "config.ini", 1, command=COMMAND, env={"GREETING": value})


def test_a_reference_becomes_the_hubs_value(
    db: Database, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From $ARGUS_HOME/env, and from the environment over it; in the run's row it is masked."""
    settings.home.mkdir(parents=True)
    settings.env_file.write_text("WORD_OF_DAY=from the file\n")
    result = run_task(db, settings, spec(tmp_path, "<${WORD_OF_DAY}>"), started_by="person")
    assert (result.outcome, result.stdout_tail) == ("ok", "got <[redacted:argus-token]>\n")
    assert (tmp_path / "greeting").read_text() == "<from the file>\n"
    monkeypatch.setenv("WORD_OF_DAY", "from the environment")
    run_task(db, settings, spec(tmp_path, "${WORD_OF_DAY}"), started_by="person")
    assert (tmp_path / "greeting").read_text() == "from the environment\n"


def test_a_missing_variable_fails_the_run(db: Database, settings: Settings, tmp_path: Path) -> None:
    """The command is not started, and the reason names the variable and where to set it."""
    result = run_task(db, settings, spec(tmp_path, "${NOT_SET_ANYWHERE}"), started_by="person")
    assert (result.outcome, result.stdout_tail) == ("failed", "")
    assert "${NOT_SET_ANYWHERE}" in str(result.reason)
    assert "$ARGUS_HOME/env" in str(result.reason)
