"""Invented records of both programs, and reading them in one go."""

from __future__ import annotations

import json
from typing import Any

from argus_memory.transcripts import ClaudeCodeParser, CodexParser, LineReader, Turn

SESSION = "11111111-2222-4333-8444-555555555555"
FOLDER = "/home/someone/harbour"


def user(content: Any, **fields: Any) -> dict[str, Any]:
    """A user record of Claude Code as 2.1 writes it."""
    return {
        "parentUuid": None, "isSidechain": False, "userType": "external", "cwd": FOLDER, "sessionId": SESSION,
        "version": "2.1.40", "gitBranch": "main", "type": "user", "message": {"role": "user", "content": content},
        "uuid": "u-1", "timestamp": "2026-03-01T10:00:00.000Z", **fields,
    }  # fmt: skip


def assistant(content: Any, message: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    """An assistant record; a text stands for one text block."""
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return {
        "parentUuid": "u-1", "isSidechain": False, "cwd": FOLDER, "sessionId": SESSION, "version": "2.1.40",
        "message": {"model": "claude-x", "id": "msg_1", "type": "message", "role": "assistant", "content": blocks,
                    "stop_reason": None, **(message or {})},
        "type": "assistant", "uuid": "a-1", "timestamp": "2026-03-01T10:00:05.000Z", **fields,
    }  # fmt: skip


def header(**fields: Any) -> dict[str, Any]:
    """A Codex session header."""
    payload = {
        "id": SESSION, "timestamp": "2026-03-01T10:00:00.000Z", "cwd": FOLDER, "cli_version": "0.104.0",
        "source": "cli", **fields,
    }  # fmt: skip
    return line("session_meta", payload, "2026-03-01T10:00:00.000Z")


def line(kind: str, payload: dict[str, Any], stamp: str | None = "2026-03-01T10:00:10.000Z") -> dict[str, Any]:
    return {"timestamp": stamp, "type": kind, "payload": payload} if stamp else {"type": kind, "payload": payload}


def event(kind: str, stamp: str = "2026-03-01T10:00:10.000Z", **fields: Any) -> dict[str, Any]:
    return line("event_msg", {"type": kind, **fields}, stamp)


def said(role: str, text: str, stamp: str = "2026-03-01T10:00:10.000Z") -> dict[str, Any]:
    """A user or assistant message as an event."""
    return event("user_message" if role == "user" else "agent_message", stamp, message=text)


def item(role: str, *texts: str, stamp: str = "2026-03-01T10:00:10.000Z", **fields: Any) -> dict[str, Any]:
    """A message as a response item, one block a text."""
    kind = "output_text" if role == "assistant" else "input_text"
    content = [{"type": kind, "text": text} for text in texts]
    return line("response_item", {"type": "message", "role": role, "content": content, **fields}, stamp)


def to_bytes(*records: Any) -> bytes:
    """Lines in the writer's own spelling; text and bytes are taken as they stand."""
    out = b""
    for record in records:
        if isinstance(record, bytes):
            out += record + b"\n"
        else:
            out += (
                json.dumps(record, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"
            )
    return out


def read_claude(*records: Any) -> tuple[list[Turn], LineReader]:
    parser = ClaudeCodeParser()
    return parser.feed(to_bytes(*records)), parser


def read_codex(*records: Any) -> tuple[list[Turn], LineReader]:
    parser = CodexParser()
    return parser.feed(to_bytes(*records)), parser


def words(turns: list[Turn]) -> list[tuple[str, str]]:
    return [(turn.role, turn.text) for turn in turns]
