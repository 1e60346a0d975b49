"""Codex rollouts: which of the two copies of a text is kept, and what is left out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from argus_memory.transcripts import CodexParser
from tests.unit.transcripts.lines import (
    FOLDER,
    SESSION,
    event,
    header,
    item,
    line,
    read_codex,
    said,
    to_bytes,
    words,
)

REASONING = line("response_item", {"type": "reasoning", "summary": [], "encrypted_content": "gAAA"})
CONTEXT = f"<environment_context>\n  <cwd>{FOLDER}</cwd>\n</environment_context>"


def test_a_conversation_with_both_sources_is_read_once() -> None:
    """Each text stands in an event and in an item: one turn each, in the order said."""
    turns, parser = read_codex(
        header(git={"branch": "main", "repository_url": "https://me:secret@example.org/harbour.git"}),
        item("user", CONTEXT),
        item("user", "Move the pier."),
        said("user", "Move the pier.", "2026-03-01T10:00:11.000Z"),
        REASONING,
        said("assistant", "Moved.", "2026-03-01T10:00:12.000Z"),
        item("assistant", "Moved.", stamp="2026-03-01T10:00:12.001Z", phase="final_answer", id="msg_1"),
        event("task_complete", last_agent_message="Moved."),
    )
    assert words(turns) == [("user", "Move the pier."), ("assistant", "Moved.")]
    assert (turns[0].session, turns[0].cwd, turns[0].timestamp) == (SESSION, FOLDER, "2026-03-01T10:00:11.000Z")
    assert turns[0].meta == {"version": "0.104.0", "branch": "main", "remote": "https://example.org/harbour.git"}
    assert parser.skipped == {"bookkeeping": 2, "injected": 1, "copy": 2, "thinking": 1}


def test_unknown_context_in_items_is_no_users_word() -> None:
    """Where events hold the prompts, an item without event is injected, whatever it says."""
    turns, parser = read_codex(
        header(), item("user", "A page of project rules"), item("user", "go"), said("user", "go"),
        item("user", "A skill's whole text"), REASONING, item("user", "more rules"), said("user", "on"),
    )  # fmt: skip
    assert words(turns) == [("user", "go"), ("user", "on")]
    assert parser.skipped["copy"] == 4


def test_items_count_where_there_are_no_user_events() -> None:
    """A file without user events has its prompts in items; they are kept once the model has started to answer."""
    parser = CodexParser()
    assert parser.feed(to_bytes(header(), item("user", "first"))) == []
    assert words(parser.feed(to_bytes(REASONING))) == [("user", "first")]
    assert words(parser.feed(to_bytes(item("user", "second")))) == [("user", "second")]


def test_a_prompt_nobody_answered_is_kept_at_rest() -> None:
    """At the end of a file at rest an item still held is a prompt; while the file grows it waits."""
    parser = CodexParser()
    assert parser.feed(to_bytes(header(), item("user", "first"))) == []
    assert words(parser.finish()) == [("user", "first")]


def test_the_source_is_chosen_for_each_role() -> None:
    """User texts only as events and replies only as items: both are kept."""
    turns, _ = read_codex(
        header(), said("user", "go"), item("assistant", "Gone."), said("user", "on"), item("assistant", "On.")
    )
    assert [turn.text for turn in turns] == ["go", "Gone.", "on", "On."]


def test_an_answer_said_twice_is_two_turns() -> None:
    """The copy of an answer is known by its place: the same words later are said again."""
    pair = [said("assistant", "Done."), item("assistant", "Done.")]
    turns, _ = read_codex(header(), said("user", "a"), *pair, REASONING, *pair, said("user", "b"), *pair)
    assert [turn.text for turn in turns] == ["a", "Done.", "Done.", "b", "Done."]


def test_an_item_of_several_blocks_meets_its_events() -> None:
    """A message of two blocks has one event for each: whichever side comes first is kept."""
    events = [said("assistant", "one"), said("assistant", "two")]
    both = item("assistant", "one", "two")
    assert [turn.text for turn in read_codex(header(), *events, both)[0]] == ["one", "two"]
    assert [turn.text for turn in read_codex(header(), both, *events)[0]] == ["one\n\ntwo"]


def test_redacted_copies_are_known_by_their_place() -> None:
    """Where redaction made the two texts differ, the copy follows at once in the same second."""
    turns, parser = read_codex(
        header(), said("assistant", "[MESSAGE sha=1]"), item("assistant", "[TEXT sha=1]"),
        said("assistant", "[MESSAGE sha=2]", "2026-03-01T10:00:20.000Z"),
        item("assistant", "[TEXT sha=3]", stamp="2026-03-01T10:00:21.000Z"),
    )  # fmt: skip
    assert [turn.text for turn in turns] == ["[MESSAGE sha=1]", "[MESSAGE sha=2]", "[TEXT sha=3]"]
    assert parser.skipped["copy"] == 1


def test_paginated_history_is_read() -> None:
    """In paginated files the events are completed items."""

    def completed(kind: str, text: str) -> dict[str, Any]:
        return event("item_completed", item={"type": kind, "content": [{"type": "text", "text": text}]})

    turns, parser = read_codex(
        header(history_mode="paginated"), item("user", "go"), completed("UserMessage", "go"), REASONING,
        completed("Reasoning", "x"), completed("AgentMessage", "Gone."), item("assistant", "Gone."),
    )  # fmt: skip
    assert words(turns) == [("user", "go"), ("assistant", "Gone.")]
    assert parser.skipped == {"bookkeeping": 2, "thinking": 1, "copy": 2}


def test_flattened_payloads_are_read() -> None:
    """Writers that put the payload's fields at the top level say the same."""
    stamp = "2026-03-01T10:00:00.000Z"
    turns, _ = read_codex(
        {"timestamp": stamp, "type": "session_meta", "id": SESSION, "cwd": FOLDER},
        {"timestamp": stamp, "type": "user_message", "message": "go"},
        {
            "timestamp": stamp,
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "Gone."}],
        },
        {"timestamp": stamp, "type": "token_count", "info": None},
    )
    assert words(turns) == [("user", "go"), ("assistant", "Gone.")]
    assert turns[0].session == SESSION


