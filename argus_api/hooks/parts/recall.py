"""The recall hook: at SessionStart the project's context, at a prompt what is on record about it.

Prints one JSON object, or nothing. Whatever fails, the session goes on as if Argus were not there.
"""

from __future__ import annotations

import json
import os
import sys
import time

from argus_api.hooks.parts.base import (
    OWN_SESSION,
    leave_heartbeat,
    load_config,
    log_event,
    option_of,
    text_of,
    working_folder,
)
from argus_api.hooks.parts.event import own_session, read_event
from argus_api.hooks.parts.missed import missed_line
from argus_api.hooks.parts.offsets import OnceAtATime
from argus_api.hooks.parts.wire import ask, quoted
from argus_memory.transcripts.exclude import excluded
from argus_memory.transcripts.repo import resolve_repo

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Tuple

    from argus_api.hooks.parts.base import Config
    from argus_api.hooks.parts.wire import Answer

CONTEXT_MAX = 8000  # characters as the host counts them (UTF-16); above 10,000 Claude Code cuts without a word
PROMPT_MAX = 32 * 1024  # characters of a prompt that are looked up
RECALL_CONNECT_S = 0.3
RECALL_S = 5.0


def main() -> None:
    """Entry point of the process."""
    try:
        run_recall(tuple(sys.argv[1:]), dict(os.environ))
    except Exception as error:  # a failing recall must not show in the session
        try:
            log_event(load_config(os.environ), "recall failed: %s: %s" % (type(error).__name__, error))
        finally:
            os._exit(0)
    os._exit(0)


def run_recall(argv: Tuple[str, ...], environment: Dict[str, str]) -> None:
    started = time.monotonic()
    home = option_of(argv, "--home")
    if home and not environment.get("ARGUS_HOME"):
        environment["ARGUS_HOME"] = home
    config = load_config(environment)
    event, problem, raw = read_event()  # also for a session that is passed over: its pipe must not break
    if own_session(environment, OWN_SESSION):
        return
    if problem:
        return log_event(config, "recall: %s" % problem)
    target = option_of(argv, "--target") or ("codex" if "turn_id" in event else "claude-code")
    session = text_of(event, "session_id") or environment.get("CLAUDE_CODE_SESSION_ID", "")
    with OnceAtATime(config, raw) as first:
        if first:  # else wired twice (plugin and settings): the same event is being answered right now
            output = recall_event(config, event, target, session, text_of(event, "cwd") or working_folder(), started)
            if output:
                say(output)


def recall_event(
    config: Config, event: Dict[str, Any], target: str, session: str, cwd: str, started: float
) -> Dict[str, Any]:
    """What the host is to be told at this event, {} for nothing; the same for a hook that is called over HTTP."""
    name = text_of(event, "hook_event_name")
    if name not in ("SessionStart", "UserPromptSubmit"):
        return {}
    line = missed_line(config, time.time()) if name == "SessionStart" else ""
    answer = None
    if not (cwd and excluded(cwd, config.exclude)):
        answer = ask_context(config, event, session, cwd) if name == "SessionStart" else ask_notes(
            config, event, session, cwd
        )
    text = answer.object().get("text") if answer is not None and answer.ok else ""
    context = fitted(text if isinstance(text, str) else "", line)
    words = "excluded" if answer is None else "%d characters" % len(context) if answer.ok else answer.reason()
    leave_heartbeat(config, "recall", target, name, session, words)
    took = int((time.monotonic() - started) * 1000)
    log_event(config, "recall %s %s: %s; %d ms" % (name, session or "-", words, took))
    return told(name, context, line) if context else {}


def ask_context(config: Config, event: Dict[str, Any], session: str, cwd: str) -> Answer:
    fields = [("cwd", cwd), ("session", session), ("source", text_of(event, "source"))]
    repo = resolve_repo(cwd) if cwd else None
    if repo:
        fields.append(("repo", json.dumps(repo)))
    query = "&".join("%s=%s" % (key, quoted(value)) for key, value in fields if value)
    return ask(config, "GET", "/recall/context?" + query, b"", RECALL_CONNECT_S, RECALL_S)


def ask_notes(config: Config, event: Dict[str, Any], session: str, cwd: str) -> Answer:
    body: Dict[str, Any] = {"prompt": text_of(event, "prompt")[:PROMPT_MAX], "session": session, "cwd": cwd}
    repo = resolve_repo(cwd) if cwd else None
    if repo:
        body["repo"] = repo
    try:
        if config.floor:
            body["floor"] = float(config.floor)
    except ValueError:
        log_event(config, "ARGUS_RECALL_FLOOR is not a number and was passed over")
    data = json.dumps({key: value for key, value in body.items() if value != ""})
    return ask(config, "POST", "/recall/notes", data.encode("ascii"), RECALL_CONNECT_S, RECALL_S)


def length16(text: str) -> int:
    """Characters as JavaScript counts them."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def fitted(text: str, line: str) -> str:
    """The recalled text with the line about what was missed, within CONTEXT_MAX. Whole lines are left out from the
    end, but never the last one: it closes the fence by which capture knows the text as Argus' own."""
    room = CONTEXT_MAX - (length16(line) + 1 if line else 0)
    text = text.strip("\n")
    if length16(text) > room:
        lines = text.split("\n")
        last = lines.pop() if len(lines) > 1 else ""
        room -= length16(last) + 1
        kept = []
        for each in lines:
            room -= length16(each) + 1
            if room < 0:
                break
            kept.append(each)
        text = "\n".join([*kept, last]) if kept and last else ""
    return "\n".join(part for part in (line, text) if part)


def told(name: str, context: str, line: str) -> Dict[str, Any]:
    output: Dict[str, Any] = {"hookSpecificOutput": {"hookEventName": name, "additionalContext": context}}
    if line:
        output["systemMessage"] = line  # the context is read by the model only, this by the person
    return output


def say(output: Dict[str, Any]) -> None:
    """The one object on stdout, written through before the process ends; ASCII, so that no locale can break it."""
    view = memoryview(json.dumps(output).encode("ascii") + b"\n")
    try:
        while view:
            view = view[os.write(1, view):]
    except OSError:
        return
