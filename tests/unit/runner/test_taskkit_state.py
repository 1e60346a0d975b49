"""What a task keeps from run to run."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

import taskkit


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ARGUS_HOME", str(tmp_path))
    monkeypatch.setenv("ARGUS_TASK", "watering")
    return tmp_path


def test_a_value_comes_back_as_it_was_saved(home: Path) -> None:
    """Any JSON value, in a folder of the task's own that others cannot enter."""
    assert taskkit.load_state({"last": 0}) == {"last": 0}
    taskkit.save_state({"last": 7, "beds": ["a"]})
    assert taskkit.load_state() == {"last": 7, "beds": ["a"]}
    assert stat.S_IMODE((home / "tasks" / "watering").stat().st_mode) == 0o700


def test_what_is_no_json_leaves_the_state_before(home: Path) -> None:
    """A value that cannot be kept is refused, and nothing is lost."""
    taskkit.save_state([1])
    with pytest.raises(TypeError):
        taskkit.save_state({1, 2})
    assert taskkit.load_state() == [1]


def test_a_damaged_file_is_named(home: Path) -> None:
    """The sentence says which file, and what to do."""
    taskkit.save_state([1])
    (home / "tasks" / "watering" / "state.json").write_text("{")
    with pytest.raises(ValueError, match=r"state\.json is no JSON"):
        taskkit.load_state()


def test_outside_a_run_it_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """By hand, the two variables have to be set."""
    monkeypatch.delenv("ARGUS_TASK", raising=False)
    with pytest.raises(taskkit.NotConfigured, match="ARGUS_TASK"):
        taskkit.load_state()
