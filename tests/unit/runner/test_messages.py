"""Messages of a task, whatever it writes."""

from __future__ import annotations

import json
import os
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from argus_memory.tasks.messages import LINE_MAX, TOTAL_MAX, MessageFile, Told, take_line


def take(*messages: object) -> Told:
    told = Told()
    for number, message in enumerate(messages, 1):
        take_line(told, number, message if isinstance(message, bytes) else json.dumps(message).encode())
    return told


def test_the_last_report_and_the_last_value_of_a_metric_stand() -> None:
    """A task may report again; what it said last counts."""
    told = take(
        {"type": "report", "output": 1, "summary": "first"},
        {"type": "metric", "name": "beds", "value": 1},
        {"type": "report", "output": 2},
        {"type": "metric", "name": "beds", "value": 2},
    )
    assert (told.output, told.summary, told.metrics, told.refused) == (2, None, {"beds": 2.0}, 0)


def test_an_unknown_cost_makes_the_sum_unknown() -> None:
    """Costs add up; none, or one that is null, is null and never 0."""
    assert take().cost_usd is None
    assert take({"type": "cost", "usd": 0.1}, {"type": "cost", "usd": 0.2}).cost_usd == 0.1 + 0.2
    assert take({"type": "cost", "usd": 0.1}, {"type": "cost", "usd": None}).cost_usd is None


def test_each_problem_is_named_with_its_line() -> None:
    """A value of the wrong type or out of range is refused by name."""
    told = take(
        {"type": "metric", "name": "beds", "value": "four"},
        {"type": "metric", "value": 1},
        {"type": "cost", "usd": -1},
        b'{"type": "metric", "name": "x", "value": NaN}',
        b'{"type": "report", "output": 1e999}',
        {"type": "deliver"},
        b"[" * 100_000,
    )
    assert told.refused == 7
    assert told.problems[0] == "message 1: metric: value is not a number"
    assert (told.describe_problems() or "").endswith("and 2 more")


@given(st.lists(st.binary(max_size=200), max_size=20))
def test_no_bytes_stop_the_reading(lines: list[bytes]) -> None:
    """Any line is taken or refused, never raised; a good one behind it counts."""
    told = take(*lines, {"type": "metric", "name": "last", "value": 1})
    assert told.metrics["last"] == 1.0


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


@given(
    st.sampled_from(["report", "metric", "cost", "deliver", "skip", "engine"]),
    st.dictionaries(
        st.sampled_from(["output", "summary", "name", "value", "usd", "engine", "title", "text", "reason", "mcp_errors", "key"]),
        JSON,
    ),
)
def test_no_field_of_a_known_message_stops_the_reading(kind: str, fields: dict[str, object]) -> None:
    """Fields of any type are taken or refused."""
    told = take({**fields, "type": kind})
    assert told.refused in (0, 1)


def test_the_file_is_read_as_it_grows(tmp_path: Path) -> None:
    """Half a line waits for its other half; at the end a line without an end counts."""
    path = tmp_path / "messages.jsonl"
    messages = MessageFile(path)
    assert not messages.read()
    whole = b'{"type": "metric", "name": "beds", "value": 4}\n'
    path.write_bytes(whole[:20])
    assert not messages.read()
    path.write_bytes(whole + whole.replace(b"beds", b"pots").rstrip())
    assert messages.read()
    assert messages.told.metrics == {"beds": 4.0}
    assert messages.read(last=True)
    assert messages.told.metrics == {"beds": 4.0, "pots": 4.0}


def test_a_huge_line_and_a_huge_file_are_cut_off(tmp_path: Path) -> None:
    """A line over the limit is passed over; behind the limit of all of them nothing is read."""
    path = tmp_path / "messages.jsonl"
    good = b'\n{"type": "metric", "name": "%s", "value": 4}\n'
    path.write_bytes(b"x" * (LINE_MAX * 3) + good % b"kept")
    messages = MessageFile(path)
    messages.read()
    assert messages.told.metrics == {"kept": 4.0}
    with path.open("ab") as file:
        file.write(b" " * TOTAL_MAX + good % b"lost")
    messages.read(last=True)
    assert messages.told.metrics == {"kept": 4.0}
    assert any("not read on" in problem for problem in messages.told.problems)


def test_what_is_no_file_holds_nobody_up(tmp_path: Path) -> None:
    """A task may put a pipe or a folder in the file's place; nothing is read then."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "folder", "nothing"):
        assert not MessageFile(tmp_path / name).read(last=True)


def test_a_file_that_is_written_anew_is_read_from_its_beginning_and_told(tmp_path: Path) -> None:
    """`>` where `>>` belongs: what is there counts, and the run says that lines may be lost."""
    path = tmp_path / "messages.jsonl"
    messages = MessageFile(path)
    for number in range(3):
        path.write_text(f'{{"type": "metric", "name": "bed{number}", "value": {number}}}\n')
        assert messages.read()
    assert messages.told.metrics == {"bed0": 0.0, "bed1": 1.0, "bed2": 2.0}
    assert "append with >>" in str(messages.told.describe_problems())


def test_a_file_that_is_written_anew_again_and_again_is_bounded_too(tmp_path: Path) -> None:
    """The limit of all messages counts what was read, not how long the file is."""
    path = tmp_path / "messages.jsonl"
    messages = MessageFile(path)
    for number in range(5):
        path.write_text(f"{number}" + " " * (TOTAL_MAX // 4) + "\n")
        messages.read()
    path.write_text('{"type": "metric", "name": "beds", "value": 4}\n')
    messages.read()
    assert messages.told.metrics == {}
