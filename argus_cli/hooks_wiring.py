"""Which hook runs at which event, and how its entries stand among a person's own. Pure.

Claude Code's settings.json and Codex's hooks.json have the same shape:
`{"hooks": {event: [{"matcher"?, "hooks": [{"type": "command", "command", "timeout"}]}]}}`.
"""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from argus_cli.hooks_json import (
    add_element,
    add_member,
    drop_member,
    find_member,
    replace_value,
    root,
    style_of,
)
from argus_memory.errors import UsageError

Target = Literal["claude-code", "codex"]
TARGETS: tuple[Target, ...] = ("claude-code", "codex")
HOOK_FILES = ("capture_hook.py", "recall_hook.py")

# Seconds. SessionEnd's also raises Claude Code's shared budget of 1.5 s for that event; prompts have 30 s at most.
CAPTURE_EVENTS = {
    "SessionStart": 20,
    "UserPromptSubmit": 10,
    "Stop": 20,
    "SubagentStop": 20,
    "StopFailure": 20,
    "PreCompact": 20,
    "PostCompact": 20,
    "SessionEnd": 5,
}
RECALL_EVENTS = {"SessionStart": 10, "UserPromptSubmit": 10}
CODEX_LACKS = ("StopFailure",)
# Of hooks over HTTP: names of variables of the session, never their values, stand in the settings.
SECRET_NAME = "ARGUS_CAPTURE_TOKEN"  # noqa: S105 - a variable's name
OWN_NAME = "ARGUS_SESSION"
OWN_HEADER = "X-Argus-Own-Session"
NO_HTTP = ("SessionStart",)  # Claude Code takes only commands there


@dataclass(frozen=True, slots=True)
class Wire:
    """One entry: at `event` this command runs, or this address is called, for at most `timeout` seconds."""

    event: str
    hook: str
    command: str
    timeout: int
    url: str = ""

    @property
    def calls(self) -> str:
        return self.url or self.command

    def group(self) -> dict[str, Any]:
        if not self.url:
            return {"hooks": [{"type": "command", "command": self.command, "timeout": self.timeout}]}
        return {
            "hooks": [{
                "type": "http",
                "url": self.url,
                "headers": {"Authorization": f"Bearer ${SECRET_NAME}", OWN_HEADER: f"${OWN_NAME}"},
                "allowedEnvVars": [SECRET_NAME, OWN_NAME],
                "timeout": self.timeout,
            }]
        }  # fmt: skip


def hook_words(python: Path, folder: Path, hook: str, target: Target, home: Path | None) -> list[str]:
    """The command as words: an interpreter without site packages and user settings starts in milliseconds."""
    words = [str(python), "-I", "-S", str(folder / f"{hook}.py"), "--target", target]
    return words if home is None else [*words, "--home", str(home)]


def wanted(target: Target, python: Path, folder: Path, home: Path | None) -> list[Wire]:
    """Every entry that should stand in the file; `home` only where it is not the usual one."""
    return [
        Wire(event, hook, shlex.join(hook_words(python, folder, hook, target, home)), timeout)
        for hook, events in (("capture_hook", CAPTURE_EVENTS), ("recall_hook", RECALL_EVENTS))
        for event, timeout in events.items()
        if not (target == "codex" and event in CODEX_LACKS)
    ]


def wanted_http(target: Target, python: Path, folder: Path, home: Path | None, api: str) -> list[Wire]:
    """The same over HTTP where the host allows it: one call at an event does the work of both hooks."""
    commands = [wire for wire in wanted(target, python, folder, home) if wire.event in NO_HTTP]
    return commands + [
        Wire(event, "http", "", seconds, f"{api}/hooks/{event}")
        for event, seconds in CAPTURE_EVENTS.items()
        if event not in NO_HTTP
    ]


def is_http(entry: dict[str, Any]) -> bool:
    """Whether a handler is one of ours that is called over HTTP, wherever the API listens."""
    headers = entry.get("headers")
    return entry.get("type") == "http" and isinstance(headers, dict) and OWN_HEADER in headers


def is_ours(entry: Any) -> bool:
    """Whether a handler is one of Argus' hooks, of whatever version, folder, interpreter or address."""
    if not isinstance(entry, dict):
        return False
    if is_http(entry):
        return True
    words = [entry.get("command"), *_list(entry.get("args"))]
    text = " ".join(word for word in words if isinstance(word, str))
    return any(f"/bin/{file}" in text for file in HOOK_FILES)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def parse_document(text: str, name: str) -> dict[str, Any]:
    """The document as an object; raises UsageError in one sentence for anything that cannot be merged into."""
    if not text.strip():
        return {}
    try:
        document = json.loads(text)
    except ValueError as error:
        raise UsageError(f"{name} is not valid JSON ({error}); correct it, then run this again") from None
    if not isinstance(document, dict):
        raise UsageError(f"{name} does not hold a JSON object; correct it, then run this again")
    hooks = document.get("hooks", {})
    if not isinstance(hooks, dict) or any(not isinstance(groups, list) for groups in hooks.values()):
        raise UsageError(f'"hooks" in {name} is not an object of lists; correct it, then run this again')
    return document


def ours_in(document: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """(event, handler) of every entry of ours."""
    return [
        (event, entry)
        for event, groups in document.get("hooks", {}).items()
        for group in groups
        if isinstance(group, dict)
        for entry in _list(group.get("hooks"))
        if is_ours(entry)
    ]


def stands(document: dict[str, Any], wires: list[Wire]) -> bool:
    """Whether exactly these entries of ours are there, each once, under any matcher that matches all."""
    there = sorted(
        (event, str(entry.get("url") or entry.get("command")), entry.get("timeout"))
        for event, entry in ours_in(document)
    )
    return there == sorted((wire.event, wire.calls, wire.timeout) for wire in wires)


def wire(text: str, wires: list[Wire], name: str) -> str:
    """The document with these entries; text that already has exactly them comes back unchanged."""
    document = parse_document(text, name)
    if stands(document, wires):
        return text
    text = unwire(text, name) if ours_in(document) else text
    if not text.strip():
        text = "{}\n"
    style = style_of(text)
    if find_member(text, root(text), "hooks") is None:
        text = add_member(text, root(text), 1, "hooks", {}, style)
    for entry in wires:
        hooks = find_member(text, root(text), "hooks")
        assert hooks is not None
        event = find_member(text, hooks.value, entry.event)
        if event is None:
            text = add_member(text, hooks.value, 2, entry.event, [entry.group()], style)
        else:
            text = add_element(text, event.value, 3, entry.group(), style)
    return text


def unwire(text: str, name: str) -> str:
    """The document without our entries, and without what they alone had called for."""
    document = parse_document(text, name)
    style = style_of(text)
    for event in dict.fromkeys(event for event, _ in ours_in(document)):
        hooks = find_member(text, root(text), "hooks")
        assert hooks is not None
        member = find_member(text, hooks.value, event)
        assert member is not None
        left = [group for group in map(_without_ours, document["hooks"][event]) if group is not None]
        text = replace_value(text, member, 2, left, style) if left else drop_member(text, hooks.value, event)
        if not left and find_member(text, root(text), "hooks") and json.loads(text)["hooks"] == {}:
            text = drop_member(text, root(text), "hooks")
    return text


def _without_ours(group: Any) -> Any:
    if not isinstance(group, dict) or not isinstance(group.get("hooks"), list):
        return group
    left = [entry for entry in group["hooks"] if not is_ours(entry)]
    if len(left) == len(group["hooks"]):
        return group
    return {**group, "hooks": left} if left else None