def bare(role: str, text: str) -> dict[str, Any]:
    return {"type": "message", "id": None, "role": role, "content": [{"type": "input_text", "text": text}]}


def test_bare_lines_take_the_sessions_start_in_order() -> None:
    """Era 2 has no times and no folder: turns follow the session's start by a millisecond each, which is said."""
    turns, parser = read_codex(
        {"id": SESSION, "timestamp": "2025-06-01T23:59:59.998Z", "instructions": "rules", "git": {}},
        {"record_type": "state"}, bare("user", CONTEXT), bare("user", "continue"), bare("assistant", "Done."),
        {"type": "reasoning", "summary": []}, bare("user", "continue"),
    )  # fmt: skip
    assert words(turns) == [("user", "continue"), ("assistant", "Done."), ("user", "continue")]
    assert [turn.timestamp for turn in turns] == ["2025-06-01T23:59:59.999Z"] * 3
    assert {turn.cwd for turn in turns} == {FOLDER}
    assert all(turn.meta["approximate_time"] for turn in turns)
    assert parser.skipped == {"bookkeeping": 2, "injected": 1, "thinking": 1}


def test_the_oldest_context_names_its_folder_in_a_sentence() -> None:
    """Before the tag, the environment context was prose."""
    context = "<environment_context>\nCurrent working directory: /home/someone/old\nApproval policy: never"
    turns, _ = read_codex(
        {"id": SESSION, "timestamp": "2025-06-01T10:00:00Z", "git": None}, bare("user", context), bare("user", "go")
    )
    assert [(turn.cwd, turn.timestamp) for turn in turns] == [("/home/someone/old", "2025-06-01T10:00:00.001Z")]


