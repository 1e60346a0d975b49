"""Which files are transcripts, of which program and session: by name and by first bytes. Pure; Python 3.8."""

from __future__ import annotations

import re

CLAUDE_CODE = "claude-code"
CODEX = "codex"
DETECT_BYTES = 256 * 1024  # a first line can hold an image

# Reasons to leave a file alone.
AGENT_FILE = "agent-file"
JOURNAL = "journal"
TOOL_RESULTS = "tool-results"
SUPERSEDED = "superseded"
HISTORY = "history"
NOT_A_TRANSCRIPT = "not-a-transcript"

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_CODEX_MARKS = re.compile(
    rb'"type"\s*:\s*"(?:session_meta|response_item|event_msg|turn_context)"|"record_type"\s*:'
    rb'|^\s*\{\s*"session"\s*:\s*\{'
)
_CODEX_HEADER = re.compile(rb'^\s*\{(?=[^\n]*"id"\s*:)(?=[^\n]*"timestamp"\s*:)(?=[^\n]*"(?:instructions|git)"\s*:)')
_CLAUDE_MARKS = re.compile(
    rb'"(?:sessionId|parentUuid|isSidechain|leafUuid)"\s*:|"type"\s*:\s*"(?:file-history-snapshot|queue-operation)"'
    rb'|^\s*\{\s*"type"\s*:\s*"(?:user|assistant|summary)"'
)


def skip_file(path: str) -> str | None:
    """Why a file is left alone whole, by its path; None: look inside."""
    parts = path.replace("\\", "/").split("/")
    name = parts[-1]
    if name.startswith("agent-") or "subagents" in parts[:-1]:
        return JOURNAL if name == "journal.jsonl" else AGENT_FILE
    if name == "journal.jsonl":
        return JOURNAL
    if "tool-results" in parts[:-1]:
        return TOOL_RESULTS
    if ".superseded-" in name or ".orphaned-" in name:
        return SUPERSEDED
    if name == "history.jsonl":
        return HISTORY
    return None if name.endswith((".jsonl", ".jsonl.zst", ".json")) else NOT_A_TRANSCRIPT


def detect(first_bytes: bytes, path: str = "") -> str | None:
    """The program that wrote the file, from its first bytes; the path decides where they say nothing."""
    codex = _CODEX_MARKS.search(first_bytes) or _CODEX_HEADER.match(first_bytes)
    claude = _CLAUDE_MARKS.search(first_bytes)
    if codex and claude:
        return CODEX if codex.start() < claude.start() else CLAUDE_CODE
    if codex or claude:
        return CODEX if codex else CLAUDE_CODE
    if not first_bytes.strip():
        return None
    plain = path.replace("\\", "/")
    if plain.rsplit("/", 1)[-1].startswith("rollout-") or "/.codex/" in plain:
        return CODEX
    return CLAUDE_CODE if "/.claude/" in plain else None


def session_of(path: str) -> str:
    """The session a file is named after, for records that name none."""
    name = path.replace("\\", "/").rsplit("/", 1)[-1]
    for suffix in (".zst", ".jsonl", ".json"):
        if name.endswith(suffix):
            name = name[: -len(suffix)]
    if name.startswith("rollout-"):
        found = _UUID.findall(name)
        name = found[-1] if found else name
    return name
