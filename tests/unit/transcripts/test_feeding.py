"""However a file is cut into feeds and processes, whatever stands beside a line: the turns are the same."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus_memory.transcripts import ClaudeCodeParser, CodexParser, LineReader, Turn
from tests.unit.transcripts.lines import assistant, event, header, item, line, said, to_bytes, user, words

PARSERS: dict[str, type[LineReader]] = {"claude": ClaudeCodeParser, "codex": CodexParser}
RECORDS: dict[str, list[Any]] = {
    "claude": [
        {"type": "ai-title", "aiTitle": "Harbour"},
        user("go"),
        user("gö \U0001f600", uuid="u-2"),
        user("aside", isSidechain=True),
        user([{"type": "tool_result", "content": "x"}]),
        assistant("Gone."),
        assistant("half", uuid="bad"),
        {"type": "progress", "data": {"type": "hook_progress"}},
        {"type": "queue-operation", "operation": "remove", "content": "queued"},
        {"type": "attachment", "attachment": {"type": "queued_command", "commandMode": "prompt", "prompt": "queued"}},
        {"type": "hologram"},
        b"{broken",
        b"",
        b"plain \xff words",
    ],
    "codex": [
        header(),
        header(forked_from_id="parent"),
        item("user", "go"),
        said("user", "go"),
        said("user", "later", "2026-03-01T10:30:00.000Z"),
        item("user", "more", stamp="2026-03-01T10:30:01.000Z"),
        said("assistant", "Gone."),
        item("assistant", "Gone."),
        item("assistant", "Gone.", "And more."),
        said("assistant", "And more."),
        item("assistant", "[redacted]"),
        {"type": "message", "role": "user", "content": "bare"},
        line("response_item", {"type": "reasoning"}),
        line("turn_context", {"cwd": "/else", "model": "codex-auto-review"}),
        line("turn_context", {"cwd": "/home", "model": "gpt-5"}),
        event("task_complete"),
        b"{broken",
        b"",
        b"plain \xff words",
    ],
}


def read_whole(program: str, data: bytes) -> tuple[list[Turn], dict[str, int]]:
    parser = PARSERS[program]()
    turns = parser.feed(data) + parser.finish()
    return turns, parser.skipped


@pytest.mark.parametrize("program", PARSERS)
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_any_split_gives_the_same_turns(program: str, data: st.DataObject) -> None:
    """Fed piece by piece, by one parser or by a new one for each piece from state and offset: one reading's turns."""
    records = data.draw(st.lists(st.sampled_from(RECORDS[program]), max_size=14))
    content = to_bytes(*records)
    if data.draw(st.booleans()):
        content = content[:-1]  # a last line without its newline
    cuts = sorted(data.draw(st.lists(st.integers(0, len(content)), max_size=6)))
    expected, skipped = read_whole(program, content)

    parser = PARSERS[program]()
    turns: list[Turn] = []
    for start, end in zip([0, *cuts], [*cuts, len(content)], strict=True):
        turns += parser.feed(content[start:end])
    assert turns + parser.finish() == expected
    assert parser.skipped == skipped

    turns, counts, offset, state = [], dict[str, int](), 0, None
    for end in [*cuts, len(content)]:
        parser = PARSERS[program](orjson.loads, state, offset)
        turns += parser.feed(content[offset:end])
        if end == len(content):
            turns += parser.finish()
        state, offset = json.loads(json.dumps(parser.state())), parser.offset
        for reason, count in parser.skipped.items():
            counts[reason] = counts.get(reason, 0) + count
    assert turns == expected
    assert counts == skipped
    assert offset == len(content)


@pytest.mark.parametrize("program", PARSERS)
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_each_line_is_kept_or_counted(program: str, data: st.DataObject) -> None:
    """Turns and counted lines together are the file's lines: nothing vanishes unseen."""
    records = data.draw(st.lists(st.sampled_from(RECORDS[program]), max_size=20))
    turns, skipped = read_whole(program, to_bytes(*records))
    assert len(turns) + sum(skipped.values()) == len(records)


KEYS = [
    "type", "message", "content", "role", "payload", "uuid", "timestamp", "sessionId", "cwd", "attachment", "origin",
    "operation", "prompt", "commandMode", "text", "item", "source", "git", "model", "id", "kind", "images", "session",
    "subtype", "retractedMessageUuids", "isMeta", "forked_from_id", "customTitle",
]  # fmt: skip
NAMES = [
    "user", "assistant", "attachment", "queue-operation", "remove", "system", "custom-title", "text", "queued_command",
    "prompt", "session_meta", "response_item", "event_msg", "turn_context", "user_message", "agent_message", "message",
    "item_completed", "UserMessage", "input_text", "model_refusal_fallback",
]  # fmt: skip
SCALARS = [
    None,
    True,
    0,
    -1,
    10**30,
    1.5,
    float("nan"),
    "",
    " ",
    "words",
    "\ud800",
    "\0",
    "<system-reminder>",
    "[Image #",
]


