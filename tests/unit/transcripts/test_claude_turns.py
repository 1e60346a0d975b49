"""What is kept of a Claude Code transcript, word for word."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.transcripts.lines import FOLDER, SESSION, assistant, read_claude, to_bytes, user, words


def test_a_typed_text_is_a_turn() -> None:
    """The string a person typed becomes a user turn with all the record says of it."""
    first = {"type": "mode", "mode": "normal"}
    turns, parser = read_claude(first, user("  Move the pier.\n"))
    assert [turn.as_dict() for turn in turns] == [
        {
            "role": "user", "text": "Move the pier.", "uuid": "u-1", "message_id": None,
            "timestamp": "2026-03-01T10:00:00.000Z", "session": SESSION, "cwd": FOLDER,
            "position": len(to_bytes(first)), "meta": {"version": "2.1.40", "branch": "main"},
        }
    ]  # fmt: skip
    assert (parser.kept, parser.skipped) == (1, {"bookkeeping": 1})


def test_typed_blocks_are_one_turn() -> None:
    """Several typed text blocks of one record are one prompt, in their order."""
    blocks = [{"type": "text", "text": "one"}, {"type": "image", "source": {}}, {"type": "text", "text": "two"}]
    assert words(read_claude(user(blocks))[0]) == [("user", "one\n\ntwo")]


def test_an_answer_is_one_turn_a_record() -> None:
    """Pieces of one answer share their message id and stay turns of their own, also around a tool's result."""
    turns, _ = read_claude(
        assistant("First."),
        assistant([{"type": "tool_use", "id": "t", "name": "Read", "input": {}}], uuid="a-2"),
        user([{"type": "tool_result", "tool_use_id": "t", "content": "…"}], uuid="u-2"),
        assistant("Second.", uuid="a-3"),
    )
    assert [(turn.text, turn.uuid, turn.message_id) for turn in turns] == [
        ("First.", "a-1", "msg_1"),
        ("Second.", "a-3", "msg_1"),
    ]


def test_the_same_prompt_twice_is_two_turns() -> None:
    """A prompt typed again has another uuid and was said again."""
    assert len(read_claude(user("continue"), user("continue", uuid="u-2"))[0]) == 2


def test_an_answer_beside_a_tool_call_keeps_its_text() -> None:
    """Of an assistant record only text blocks are words."""
    blocks = [{"type": "thinking", "thinking": "…"}, {"type": "text", "text": "Done."}, {"type": "tool_use"}]
    assert words(read_claude(assistant(blocks))[0]) == [("assistant", "Done.")]


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("<ide_opened_file>The user opened a.py</ide_opened_file>\nfix it", "fix it"),
        ("<ide_selection>lines 3 to 5</ide_selection><system-reminder>x</system-reminder>fix it", "fix it"),
        ("fix it\n\n<system-reminder>\nDo not mention this.\n</system-reminder>", "fix it"),
        ("fix it<system-reminder>a</system-reminder>\n<system-reminder>b</system-reminder>", "fix it"),
        ("[Image #1] what is this?", "what is this?"),
        ("compare [Image #1] and [Image #2] please", "compare and please"),
        ("[Image: source: /tmp/a.png]\nwhat is this?", "what is this?"),
    ],
)
def test_machine_blocks_are_cut_out_of_a_prompt(typed: str, kept: str) -> None:
    """What editor and program put before or after the typed words goes, the words stay."""
    assert words(read_claude(user(typed))[0]) == [("user", kept)]


def test_a_machine_block_of_its_own_is_dropped() -> None:
    """The editor's block comes first in a list of blocks; the typed one follows."""
    blocks = [
        {"type": "text", "text": "<ide_opened_file>a.py</ide_opened_file>"},
        {"type": "text", "text": "fix it"},
    ]
    assert words(read_claude(user(blocks))[0]) == [("user", "fix it")]


