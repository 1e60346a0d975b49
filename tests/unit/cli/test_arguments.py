"""Arguments that commands share: what is out of bounds is wrong use, never a traceback."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime

import pytest

from argus_cli.arguments import row_count
from argus_cli.main import build_parser
from argus_memory.option_values import parse_duration


@pytest.mark.parametrize("text", ["0", "-1", "", "x", "1.5", "1000001", "9" * 25, "9" * 5000, "٣"])
def test_a_limit_is_a_whole_number_within_bounds(text: str) -> None:
    """Everything else is refused, with what was given cut to a length that can be read."""
    with pytest.raises(argparse.ArgumentTypeError) as refused:
        row_count(text)
    assert len(str(refused.value)) < 120


@pytest.mark.parametrize(
    "words", [["alerts", "list"], ["deliveries", "list"], ["todo", "list"], ["task", "runs", "water"]]
)
def test_every_list_refuses_a_limit_no_database_takes(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 2 and a sentence, before anything is opened."""
    for limit in ("-1", "9" * 25):
        with pytest.raises(SystemExit) as ended:
            build_parser(words[0]).parse_args([*words, "--limit", limit])
        assert ended.value.code == 2
        assert "is not a whole number" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["99999999999d", "3000000d", "9" * 5000 + "s", "36526d"])
def test_a_duration_beyond_a_century_is_refused(text: str) -> None:
    """It is a ValueError with a short sentence, where a sum with a date would overflow."""
    with pytest.raises(ValueError, match="long") as refused:
        parse_duration(text)
    assert len(str(refused.value)) < 120
    assert datetime.now(UTC) + parse_duration("36525d")
