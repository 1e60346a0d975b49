"""Codex rollouts, all eras: lines to visible turns. Pure; Python 3.8; embedded in the hook.

Codex writes most texts twice, as an event and as a response item, and which of the two a file holds differs by
era and by role. Reading goes on while the file grows, so the choice cannot wait for its end:

* user: events win, because items also carry injected context. An item is held until an event comes (then it was a
  copy) or the model starts to answer without one (then this file has no user events, and its items count).
* assistant: whichever comes first is kept; the other is its copy when the text is the same, or when it follows
  at once within the same second (redacted files differ in their text).

Decided here: turns that were rolled back or aborted count as said. A subagent's file is skipped whole, and at the
head of a fork the parent's history: those turns stand in the parent's file.
"""

from __future__ import annotations

import json

from argus_memory.transcripts.common import (
    BOOKKEEPING,
    COMPACTION,
    COPY,
    DEVELOPER,
    EMPTY,
    FORK,
    IMAGE,
    INJECTED,
    INTERNAL,
    MALFORMED,
    NOT_A_RECORD,
    SUBAGENT,
    THINKING,
    TITLE,
    TOOL,
    UNDECIDED,
    UNKNOWN_TYPE,
    LineReader,
    Turn,
    clean_text,
    decode_record,
    drop_placeholders,
    strip_credentials,
    text_key,
    text_or_none,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CODEX_ITEMS = {  # response items without visible words
    "reasoning": THINKING,
    "function_call": TOOL,
    "function_call_output": TOOL,
    "custom_tool_call": TOOL,
    "custom_tool_call_output": TOOL,
    "local_shell_call": TOOL,
    "local_shell_call_output": TOOL,
    "web_search_call": TOOL,
    "image_generation_call": TOOL,
    "tool_search_call": TOOL,
    "tool_search_output": TOOL,
    "mcp_tool_call": TOOL,
    "ghost_snapshot": BOOKKEEPING,
    "compaction": COMPACTION,
    "compaction_summary": COMPACTION,
}
CODEX_EVENTS = {  # events without visible words
    "agent_reasoning": THINKING,
    "agent_reasoning_raw_content": THINKING,
    "agent_reasoning_section_break": THINKING,
    "exec_command_begin": TOOL,
    "exec_command_end": TOOL,
    "patch_apply_begin": TOOL,
    "patch_apply_end": TOOL,
    "mcp_tool_call_begin": TOOL,
    "mcp_tool_call_end": TOOL,
    "web_search_begin": TOOL,
    "web_search_end": TOOL,
    "image_generation_end": TOOL,
    "view_image_tool_call": TOOL,
    "token_count": BOOKKEEPING,
    "task_started": BOOKKEEPING,
    "task_complete": BOOKKEEPING,  # its last_agent_message is a third copy
    "turn_started": BOOKKEEPING,
    "turn_complete": BOOKKEEPING,
    "turn_aborted": BOOKKEEPING,
    "thread_rolled_back": BOOKKEEPING,
    "thread_name_updated": TITLE,
    "entered_review_mode": BOOKKEEPING,
    "exited_review_mode": BOOKKEEPING,
    "context_compacted": COMPACTION,
}
CODEX_TYPES = {
    "turn_context": BOOKKEEPING,
    "world_state": BOOKKEEPING,
    "inter_agent_communication": BOOKKEEPING,
    "token_usage_record": BOOKKEEPING,
    "compacted": COMPACTION,
}
INJECTED_STARTS = (
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions",
    "<permissions instructions>",
    "<turn_aborted>",
    "<skill>",
    "<subagent_notification>",
    "<user_action>",
    "<user_shell_command>",
)
# Headings the editor or the app puts before the typed words, which follow under REQUEST_HEADING.
PREAMBLE_STARTS = ("# Context from my IDE setup:", "# In app browser:", "# Diff comments:", "# Files mentioned by the user:")
REQUEST_HEADING = "## My request for Codex:"
CAPTION_START = "The next image "  # the app's captions of its own screenshots
REVIEW_MODEL = "codex-auto-review"
HELD_MAX = 8  # user items held until their source is known
HELD_CHARS_MAX = 256 * 1024
PAIR_MAX = 16  # texts waiting for their second record
FORK_BURST_MS = 1000  # a fork's copied lines are written within a moment; the first pause ends them


def typed_in_codex(raw: str) -> tuple[str, str]:
    """(words, reason): what the person typed in a user text, or why there is nothing."""
    text = clean_text(raw)
    if text.startswith(PREAMBLE_STARTS):
        preamble, found, request = text.partition("\n" + REQUEST_HEADING)
        if not found:
            return "", INJECTED
        text = request.strip()
        if text.startswith(CAPTION_START):
            text = ""
        if not text:
            text = review_comments(preamble)
    if text.startswith("Automation: ") and text.partition("\n")[2].startswith("Automation ID:"):
        return "", INJECTED
    if text.startswith(INJECTED_STARTS):
        return "", INJECTED
    text = drop_placeholders(text)
    return text, "" if text else EMPTY


def review_comments(preamble: str) -> str:
    """The words typed beside a page or a diff: what stands under each `Comment:` up to the next heading."""
    comments = []
    for part in preamble.split("\nComment:\n")[1:]:
        lines = []
        for line in part.split("\n"):
            if line.startswith(("# ", "## ")):
                break
            lines.append(line)
        comments.append("\n".join(lines).strip())
    return "\n\n".join(comment for comment in comments if comment)


def texts_of(content: Any) -> tuple[list[str], str]:
    """The texts of an item's content (text or blocks), and what the item counts as when it has none."""
    if isinstance(content, str):
        return [content], EMPTY
    if not isinstance(content, list):
        return [], MALFORMED
    texts, other = [], EMPTY
    for block in content:
        kind = block.get("type") if isinstance(block, dict) else None
        if kind in ("input_text", "output_text", "text", "Text"):
            text = block.get("text") or block.get("output_text")
            if not isinstance(text, str):
                continue
            if not (text.startswith(("<image>", "<image ", "</image>")) and len(text) < 300):
                texts.append(text)
        elif kind in ("input_image", "image", "local_image"):
            other = IMAGE
        elif other == EMPTY:
            other = MALFORMED
    return texts, other


def stamp_ms(stamp: str | None) -> tuple[str, int] | None:
    """(day, millisecond of that day) of an ISO time; None for anything else."""
    try:
        text = stamp or ""
        day, hours, minutes, seconds = text[:10], int(text[11:13]), int(text[14:16]), int(text[17:19])
        fraction = int((text[20:23] + "000")[:3]) if text[19:20] == "." and text[20:23].isdigit() else 0
    except ValueError:
        return None
    return day, ((hours * 60 + minutes) * 60 + seconds) * 1000 + fraction


def later_stamp(stamp: str, milliseconds: int) -> str:
    """The stamp moved on within its day: era 2 has no times, so its turns follow the session's start in order."""
    parsed = stamp_ms(stamp)
    if parsed is None:
        return stamp
    total = min(parsed[1] + milliseconds, 86399999)
    seconds, fraction = divmod(total, 1000)
    clock = "%02d:%02d:%02d.%03d" % (seconds // 3600, seconds // 60 % 60, seconds % 60, fraction)
    zone = stamp[19:].lstrip(".0123456789")
    return parsed[0] + "T" + clock + zone


def codex_whole_file(meta: dict[str, Any]) -> str | None:
    """Why a rollout holds no person's conversation at all, by its session header."""
    source = meta.get("source")
    kind = source if isinstance(source, str) else ""
    if isinstance(source, dict):
        kind = "subagent" if "subagent" in source else "internal" if "internal" in source else ""
    if kind.startswith("subagent") or meta.get("thread_source") == "subagent":
        return SUBAGENT
    return INTERNAL if kind == "internal" or meta.get("model") == REVIEW_MODEL else None


class CodexParser(LineReader):
    """See LineReader; `feed_document` reads the whole-file `.json` of the first era."""

    _after: list[Any] | None = None  # what the line before kept, while a line is read

    def feed_document(self, data: bytes) -> list[Turn]:
        """Era 1, `{session, items}` at once; positions are the items' places. Raises ValueError if it is not."""
        document = decode_record(data.strip(), self._loads)
        items = document.get("items") if isinstance(document, dict) else None
        if not isinstance(items, list):
            raise ValueError("not a Codex session: no list of items")
        out: list[Turn] = []
        header = document.get("session")
        if isinstance(header, dict):
            self._read_header(header, None)
        for place, item in enumerate(items):
            self._after = None
            reason = self._read(item, place, out) if isinstance(item, dict) else NOT_A_RECORD
            if reason:
                self.skip(reason)
        self.offset += len(data)
        self._release(out)
        return out

    def state(self) -> dict[str, Any]:
        copy: dict[str, Any] = decode_record(json.dumps(self._known).encode(), json.loads)
        return copy

    def _restore(self, state: dict[str, Any]) -> None:
        # One dict of plain values, so that state() is the whole truth:
        # header: a session header was read; whole: reason to skip the file; users: None | "event" | "item";
        # held: user items waiting for that; pairs: [role, source, key] of texts waiting for their copy;
        # last: [role, source, second] of the line before, if it was kept; fork: stamp of the copied line before.
        self._known: dict[str, Any] = {
            "header": False, "whole": None, "session": None, "cwd": None, "time": None, "turns": 0,
            "meta": {}, "model": None, "fork": None, "users": None, "held": [], "pairs": [], "last": None,
        }  # fmt: skip
        self._known.update(state)
        self._after = None

    def _skim(self, line: bytes) -> str | None:
        known = self._known
        self._after, known["last"] = known["last"], None
        if known["whole"]:
            return str(known["whole"])
        if known["held"] or known["fork"] or not line.startswith(b'{"timestamp":"'):
            return None
        head = line[:160]  # the writer's own spelling only; anything else is decoded
        for opening, reasons in SKIMMED:
            start = head.find(opening)
            if start > 0:
                start += len(opening)
                return reasons.get(head[start : head.find(b'"', start)].decode("ascii", "replace"))
        return None

    def _read(self, record: dict[str, Any], position: int, out: list[Turn]) -> str | None:
        kind, payload = record.get("type"), record.get("payload")
        stamp = text_or_none(record.get("timestamp"))
        if not isinstance(payload, dict):  # bare lines of era 2, and writers that flatten the payload
            payload = record
            if "record_type" in record:
                return BOOKKEEPING
            if kind is None and "role" not in record and "id" in record:
                kind = "session_meta"
            elif kind == "message" or kind in CODEX_ITEMS:
                kind = "response_item"
            elif kind in CODEX_EVENTS or kind in ("user_message", "agent_message", "item_completed"):
                kind = "event_msg"
        if not isinstance(kind, str):
            return UNKNOWN_TYPE
        if kind == "session_meta":
            return self._read_header(payload, stamp)
        if self._in_fork(stamp):
            return FORK
        if kind == "turn_context":
            self._known["cwd"] = text_or_none(payload.get("cwd")) or self._known["cwd"]
            self._known["model"] = text_or_none(payload.get("model"))
        if kind == "response_item":
            return self._read_item(payload, stamp, position, out)
        if kind == "event_msg":
            return self._read_event(payload, stamp, position, out)
        return CODEX_TYPES.get(kind, UNKNOWN_TYPE)

    def _read_header(self, meta: dict[str, Any], stamp: str | None) -> str:
        """The first header names the session; a later one belongs to a copied history."""
        known = self._known
        if known["header"]:
            return BOOKKEEPING
        known["header"] = True
        known["whole"] = codex_whole_file(meta)
        known["session"] = text_or_none(meta.get("id"))
        known["cwd"] = text_or_none(meta.get("cwd"))
        known["time"] = text_or_none(meta.get("timestamp"))
        git = meta.get("git")
        git = git if isinstance(git, dict) else {}
        remote = text_or_none(git.get("repository_url"))
        fields = {
            "version": text_or_none(meta.get("cli_version")),
            "branch": text_or_none(git.get("branch")),
            "remote": strip_credentials(remote) if remote else None,
        }
        known["meta"] = {key: value for key, value in fields.items() if value}
        if text_or_none(meta.get("forked_from_id")):
            known["fork"] = stamp or known["time"] or "-"
        return known["whole"] or BOOKKEEPING

    def _in_fork(self, stamp: str | None) -> bool:
        """Whether the line is still of the copied history at the head of a fork: stamped before the fork, or
        written in one burst with the line before."""
        before = self._known["fork"]
        if not before:
            return False
        here, then = stamp_ms(stamp), stamp_ms(before)
        if here and then and here > then and (here[0] != then[0] or here[1] - then[1] > FORK_BURST_MS):
            self._known["fork"] = None
            return False
        if here and (not then or here > then):
            self._known["fork"] = stamp
        return True

    def _read_item(
        self, item: dict[str, Any], stamp: str | None, position: int, out: list[Turn]
    ) -> str | None:
        kind, role = item.get("type"), item.get("role")
        if kind != "message":
            if not isinstance(kind, str) or kind not in CODEX_ITEMS:
                return UNKNOWN_TYPE
            if CODEX_ITEMS[kind] in (THINKING, TOOL):
                self._answering(out)
            return CODEX_ITEMS[kind]
        if role in ("developer", "system"):
            return DEVELOPER
        if role not in ("user", "assistant"):
            return MALFORMED
        texts, other = texts_of(item.get("content"))
        if role == "assistant":
            return self._assistant_item(item, texts, stamp, position, out) or (None if texts else other)
        return self._user_item(item, texts, other, stamp, position, out)

    def _user_item(
        self, item: dict[str, Any], texts: list[str], other: str, stamp: str | None, position: int,
        out: list[Turn],
    ) -> str | None:  # fmt: skip
        words = []
        for text in texts:
            typed, reason = typed_in_codex(text)
            if reason == INJECTED:
                self._note_environment(text)
                return INJECTED
            if typed:
                words.append(typed)
        if not words:
            return other
        turn = self._turn("user", "\n\n".join(words), item, stamp, position)
        if turn is None:
            return INTERNAL
        known = self._known
        if known["users"] == "event":
            return COPY
        if known["users"] == "item" or turn.meta.get("approximate_time"):  # era 2 has no events
            known["users"] = "item"
            self._keep_source(turn, "item", out)
            return None
        known["held"].append(turn.as_dict())
        while len(known["held"]) > HELD_MAX or sum(len(h["text"]) for h in known["held"]) > HELD_CHARS_MAX:
            known["held"].pop(0)
            self.skip(UNDECIDED)
        return None

    def _assistant_item(
        self, item: dict[str, Any], texts: list[str], stamp: str | None, position: int, out: list[Turn]
    ) -> str | None:
        words = [text for text in (clean_text(text) for text in texts) if text]
        if not words:
            return EMPTY if texts else None
        self._answering(out)
        fresh = [text for text in words if not self._paired("assistant", "event", text)]
        if not fresh or (len(fresh) == len(words) and self._follows("assistant", "event", stamp)):
            return COPY
        turn = self._turn("assistant", "\n\n".join(fresh), item, stamp, position)
        if turn is None:
            return INTERNAL
        self._keep_source(turn, "item", out, fresh)
        return None

    def _read_event(
        self, event: dict[str, Any], stamp: str | None, position: int, out: list[Turn]
    ) -> str | None:
        kind, message = event.get("type"), event.get("message")
        if kind == "item_completed" and isinstance(event.get("item"), dict):  # paginated history
            event = event["item"]
            kind = {"UserMessage": "user_message", "AgentMessage": "agent_message"}.get(str(event.get("type")))
            message = "\n\n".join(texts_of(event.get("content"))[0])
            if kind is None:
                return BOOKKEEPING
        if kind not in ("user_message", "agent_message"):
            if kind == "task_complete":
                self._answering(out)
            return CODEX_EVENTS.get(kind, UNKNOWN_TYPE) if isinstance(kind, str) else UNKNOWN_TYPE
        if not isinstance(message, str):
            return MALFORMED
        if kind == "agent_message":
            return self._agent_event(event, clean_text(message), stamp, position, out)
        if event.get("kind") not in (None, "plain"):
            return INJECTED
        return self._user_event(event, message, stamp, position, out)

    def _user_event(
        self, event: dict[str, Any], message: str, stamp: str | None, position: int, out: list[Turn]
    ) -> str | None:
        text, reason = typed_in_codex(message)
        if reason:
            images = event.get("images") or event.get("local_images")
            return IMAGE if reason == EMPTY and images else reason
        turn = self._turn("user", text, event, stamp, position)
        if turn is None:
            return INTERNAL
        known = self._known
        if known["users"] == "item":
            if self._paired("user", "item", text) or self._follows("user", "item", stamp):
                return COPY
        for _ in known["held"]:
            self.skip(COPY)
        known["held"], known["users"] = [], "event"
        self._keep_source(turn, "event", out)
        return None

    def _agent_event(
        self, event: dict[str, Any], text: str, stamp: str | None, position: int, out: list[Turn]
    ) -> str | None:
        if not text:
            return EMPTY
        self._answering(out)
        if self._paired("assistant", "item", text) or self._follows("assistant", "item", stamp):
            return COPY
        turn = self._turn("assistant", text, event, stamp, position)
        if turn is None:
            return INTERNAL
        self._keep_source(turn, "event", out)
        return None

    def _answering(self, out: list[Turn]) -> None:
        """The model has started: user items still held have no event, so this file's items are its prompts."""
        if self._known["held"] and self._known["users"] is None:
            self._known["users"] = "item"
            self._release(out)

    def _release(self, out: list[Turn]) -> None:
        held, self._known["held"] = self._known["held"], []
        for fields in held:
            self._keep_source(Turn(**fields), "item", out)

    def _keep_source(self, turn: Turn, source: str, out: list[Turn], texts: list[str] | None = None) -> None:
        """Keep the turn, and remember its texts until their copies come from the other source."""
        known = self._known
        if turn.role == "user":
            known["pairs"] = []  # copies never come from before the prompt
        marks = [[turn.role, source, text_key(text)] for text in texts or [turn.text]]
        known["pairs"] = (known["pairs"] + marks)[-PAIR_MAX:]
        known["last"] = [turn.role, source, (turn.timestamp or "")[:19]]
        self.kept += 1
        out.append(turn)

    def _paired(self, role: str, source: str, text: str) -> bool:
        mark = [role, source, text_key(text)]
        if mark in self._known["pairs"]:
            self._known["pairs"].remove(mark)
            return True
        return False

    def _follows(self, role: str, source: str, stamp: str | None) -> bool:
        """Whether the line before was kept from the other source, in the same second."""
        return bool(stamp) and self._after == [role, source, (stamp or "")[:19]]

    def _turn(
        self, role: str, text: str, item: dict[str, Any], stamp: str | None, position: int
    ) -> Turn | None:
        """The turn, or None while the model that reviews by itself is at work."""
        known = self._known
        if known["model"] == REVIEW_MODEL:
            return None
        meta = dict(known["meta"])
        phase = text_or_none(item.get("phase"))
        if phase:
            meta["phase"] = phase
        if stamp is None and known["time"]:
            known["turns"] += 1
            stamp = later_stamp(known["time"], known["turns"])
            meta["approximate_time"] = True
        return Turn(
            role,
            text,
            position,
            message_id=text_or_none(item.get("id")),
            timestamp=stamp,
            session=known["session"],
            cwd=known["cwd"],
            meta=meta,
        )

    def _note_environment(self, text: str) -> None:
        """Era 2 names the folder only in the first environment context, as a tag or as a sentence."""
        if self._known["cwd"]:
            return
        start = text.find("<cwd>")
        if start >= 0:
            self._known["cwd"] = text_or_none(text[start + 5 :].split("</cwd>", 1)[0])
        elif "Current working directory: " in text:
            self._known["cwd"] = text_or_none(text.split("Current working directory: ", 1)[1].split("\n", 1)[0])


SKIMMED = (
    (b'"type":"response_item","payload":{"type":"', CODEX_ITEMS),
    (b'"type":"event_msg","payload":{"type":"', CODEX_EVENTS),
)
