"""Settings: read once, refused with one sentence, documented one by one."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus_memory.errors import SettingError
from argus_memory.settings import OPTIONS, load_settings, parse_duration


def test_an_empty_environment_gives_the_defaults(tmp_path: Path) -> None:
    """Without any variable Argus listens on loopback, with the documented ports and no model."""
    settings = load_settings({"ARGUS_HOME": str(tmp_path)})
    assert (settings.api_host, settings.api_port, settings.dagster_port) == ("127.0.0.1", 8484, 3000)
    assert settings.database_url is None
    assert settings.distill_model == ()
    assert settings.api_url == "http://127.0.0.1:8484"


def test_the_environment_wins_over_the_env_file(tmp_path: Path) -> None:
    """A variable in the environment replaces the line in $ARGUS_HOME/env; an empty one does not."""
    (tmp_path / "env").write_text("# mine\nARGUS_API_PORT=9000\nexport ARGUS_DAGSTER_PORT='9001'\n")
    settings = load_settings(
        {"ARGUS_HOME": str(tmp_path), "ARGUS_API_PORT": "9100", "ARGUS_DAGSTER_PORT": ""}
    )
    assert (settings.api_port, settings.dagster_port) == (9100, 9001)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ARGUS_API_PORT", "eighty"),
        ("ARGUS_API_PORT", "0"),
        ("ARGUS_DAGSTER_PORT", "65536"),
        ("ARGUS_DATABASE_URL", "mysql://localhost/x"),
        ("ARGUS_RECALL_FLOOR", "1.5"),
        ("ARGUS_RECALL_FLOOR", "nan"),
        ("ARGUS_EMBED_DIM", "-1"),
        ("ARGUS_IDLE_CLOSE", "half an hour"),
        ("ARGUS_IDLE_CLOSE", "0s"),
        ("ARGUS_API_URL", "localhost:8484"),
        ("ARGUS_CAPTURE_TOKEN", "short"),
        ("ARGUS_TEXT_SEARCH", "English; drop table"),
        ("ARGUS_FUSION", "magic"),
    ],
)
def test_a_bad_value_names_variable_problem_and_form(tmp_path: Path, name: str, value: str) -> None:
    """A bad value stops the start with one line naming the variable and what is accepted."""
    with pytest.raises(SettingError) as caught:
        load_settings({"ARGUS_HOME": str(tmp_path), name: value})
    message = str(caught.value)
    option = next(option for option in OPTIONS if option.name == name)
    assert message.startswith(f"{name}: ")
    assert message.endswith(f"accepted: {option.accepted}")
    assert "\n" not in message


def test_a_secret_is_not_repeated_in_the_error(tmp_path: Path) -> None:
    """The sentence about a bad secret never prints the secret."""
    with pytest.raises(SettingError) as caught:
        load_settings({"ARGUS_HOME": str(tmp_path), "ARGUS_CAPTURE_TOKEN": "p4ss word"})
    assert "p4ss" not in str(caught.value)


@given(st.integers(0, 30), st.integers(0, 23), st.integers(0, 59), st.integers(0, 59))
def test_durations_read_what_they_say(days: int, hours: int, minutes: int, seconds: int) -> None:
    """Every written duration but zero is the sum of its parts."""
    span = timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
    text = f"{days}d{hours}h{minutes}m{seconds}s"
    if span:
        assert parse_duration(text) == span
    else:
        with pytest.raises(ValueError):
            parse_duration(text)


def test_every_option_stands_in_the_docs_with_its_default() -> None:
    """docs/options.md has one row an option: name, default, accepted form and meaning as in settings.py."""
    text = (Path(__file__).parents[3] / "docs" / "options.md").read_text()
    rows = {
        cells[1].strip().strip("`"): [cell.strip() for cell in cells]
        for line in text.splitlines()
        if line.startswith("| `ARGUS_")
        for cells in [line.split("|")]
    }
    assert set(rows) == {option.name for option in OPTIONS}
    for option in OPTIONS:
        shown = f"`{option.default}`" if option.default else "unset"
        assert rows[option.name][2:5] == [shown, option.accepted, option.meaning], option.name