def odd_value(random: Random, depth: int) -> Any:
    """Anything JSON can say, made of the names that mean something to the parsers."""
    choice = random.random()
    if depth == 0 or choice < 0.35:
        return random.choice(SCALARS if random.random() < 0.4 else NAMES)
    if choice < 0.55:
        return [odd_value(random, depth - 1) for _ in range(random.randrange(3))]
    return {random.choice(KEYS): odd_value(random, depth - 1) for _ in range(random.randrange(8))}


def damaged(random: Random, value: Any) -> Any:
    """A copy in which here and there something stands that should not."""
    if random.random() < 0.06:
        return odd_value(random, 3)
    if isinstance(value, dict):
        return {key: damaged(random, inner) for key, inner in value.items() if random.random() > 0.02}
    return [damaged(random, inner) for inner in value] if isinstance(value, list) else value


def odd_line(random: Random, records: list[Any]) -> bytes:
    choice = random.random()
    if choice < 0.1:
        return random.randbytes(40).replace(b"\n", b" ")
    if choice < 0.3:
        return json.dumps(odd_value(random, 5)).encode()
    record = random.choice([record for record in records if isinstance(record, dict)])
    return json.dumps(damaged(random, record)).encode()


@pytest.mark.parametrize("program", PARSERS)
def test_no_content_raises(program: str) -> None:
    """Random bytes and records of every wrong shape are skipped or kept, never fatal; both decoders agree."""
    kept = 0
    for seed in range(1500):
        random = Random(seed)
        content = to_bytes(*(odd_line(random, RECORDS[program]) for _ in range(4)))
        plain, fast = PARSERS[program](json.loads), PARSERS[program](orjson.loads)
        assert plain.feed(content) + plain.finish() == fast.feed(content) + fast.finish(), content
        assert plain.skipped == fast.skipped, content
        assert len(json.dumps(plain.state())) < 100_000
        kept += plain.kept
    assert kept > 500  # damaged, but near enough to be turns


@settings(max_examples=150, deadline=None)
@given(lines=st.lists(st.binary(max_size=60).map(lambda data: b"x" + data.replace(b"\n", b" ")), max_size=5))
@pytest.mark.parametrize("program", PARSERS)
def test_garbage_never_costs_a_neighbour(program: str, lines: list[bytes]) -> None:
    """Lines that are no records, anywhere between the others, change no turn."""
    if program == "claude":
        records = [user("go"), assistant("Gone."), user("on", uuid="u-2")]
    else:
        records = [
            header(),
            item("user", "go"),
            said("user", "go"),
            said("assistant", "[a]"),
            item("assistant", "[b]"),
        ]
    clean, _ = read_whole(program, to_bytes(*records))
    mixed: list[Any] = []
    for number, record in enumerate(records):
        mixed += [*lines[number : number + 1], record]
    dirty, _ = read_whole(program, to_bytes(*mixed))
    assert words(dirty) == words(clean)


def test_an_unfinished_line_waits() -> None:
    """Without its newline a line is not taken, and the offset stays before it."""
    content = to_bytes(user("go"), user("on", uuid="u-2"))
    parser = ClaudeCodeParser()
    assert words(parser.feed(content[:-20])) == [("user", "go")]
    assert parser.offset == len(to_bytes(user("go")))
    assert words(parser.feed(content[-20:])) == [("user", "on")]
    assert parser.offset == len(content)


def test_at_rest_a_whole_last_line_is_taken_and_a_cut_one_counted() -> None:
    """A file at rest may lack its last newline; half a record is counted as cut off."""
    content = to_bytes(user("go"))
    whole, cut = ClaudeCodeParser(), ClaudeCodeParser()
    assert words(whole.feed(content[:-1]) + whole.finish()) == [("user", "go")]
    assert whole.offset == len(content) - 1
    assert cut.feed(content[:-9]) + cut.finish() == []
    assert cut.skipped == {"cut-off": 1}


def test_a_long_line_in_small_pieces_is_read_in_linear_time() -> None:
    """A line of many megabytes that grows by small writes is joined once, not at each write."""
    content = to_bytes(user("x" * 8_000_000))
    parser = ClaudeCodeParser()
    turns: list[Turn] = []
    for start in range(0, len(content), 1000):
        turns += parser.feed(content[start : start + 1000])
    assert len(turns[0].text) == 8_000_000


def test_a_retraction_reaches_turns_of_earlier_feeds_by_its_list() -> None:
    """A turn already handed out cannot be called back: the parser names it, over a restart as well."""
    fallback = {"type": "system", "subtype": "model_refusal_fallback", "retractedMessageUuids": ["bad"]}
    first = ClaudeCodeParser()
    assert len(first.feed(to_bytes(assistant("half", uuid="bad")))) == 1
    first.feed(to_bytes(fallback))
    assert first.retracted == ["bad"]
    assert ClaudeCodeParser(state=first.state()).retracted == ["bad"]
