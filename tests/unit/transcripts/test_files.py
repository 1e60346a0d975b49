"""Which files are transcripts and of which program, and what a turn becomes on its way to capture."""

from __future__ import annotations

import json

import pytest

from argus_memory.transcripts import ClaudeCodeParser, CodexParser, Turn, detect, skip_file, to_item
from tests.unit.transcripts.lines import header, item, said, to_bytes, user


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/p/-home-x/agent-0c4c3cf8.jsonl", "agent-file"),
        ("/p/-home-x/s/subagents/agent-a485154.jsonl", "agent-file"),
        ("/p/-home-x/s/subagents/agent-acompact-946d2b.jsonl", "agent-file"),
        ("/p/-home-x/s/subagents/workflows/w/anything.jsonl", "agent-file"),
        ("/p/-home-x/s/subagents/workflows/w/journal.jsonl", "journal"),
        ("/p/-home-x/s/tool-results/a.jsonl", "tool-results"),
        ("/p/-home-x/s.jsonl.superseded-1700000000.jsonl", "superseded"),
        ("/p/-home-x/s.jsonl.superseded-1700000000", "superseded"),
        ("/p/-home-x/s.orphaned-1.jsonl", "superseded"),
        ("/home/x/.claude/history.jsonl", "history"),
        ("C:\\Users\\x\\.claude\\projects\\p\\agent-1.jsonl", "agent-file"),
        ("/p/-home-x/11111111-2222-4333-8444-555555555555.jsonl", None),
        ("/p/-home-x/my-agent-notes.jsonl", None),
        ("/c/sessions/2026/03/01/rollout-2026-03-01T10-00-00-1111.jsonl.zst", None),
    ],
)
def test_files_left_alone_whole(path: str, reason: str | None) -> None:
    """Agents' runs, journals, spilled output, old copies and the prompt history are not opened."""
    assert skip_file(path) == reason


@pytest.mark.parametrize(
    ("content", "path", "source"),
    [
        (to_bytes(user("go")), "x", "claude-code"),
        (to_bytes({"type": "summary", "summary": "s", "leafUuid": "l"}), "x", "claude-code"),
        (b'{ "type": "user", "sessionId": "s"}', "x", "claude-code"),
        (to_bytes({"type": "mode"}, {"type": "permission-mode"}, user("go")), "x", "claude-code"),
        (to_bytes(user('what is {"type":"session_meta","payload":{}} for?')), "x", "claude-code"),
        (to_bytes(header()), "x", "codex"),
        (to_bytes(header(), said("user", 'the keys "sessionId" and "parentUuid"')), "x", "codex"),
        (to_bytes(item("user", "go")), "x", "codex"),
        (to_bytes({"id": "s", "timestamp": "t", "instructions": None}), "x", "codex"),
        (to_bytes({"id": "s", "timestamp": "t", "instructions": "x" * 9000}), "x", "codex"),
        (to_bytes({"record_type": "state"}), "x", "codex"),
        (json.dumps({"session": {"id": "s", "instructions": ""}, "items": []}).encode(), "x", "codex"),
        (b"{}\n", "/home/x/.codex/sessions/2026/a.jsonl", "codex"),
        (b"{}\n", "/elsewhere/rollout-2026-03-01T10-00-00-1111.jsonl", "codex"),
        (b"{}\n", "/home/x/.claude/projects/p/s.jsonl", "claude-code"),
        (b'{"bookmarks": []}', "x", None),
        (b"plain text", "x", None),
        (b"", "/home/x/.claude/projects/p/s.jsonl", None),
        (b" \n\n", "x", None),
    ],
)
def test_the_program_is_told_by_content(content: bytes, path: str, source: str | None) -> None:
    """The first mark in a file's first bytes tells; the path only where they have none."""
    assert detect(content, path) == source


def test_a_turn_becomes_an_item_without_nones() -> None:
    """The item carries what the turn has and what the caller knows; what nobody knows is left out."""
    turn = Turn("user", "go", position=7, uuid="u", timestamp="2026-03-01T10:00:00Z", meta={"branch": "main"})
    assert to_item(turn, "claude-code", "tower", {"common_dir": "/x/.git", "remote": None}, "s") == {
        "source": "claude-code",
        "kind": "turn",
        "body": "go",
        "session": "s",
        "metadata": {
            "role": "user", "host": "tower", "repo": {"common_dir": "/x/.git", "remote": None}, "position": 7,
            "original_timestamp": "2026-03-01T10:00:00Z", "uuid": "u", "branch": "main",
        },
    }  # fmt: skip


def test_the_files_own_session_and_repository_are_used() -> None:
    """The record's session wins over the caller's; its repository's address serves where no folder was resolved."""
    turn = Turn("user", "go", session="own", cwd="/x", meta={"remote": "https://example.org/x.git"})
    item_without = to_item(turn, "codex", None, None, "fallback")
    assert item_without["session"] == "own"
    assert item_without["metadata"] == {
        "role": "user", "position": 0, "repo": {"remote": "https://example.org/x.git"},
    }  # fmt: skip
    assert to_item(turn, "codex", None, {"common_dir": "/x/.git"})["metadata"]["repo"] == {"common_dir": "/x/.git"}
    assert turn.meta == {"remote": "https://example.org/x.git"}


@pytest.mark.parametrize("parser", [ClaudeCodeParser, CodexParser])
@pytest.mark.parametrize("state", [None, {}, [], "x", 7])
def test_a_state_of_nothing_is_a_start(parser: type[ClaudeCodeParser], state: object) -> None:
    """Without a usable state a parser begins anew."""
    assert parser(state=state).state() == parser().state()  # type: ignore[arg-type]
