"""A list of tasks, and the commands called as a person calls them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from argus_cli.main import main

LIST = """
[backup]
command = echo saved; exit 0
schedule = 0 3 * * *
[weather]
command = echo wet; exit 3
schedule = @every 90m
[by-hand]
command = true
[elsewhere]
mode = observe
schedule = @daily
"""
BROKEN = "[bad]\nshedule = @daily\n"  # line 14 where it follows LIST

Shown = pytest.CaptureFixture[str]


def make_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder with LIST, named in the environment; no Dagster answers."""
    tasks = tmp_path / "tasks"
    for name in ("backup", "weather", "by-hand"):
        (tasks / name).mkdir(parents=True)
    (tasks / "config.ini").write_text(LIST)
    monkeypatch.setenv("ARGUS_DAGSTER_PORT", "1")
    monkeypatch.setenv("ARGUS_TASKS", str(tasks))
    monkeypatch.setenv("ARGUS_TIMEZONE", "Europe/Vienna")
    return tasks


def told(capsys: Shown, *words: str, code: int = 0) -> str:
    """What the command says, stdout before stderr, with the exit code it must have."""
    assert main(list(words)) == code
    shown = capsys.readouterr()
    return shown.out + shown.err


def told_json(capsys: Shown, *words: str, code: int = 0) -> Any:
    assert main([*words, "--json"]) == code
    return json.loads(capsys.readouterr().out)