def test_a_whole_document_of_era_one_is_read() -> None:
    """`{session, items}` in one file: positions are the items' places."""
    document = {
        "session": {"id": SESSION, "timestamp": "2025-05-01T10:00:00.000Z", "instructions": ""},
        "items": [bare("user", "go"), {"type": "reasoning"}, bare("assistant", "Gone."), 7, bare("user", "on")],
    }
    parser = CodexParser()
    turns = parser.feed_document(json.dumps(document, indent=2).encode())
    assert [(turn.role, turn.text, turn.position) for turn in turns] == [
        ("user", "go", 0), ("assistant", "Gone.", 2), ("user", "on", 4),
    ]  # fmt: skip
    assert parser.skipped == {"thinking": 1, "not-a-record": 1}


@pytest.mark.parametrize("data", [b"[]", b"{}", b'{"items": 3}', b"nothing", b""])
def test_what_is_no_document_is_refused(data: bytes) -> None:
    """Anything else than a session with items raises, for the caller to count."""
    with pytest.raises(ValueError):
        CodexParser().feed_document(data)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("# Context from my IDE setup:\n\n## Open tabs:\n- a.py\n\n## My request for Codex:\nfix it\n", "fix it"),
        ("\n# In app browser:\n- open\n\n## My request for Codex:\nfix it", "fix it"),
        ("# Diff comments:\n\n## Comment 1\nFile: x\nComment:\nmove the button\nto the left\n\n# In app browser:\n- open\n\n"
         "## My request for Codex:\n\nThe next image shows the browser page.", "move the button\nto the left"),
        ("see `<environment_context>` in the log", "see `<environment_context>` in the log"),
        ("## My request for Codex: is a heading", "## My request for Codex: is a heading"),
        ("[Image #1] what is this?", "what is this?"),
        ("Automation: is what I want to talk about", "Automation: is what I want to talk about"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("source", ["event", "item"])
def test_only_the_typed_words_of_a_prompt_are_kept(text: str, kept: str, source: str) -> None:
    """What editor and app put around the request goes, in events and items alike."""
    prompt = said("user", text) if source == "event" else item("user", text)
    assert words(read_codex(header(), prompt, REASONING)[0]) == [("user", kept)]


@pytest.mark.parametrize(
    "text",
    [
        CONTEXT, "<user_instructions>\nrules", "# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>", "<turn_aborted>\nx",
        "<permissions instructions>\nx", "<skill>\n<name>x</name>", "<subagent_notification>\n{}",
        "<user_action>\n  <context>review</context>", "<user_shell_command>\nls", "# Context from my IDE setup:\n\n## Open tabs:\n- a.py",
        "Automation: Daily\nAutomation ID: daily\n\nSummarise.",
    ],
)  # fmt: skip
@pytest.mark.parametrize("source", ["event", "item"])
def test_injected_context_is_no_users_word(text: str, source: str) -> None:
    """Context that Codex sends in the user's name is skipped, in events and items alike."""
    prompt = said("user", text) if source == "event" else item("user", text)
    turns, parser = read_codex(header(), said("user", "before"), prompt, said("user", "after"))
    assert words(turns) == [("user", "before"), ("user", "after")]
    assert parser.skipped == {"bookkeeping": 1, "injected": 1}


def test_image_marks_around_a_prompt_are_dropped() -> None:
    """An image's tags are blocks of their own; the typed block stays."""
    prompt = item("user", "<image name=[Image #1]>", "</image>", "what is this?")
    assert words(read_codex(header(), prompt, REASONING)[0]) == [("user", "what is this?")]


@pytest.mark.parametrize(
    ("reason", "record"),
    [
        ("developer", item("developer", "words")),
        ("developer", item("system", "words")),
        ("malformed", item("tool", "words")),
        ("malformed", line("response_item", {"type": "message", "role": "user", "content": None})),
        ("malformed", line("response_item", {"type": "message", "role": "assistant", "content": [{"type": "hologram"}]})),
        ("malformed", event("user_message")),
        ("malformed", event("agent_message", message=["words"])),
        ("image", line("response_item", {"type": "message", "role": "user", "content": [{"type": "input_image"}]})),
        ("image", event("user_message", message="", images=["a"])),
        ("empty", event("user_message", message=" ")),
        ("empty", event("agent_message", message="")),
        ("empty", item("assistant", " ")),
        ("injected", line("event_msg", {"type": "user_message", "message": "words", "kind": "user_instructions"})),
        ("thinking", event("agent_reasoning", text="words")),
        ("thinking", REASONING),
        *(("tool", line("response_item", {"type": kind, "output": "words"})) for kind in (
            "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output", "local_shell_call",
            "web_search_call")),
        *(("tool", event(kind, output="words")) for kind in ("exec_command_end", "patch_apply_end", "mcp_tool_call_end")),
        *(("bookkeeping", event(kind)) for kind in (
            "token_count", "task_started", "task_complete", "turn_aborted", "thread_rolled_back")),
        ("bookkeeping", line("response_item", {"type": "ghost_snapshot"})),
        *(("bookkeeping", line(kind, {"words": "words"})) for kind in (
            "turn_context", "world_state", "inter_agent_communication", "token_usage_record")),
        ("compaction", line("compacted", {"message": "words", "replacement_history": [item("user", "words")]})),
        ("compaction", event("context_compacted")),
        ("unknown-type", event("future_event", message="words")),
        ("unknown-type", line("response_item", {"type": "future_item", "text": "words"})),
        ("unknown-type", line("response_item", {"text": "words"})),
        ("unknown-type", line("future_type", {"message": "words"})),
        ("unknown-type", {"timestamp": "2026-03-01T10:00:00Z", "payload": {"message": "words"}}),
        ("unknown-type", {"timestamp": "2026-03-01T10:00:00Z", "type": "event_msg", "payload": "words"}),
        ("bad-json", b'{"timestamp":"2026-03-01T10:00:00.000Z","type":"event_msg","payload":{"type":"user_message",'),
        ("not-a-record", b"this is not json"),
        ("blank", b""),
    ],
)  # fmt: skip
def test_is_skipped_and_counted(reason: str, record: Any) -> None:
    """The record yields no turn, counts under one reason, and its neighbours are kept."""
    turns, parser = read_codex(header(), said("user", "before"), record, said("user", "after"))
    assert words(turns) == [("user", "before"), ("user", "after")]
    expected = {"bookkeeping": 1}
    expected[reason] = expected.get(reason, 0) + 1
    assert parser.skipped == expected


def test_aborted_and_rolled_back_turns_count_as_said() -> None:
    """They were typed and shown: the prompt stays, and so does the part of the answer there was."""
    turns, _ = read_codex(
        header(), said("user", "go"), said("assistant", "I begin"), event("turn_aborted"),
        event("thread_rolled_back", num_turns=1), said("user", "no, back"),
    )  # fmt: skip
    assert [turn.text for turn in turns] == ["go", "I begin", "no, back"]


@pytest.mark.parametrize(
    ("reason", "fields"),
    [
        ("subagent", {"source": {"subagent": "review"}}),
        ("subagent", {"source": {"subagent": {"thread_spawn": {"parent_thread_id": "x"}}}}),
        ("subagent", {"thread_source": "subagent"}),
        ("internal", {"source": {"internal": "memory"}}),
        ("internal", {"model": "codex-auto-review"}),
    ],
)
def test_files_without_a_person_are_skipped_whole(reason: str, fields: dict[str, Any]) -> None:
    """A subagent's file may replay the parent's history behind a second header: nothing in it was said here."""
    turns, parser = read_codex(
        header(**fields), header(), said("user", "the parent's prompt"), item("assistant", "x")
    )
    assert (turns, parser.skipped) == ([], {reason: 4})


@pytest.mark.parametrize("source", ["cli", "vscode", "exec", None, 7, {}])
def test_other_sources_are_a_persons(source: Any) -> None:
    """Command line, editor and one-shot runs hold what a person typed."""
    assert len(read_codex(header(source=source), said("user", "go"))[0]) == 1


def test_turns_under_the_review_model_are_internal() -> None:
    """While the model that reviews by itself is at work, nobody speaks; another model ends that."""
    turns, parser = read_codex(
        header(), line("turn_context", {"model": "codex-auto-review"}), said("user", "x"), item("assistant", "y"),
        line("turn_context", {"model": "gpt-5", "cwd": "/home/someone/else"}), said("user", "go"),
    )  # fmt: skip
    assert words(turns) == [("user", "go")]
    assert turns[0].cwd == "/home/someone/else"
    assert parser.skipped == {"bookkeeping": 3, "internal": 2}


def copied(milliseconds: int) -> str:
    return f"2026-03-01T12:00:00.{milliseconds:03}Z"


@pytest.mark.parametrize("old", [True, False])
def test_a_forks_copied_history_is_skipped(old: bool) -> None:
    """The parent's lines stand at the head, under their own times or written in one burst; what follows is said."""
    first = header(forked_from_id="parent", id="child") | {"timestamp": copied(0)}
    past = "2026-02-01T08:00:00.000Z"
    turns, parser = read_codex(
        first,
        header(id="parent") | {"timestamp": past if old else copied(1)},
        said("user", "old prompt", past if old else copied(2)),
        said("assistant", "old answer", past if old else copied(400)),
        item("assistant", "old answer", stamp=past if old else copied(401)),
        said("user", "new prompt", "2026-03-01T12:00:09.000Z"),
        said("assistant", "new answer", "2026-03-01T12:00:12.000Z"),
    )
    assert [(turn.text, turn.session) for turn in turns] == [("new prompt", "child"), ("new answer", "child")]
    assert parser.skipped == {"bookkeeping": 2, "fork": 3}


def test_a_fork_written_with_its_first_prompt_keeps_it() -> None:
    """A rollout may be written only when its first prompt is: the unanswered prompt at the burst's end is new."""
    first = header(forked_from_id="parent", id="child") | {"timestamp": copied(0)}
    parser = CodexParser()
    turns = parser.feed(to_bytes(
        first, said("user", "old prompt", copied(1)), said("assistant", "old answer", copied(2)),
        event("task_started", copied(3)), said("user", "new prompt", copied(4)),
    ))  # fmt: skip
    assert turns == []
    assert words(parser.feed(to_bytes(said("assistant", "new answer", "2026-03-01T12:00:05.000Z")))) == [
        ("user", "new prompt"),
        ("assistant", "new answer"),
    ]
    assert parser.skipped == {"bookkeeping": 1, "fork": 3}


def test_a_fork_without_a_word_of_its_own_has_no_turn() -> None:
    """A file that ends within the copied history adds nothing to the parent's."""
    first = header(forked_from_id="parent") | {"timestamp": copied(0)}
    parser = CodexParser()
    turns = parser.feed(to_bytes(first, said("user", "old prompt", copied(1)))) + parser.finish()
    assert (turns, parser.skipped) == ([], {"bookkeeping": 1, "fork": 1})


def test_held_items_are_bounded() -> None:
    """A file that holds nothing but user items does not grow the state without end: the oldest are given up."""
    parser = CodexParser()
    parser.feed(to_bytes(header(), *(item("user", f"{number} " + "x" * 100_000) for number in range(10))))
    assert len(json.dumps(parser.state())) < 300_000
    kept = parser.finish()
    assert [turn.text.split()[0] for turn in kept] == ["8", "9"]
    assert parser.skipped["undecided"] == 8