@pytest.mark.parametrize(
    "typed",
    [
        "Why does <system-reminder>x</system-reminder> stand in my log?",
        "The flag isMeta: true and <command-name> are in the file, why?",
        "This session is not the one being continued from a previous conversation",
        "what does [Request interrupted by user] mean",
        "API Error: 500 is what I see, and <task-notification> too",
        "<systemd-unit> is the tag I want",
        "array[Image #x] stays",
    ],
)
def test_a_quoted_mark_is_a_persons_word(typed: str) -> None:
    """Marks count only at the start of a text: what is quoted in a prompt is kept as typed."""
    assert words(read_claude(user(typed))[0]) == [("user", typed)]


def test_prose_of_a_command_is_kept() -> None:
    """The words after `/plan` were typed to the model; the command is noted beside them."""
    trace = (
        "<command-message>plan</command-message>\n<command-name>/plan</command-name>\n"
        "<command-args>move the pier first</command-args>"
    )
    turns, _ = read_claude(user(trace))
    assert words(turns) == [("user", "move the pier first")]
    assert turns[0].meta["command"] == "plan"


@pytest.mark.parametrize("prompt", ["use the north wall", [{"type": "text", "text": "use the north wall"}]])
def test_a_queued_prompt_is_kept(prompt: Any) -> None:
    """A prompt typed while the model worked stands in an attachment."""
    queued = {"type": "queued_command", "commandMode": "prompt", "prompt": prompt}
    turns, _ = read_claude({"type": "attachment", "uuid": "q", "sessionId": SESSION, "attachment": queued})
    assert words(turns) == [("user", "use the north wall")]
    assert turns[0].meta == {"queued": True}


def queue(text: str | None = None) -> dict[str, Any]:
    record = {"type": "queue-operation", "operation": "remove", "timestamp": "2026-03-01T10:01:00.000Z"}
    return {**record, "sessionId": SESSION} | ({"content": text} if text else {})


def attached(text: str) -> dict[str, Any]:
    inside = {"type": "queued_command", "commandMode": "prompt", "prompt": text}
    return {"type": "attachment", "uuid": "q", "sessionId": SESSION, "attachment": inside}


def test_a_queued_prompt_written_twice_is_one_turn() -> None:
    """Where both kinds of record hold the same text, the first is kept; a text queued again is a turn again."""
    turns, parser = read_claude(queue("go on"), attached("go  on"), attached("go on"), queue("go on"), queue())
    assert words(turns) == [("user", "go on"), ("user", "go on")]
    assert parser.skipped == {"repeated": 2, "bookkeeping": 1}


def test_records_without_folder_take_the_sessions() -> None:
    """A queued prompt names no folder: it was typed in that of the turns before."""
    turns, _ = read_claude(user("start"), queue("go on"))
    assert [turn.cwd for turn in turns] == [FOLDER, FOLDER]


def test_titles_are_no_evidence() -> None:
    """The last title names the session; a summary belongs to another one; neither is a turn."""
    turns, parser = read_claude(
        {"type": "summary", "summary": "Another session", "leafUuid": "x"},
        {"type": "ai-title", "aiTitle": "Harbour"},
        {"type": "custom-title", "customTitle": "Pier works"},
    )
    assert (turns, parser.title, parser.skipped) == ([], "Pier works", {"title": 3})


def test_abandoned_branches_count_as_said() -> None:
    """A rewound prompt was typed: both children of one record are kept, in the order of the file."""
    turns, _ = read_claude(user("left"), user("right", uuid="u-2", parentUuid="u-0"), assistant("Right it is."))
    assert words(turns) == [("user", "left"), ("user", "right"), ("assistant", "Right it is.")]


def test_the_order_is_the_files() -> None:
    """Timestamps run backwards after a compaction; turns keep the order of their lines."""
    turns, _ = read_claude(user("later", timestamp="2026-03-02T00:00:00Z"), user("earlier", uuid="u-2"))
    assert [turn.text for turn in turns] == ["later", "earlier"]
    assert turns[0].position < turns[1].position
