"""Claude Code transcripts, versions 1.0 to 2.1: lines to visible turns. Pure; Python 3.8; carried by the
hook.

The format is internal to Claude Code and changes between releases, so rule zero: what is unknown is skipped
and counted, and in doubt about a turn it is left out.

Decided here: a turn typed on a branch that was rewound counts as said (it was typed). Every record with a
uuid of its own is a turn of its own: repeats are known by uuid at capture, over all files.
"""

from __future__ import annotations

from argus_memory.transcripts.claude_text import split_content, typed_text
from argus_memory.transcripts.common import (
    API_ERROR,
    ATTACHMENT,
    BOOKKEEPING,
    COMPACTION,
    EMPTY,
    MALFORMED,
    META,
    NOTICE,
    PATH_MAX,
    PROGRESS,
    REFUSAL,
    REPEATED,
    RETRACTED,
    SIDECHAIN,
    STAMP_MAX,
    SYSTEM,
    THINKING,
    TITLE,
    TOOL,
    UNKNOWN_TYPE,
    LineReader,
    Turn,
    clean_text,
    text_key,
    text_or_none,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CLAUDE_TYPES = {  # record types without words, and what they count as
    "progress": PROGRESS,
    "system": SYSTEM,
    "attachment": ATTACHMENT,
    "summary": TITLE,  # at the top of a file they belong to other sessions
    "custom-title": TITLE,
    "ai-title": TITLE,
    "agent-name": TITLE,
    "queue-operation": BOOKKEEPING,
    "file-history-snapshot": BOOKKEEPING,
    "file-history-delta": BOOKKEEPING,
    "permission-mode": BOOKKEEPING,
    "mode": BOOKKEEPING,
    "last-prompt": BOOKKEEPING,
    "pr-link": BOOKKEEPING,
    "cost-state": BOOKKEEPING,
    "started": BOOKKEEPING,
    "result": BOOKKEEPING,
}
NO_CONTENT = "(no content)"  # what old versions wrote for an answer without text
RETRACTED_MAX = 256  # uuids remembered
QUEUED_MAX = 32  # queued prompts waiting for their second record


class ClaudeCodeParser(LineReader):
    """See LineReader. `retracted` holds the uuids a refusal fallback took back: turns of the same feed are
    dropped here; those of earlier feeds are with the caller already, who may look."""

    def state(self) -> dict[str, Any]:
        return {
            "session": self._session,
            "cwd": self._cwd,
            "title": self.title,
            "queued": [list(pair) for pair in self._queued],
            "retracted": list(self.retracted),
        }

    def _restore(self, state: dict[str, Any]) -> None:
        self._session: str | None = state.get("session")
        self._cwd: str | None = state.get("cwd")
        self.title = state.get("title")
        self._queued: list[list[str]] = list(state.get("queued") or [])
        self.retracted: list[str] = list(state.get("retracted") or [])

    def _skim(self, line: bytes) -> str | None:
        # Only the writer's own spelling (no blank after a colon); anything else is decoded. Inside a string
        # these patterns cannot match: there the quotes are escaped.
        if line.startswith(b'{"type":"file-history-snapshot"'):
            return BOOKKEEPING
        first = line.find(b'"type":"')
        if first < 0:
            return None
        if line.startswith(b'progress","data":{', first + 8):
            return PROGRESS
        if line.find(b'"isSidechain":true', 0, 500) >= 0:  # stands near the start; farther on it is decoded
            return SIDECHAIN
        if b'"text"' in line:
            return None
        if b'"type":"tool_result"' in line or b'"type":"tool_use"' in line:
            return TOOL
        return THINKING if b'"type":"thinking"' in line else None

    def _read(self, record: dict[str, Any], position: int, out: list[Turn]) -> str | None:
        kind = record.get("type")
        if kind == "user":
            return self._read_user(record, position, out)
        if kind == "assistant":
            return self._read_assistant(record, position, out)
        if kind == "attachment":
            return self._read_attachment(record, position, out)
        if kind == "queue-operation" and record.get("operation") == "remove":
            return self._read_queued(record, record.get("content"), position, out)
        if kind == "system":
            self._note_retractions(record)
        elif kind in ("custom-title", "ai-title"):
            title = text_or_none(record.get("customTitle" if kind == "custom-title" else "aiTitle"))
            self.title = title[:200] if title else self.title
        return CLAUDE_TYPES.get(kind, UNKNOWN_TYPE) if isinstance(kind, str) else UNKNOWN_TYPE

    def _read_user(self, record: dict[str, Any], position: int, out: list[Turn]) -> str | None:
        reason = self._not_visible(record)
        if reason:
            return reason
        origin = record.get("origin")
        if origin and (not isinstance(origin, dict) or origin.get("kind") not in (None, "human")):
            return NOTICE
        message = record.get("message")
        if not isinstance(message, dict):
            return MALFORMED
        blocks, other = split_content(message.get("content"))
        if not blocks:
            return other
        text, reason, command = typed_text(blocks)
        if not text:
            return other if reason == EMPTY and other != EMPTY else reason
        turn = self._turn("user", text, record, position)
        if command:
            turn.meta["command"] = command
        out.append(turn)
        return None

    def _read_assistant(self, record: dict[str, Any], position: int, out: list[Turn]) -> str | None:
        reason = self._not_visible(record)
        if reason:
            return reason
        message = record.get("message")
        if not isinstance(message, dict):
            return MALFORMED
        if message.get("model") == "<synthetic>":
            return API_ERROR
        if message.get("stop_reason") == "refusal":
            return REFUSAL
        blocks, other = split_content(message.get("content"))
        texts = [text for text in (clean_text(block) for block in blocks) if text and text != NO_CONTENT]
        if not texts:
            return other
        turn = self._turn("assistant", "\n\n".join(texts), record, position)
        turn.message_id = text_or_none(message.get("id"))
        out.append(turn)
        return None

    def _not_visible(self, record: dict[str, Any]) -> str | None:
        """The flags of a user or assistant record, in the order of the specification."""
        if record.get("isSidechain"):
            return SIDECHAIN
        if record.get("isCompactSummary") or record.get("isVisibleInTranscriptOnly"):
            return COMPACTION
        if record.get("isMeta") or record.get("sourceToolUseID"):
            return META
        if record.get("isApiErrorMessage") or record.get("error") or record.get("apiErrorStatus"):
            return API_ERROR
        return RETRACTED if self.retracted and record.get("uuid") in self.retracted else None

    def _read_attachment(self, record: dict[str, Any], position: int, out: list[Turn]) -> str | None:
        queued = record.get("attachment")
        if not isinstance(queued, dict) or queued.get("type") != "queued_command":
            return ATTACHMENT
        if queued.get("commandMode") != "prompt":
            return NOTICE
        reason = self._not_visible(record)
        origin = queued.get("origin")
        if queued.get("isMeta") or (isinstance(origin, dict) and origin.get("kind") not in (None, "human")):
            reason = reason or NOTICE
        return reason or self._read_queued(record, queued.get("prompt"), position, out)

    def _read_queued(self, record: dict[str, Any], content: Any, position: int, out: list[Turn]) -> str | None:
        """A prompt typed while the model worked. Some versions write it twice, as two types of record: the
        second is known by its text, and each first one answers for one second one."""
        blocks, other = split_content(content)
        text, reason, _ = typed_text(blocks)
        if not text:
            return BOOKKEEPING if content is None else reason if blocks else other
        kind = str(record.get("type"))
        key = text_key(text)
        for pending in self._queued:
            if pending[0] != kind and pending[1] == key:
                self._queued.remove(pending)
                return REPEATED
        self._queued = [*self._queued, [kind, key]][-QUEUED_MAX:]
        turn = self._turn("user", text, record, position)
        turn.meta["queued"] = True
        out.append(turn)
        return None

    def _turn(self, role: str, text: str, record: dict[str, Any], position: int) -> Turn:
        self._session = text_or_none(record.get("sessionId")) or self._session
        self._cwd = text_or_none(record.get("cwd"), PATH_MAX) or self._cwd
        meta = {}
        for name, key in (("version", "version"), ("branch", "gitBranch"), ("entrypoint", "entrypoint")):
            value = text_or_none(record.get(key))
            if value:
                meta[name] = value
        self.kept += 1
        return Turn(
            role,
            text,
            position,
            uuid=text_or_none(record.get("uuid")),
            timestamp=text_or_none(record.get("timestamp"), STAMP_MAX),
            session=self._session,
            cwd=self._cwd,
            meta=meta,
        )

    def _note_retractions(self, record: dict[str, Any]) -> None:
        """A refusal fallback lists the records it took back under a key `retracted…`, in either case."""
        if record.get("subtype") != "model_refusal_fallback":
            return
        for key, value in record.items():
            if key.lower().startswith("retracted") and isinstance(value, list):
                known = self.retracted + [uuid for uuid in value if isinstance(uuid, str)]
                self.retracted = known[-RETRACTED_MAX:]

    def _settle(self, out: list[Turn]) -> list[Turn]:
        if not self.retracted:
            return out
        standing = [turn for turn in out if turn.uuid not in self.retracted]
        for _ in range(len(out) - len(standing)):
            self.kept -= 1
            self.skip(RETRACTED)
        return standing
