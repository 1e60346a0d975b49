"""What a Codex line is, what a person typed in it, and when. Pure; Python 3.8; carried by the hook.

As everywhere, marks count only at the start of a text.
"""

from __future__ import annotations

from argus_memory.transcripts.common import (
    BOOKKEEPING,
    COMPACTION,
    EMPTY,
    IMAGE,
    INJECTED,
    INTERNAL,
    MALFORMED,
    PATH_MAX,
    STAMP_MAX,
    SUBAGENT,
    THINKING,
    TITLE,
    TOOL,
    UNKNOWN_TYPE,
    clean_text,
    drop_placeholders,
    strip_credentials,
    text_or_none,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def reasons_by_name(groups: dict[str, str]) -> dict[str, str]:
    return {name: reason for reason, names in groups.items() for name in names.split()}


CODEX_ITEMS = reasons_by_name({  # response items without visible words
    THINKING: "reasoning",
    TOOL: "function_call function_call_output custom_tool_call custom_tool_call_output local_shell_call "
    "local_shell_call_output web_search_call image_generation_call tool_search_call tool_search_output "
    "mcp_tool_call",
    COMPACTION: "compaction compaction_summary",
    BOOKKEEPING: "ghost_snapshot",
})  # fmt: skip
CODEX_EVENTS = reasons_by_name({  # events without visible words; task_complete has a third copy of an answer
    THINKING: "agent_reasoning agent_reasoning_raw_content agent_reasoning_section_break",
    TOOL: "exec_command_begin exec_command_end patch_apply_begin patch_apply_end mcp_tool_call_begin "
    "mcp_tool_call_end web_search_begin web_search_end image_generation_end view_image_tool_call",
    COMPACTION: "context_compacted",
    TITLE: "thread_name_updated",
    BOOKKEEPING: "token_count task_started task_complete turn_started turn_complete turn_aborted "
    "thread_rolled_back entered_review_mode exited_review_mode",
})  # fmt: skip
CODEX_TYPES = reasons_by_name({
    COMPACTION: "compacted",
    BOOKKEEPING: "turn_context world_state inter_agent_communication token_usage_record record_type",
})  # fmt: skip
WORD_EVENTS = ("user_message", "agent_message", "item_completed")
TURN_ITEMS = {"UserMessage": "user_message", "AgentMessage": "agent_message"}
TEXT_BLOCKS = ("input_text", "output_text", "text", "Text")
REVIEW_MODEL = "codex-auto-review"
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
# Headings that editor and app put before the typed words, which follow under REQUEST_HEADING.
PREAMBLE_STARTS = (
    "# Context from my IDE setup:",
    "# In app browser:",
    "# Diff comments:",
    "# Files mentioned by the user:",
)
REQUEST_HEADING = "## My request for Codex:"
CAPTION_START = "The next image "  # the app's captions of its own screenshots
IMAGE_MARKS = ("<image>", "<image ", "</image>")


def typed_in_codex(raw: str) -> tuple[str, str]:
    """(words, reason): what the person typed in a user text, or why there is nothing."""
    text = clean_text(raw)
    if text.startswith(PREAMBLE_STARTS):
        preamble, found, request = text.partition("\n" + REQUEST_HEADING)
        if not found:
            return "", INJECTED
        request = request.strip()
        text = review_comments(preamble) if not request or request.startswith(CAPTION_START) else request
    if text.startswith(INJECTED_STARTS):
        return "", INJECTED
    if text.startswith("Automation: ") and text.partition("\n")[2].startswith("Automation ID:"):
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


def texts_of_item(content: Any) -> tuple[list[str], str]:
    """The texts of an item's content (text or blocks), and what the item counts as when it has none."""
    if isinstance(content, str):
        return [content], EMPTY
    if not isinstance(content, list):
        return [], MALFORMED
    texts, other = [], EMPTY
    for block in content:
        kind = block.get("type") if isinstance(block, dict) else None
        text = (block.get("text") or block.get("output_text")) if kind in TEXT_BLOCKS else None
        if isinstance(text, str):
            if len(text) > 300 or not text.startswith(IMAGE_MARKS):
                texts.append(text)
        elif kind in ("input_image", "image", "local_image"):
            other = IMAGE
        elif kind not in TEXT_BLOCKS and other == EMPTY:
            other = MALFORMED
    return texts, other


def words_of_event(event: dict[str, Any]) -> tuple[str, str, str]:
    """(role, words, reason) of an event: what was said by whom, or why there is nothing."""
    kind, message = event.get("type"), event.get("message")
    item = event.get("item")
    if kind == "item_completed" and isinstance(item, dict):  # paginated history
        kind = TURN_ITEMS.get(str(item.get("type")))
        if kind is None:
            return "", "", BOOKKEEPING
        message = "\n\n".join(texts_of_item(item.get("content"))[0])
    if kind not in WORD_EVENTS:
        return "", "", CODEX_EVENTS.get(kind, UNKNOWN_TYPE) if isinstance(kind, str) else UNKNOWN_TYPE
    if not isinstance(message, str):
        return "", "", MALFORMED
    if kind == "agent_message":
        text = clean_text(message)
        return "assistant", text, "" if text else EMPTY
    if event.get("kind") not in (None, "plain"):
        return "user", "", INJECTED
    text, reason = typed_in_codex(message)
    pictures = event.get("images") or event.get("local_images")
    return "user", text, IMAGE if reason == EMPTY and pictures else reason


def kind_of_bare(record: dict[str, Any]) -> Any:
    """What a line without a payload would be in the envelope of later eras."""
    kind = record.get("type")
    if "record_type" in record:
        return "record_type"
    if kind is None and "role" not in record and "id" in record:
        return "session_meta"
    if not isinstance(kind, str):
        return None
    if kind == "message" or kind in CODEX_ITEMS:
        return "response_item"
    return "event_msg" if kind in WORD_EVENTS or kind in CODEX_EVENTS else kind


def codex_whole_file(header: dict[str, Any]) -> str | None:
    """Why a rollout holds no person's conversation at all, by its session header."""
    source = header.get("source")
    kind = source if isinstance(source, str) else ""
    if isinstance(source, dict):
        kind = "subagent" if "subagent" in source else "internal" if "internal" in source else ""
    if kind.startswith("subagent") or header.get("thread_source") == "subagent":
        return SUBAGENT
    return INTERNAL if kind == "internal" or header.get("model") == REVIEW_MODEL else None


def codex_header(header: dict[str, Any]) -> dict[str, Any]:
    """What a session header says of all its turns: session, folder, start, and `meta` for each turn."""
    git = header.get("git")
    git = git if isinstance(git, dict) else {}
    remote = text_or_none(git.get("repository_url"), PATH_MAX)
    meta = {
        "version": text_or_none(header.get("cli_version")),
        "branch": text_or_none(git.get("branch")),
        "remote": strip_credentials(remote) if remote else None,
    }
    return {
        "session": text_or_none(header.get("id")),
        "cwd": text_or_none(header.get("cwd"), PATH_MAX),
        "time": text_or_none(header.get("timestamp"), STAMP_MAX),
        "meta": {key: value for key, value in meta.items() if value},
    }


def folder_of_context(text: str) -> str | None:
    """The working folder an environment context names: a tag, in the oldest files a sentence."""
    start = text.find("<cwd>")
    if start >= 0:
        return text_or_none(text[start + 5 :].split("</cwd>", 1)[0], PATH_MAX)
    after = text.partition("Current working directory: ")[2]
    return text_or_none(after.split("\n", 1)[0], PATH_MAX)


def stamp_ms(stamp: str | None) -> tuple[str, int] | None:
    """(day, millisecond of that day) of an ISO time; None for anything else. datetime is slow to load."""
    text = stamp or ""
    try:
        hours, minutes, seconds = int(text[11:13]), int(text[14:16]), int(text[17:19])
    except ValueError:
        return None
    digits = text[20:23] if text[19:20] == "." else ""
    fraction = int(digits.ljust(3, "0")) if digits.isdigit() else 0
    return text[:10], ((hours * 60 + minutes) * 60 + seconds) * 1000 + fraction


def later_stamp(stamp: str, milliseconds: int) -> str:
    """The time moved on within its day: era 2 has no times, its turns follow the session's start in order."""
    parsed = stamp_ms(stamp)
    if parsed is None:
        return stamp
    seconds, fraction = divmod(min(parsed[1] + milliseconds, 86399999), 1000)
    clock = "%02d:%02d:%02d.%03d" % (seconds // 3600, seconds // 60 % 60, seconds % 60, fraction)
    return parsed[0] + "T" + clock + stamp[19:].lstrip(".0123456789")
