"""The capture hook: whatever the event, read on where the session's transcript was left, and send it.

Always exit code 0 and nothing on stdout. What does not fit the event's time goes on in a process of its own.
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
    utc_stamp,
    working_folder,
)
from argus_api.hooks.parts.catchup import Capture, capture_file, is_at_rest, new_parser
from argus_api.hooks.parts.event import own_session, read_event
from argus_api.hooks.parts.find import find_claude, find_codex, is_file, recent_transcripts, session_key
from argus_api.hooks.parts.offsets import checksum, forget_old_offsets, is_own, load_offset, mark_own
from argus_api.hooks.parts.spool import SPOOL_PATIENCE_S, spool_add, spool_settle

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple

    from argus_api.hooks.parts.base import Config

EVENT_S = 1.3  # an event may take this long in the foreground; what is longer is detached
EVENT_SECONDS = {"SessionEnd": 0.6}
SWEEP_S = 1.0
DETACHED_S = 60.0
LAG_DETACHED_S = 5.0
ENDS = ("SessionEnd",)
SWEEPS = ("SessionStart", "")  # no event name: nothing came on stdin, so nothing else is known


def main() -> None:
    """Entry point of the process."""
    try:
        run_capture(tuple(sys.argv[1:]), dict(os.environ))
    except Exception as error:  # a hook that fails shows an error in the session: it must not, whatever happens
        try:
            log_event(load_config(os.environ), "capture failed: %s: %s" % (type(error).__name__, error))
        finally:
            os._exit(0)
    os._exit(0)  # nothing is left to tear down; saves what the interpreter would spend on it


def run_capture(argv: Tuple[str, ...], environment: Dict[str, str]) -> None:
    started = time.monotonic()
    home = option_of(argv, "--home")
    if home and not environment.get("ARGUS_HOME"):
        environment["ARGUS_HOME"] = home
    config = load_config(environment)
    notify = notify_event(argv)
    event, problem = (notify, "") if notify is not None else read_event()[:2]
    session = text_of(event, "session_id") or environment.get("CLAUDE_CODE_SESSION_ID", "")
    if own_session(environment, OWN_SESSION):
        return mark_own(config, session)
    if problem:
        log_event(config, "capture: %s" % problem)
    target = option_of(argv, "--target") or guess_target(event)
    cwd = text_of(event, "cwd") or working_folder()
    rest = capture_event(config, environment, event, notify, target, session, cwd, started)
    if rest is not None:
        detach(rest)
    return None


def capture_event(
    config: Config,
    environment: Dict[str, str],
    event: Dict[str, Any],
    notify: Optional[Dict[str, Any]],
    target: str,
    session: str,
    cwd: str,
    started: float,
) -> Optional[Callable[[], None]]:
    """Send what is new; what did not fit the event's time is returned, to be called apart from it. The same for a
    hook that is called over HTTP."""
    name = text_of(event, "hook_event_name")
    capture = Capture(config, environment, event, target, started + EVENT_SECONDS.get(name, EVENT_S))
    if not capture.is_excluded(cwd):
        capture.hook = capture.heartbeat(name, session, cwd)
    files = transcripts_of(capture, session)
    read_transcripts(capture, files, name, session, cwd)
    if not files and not capture.is_excluded(cwd):
        keep_words(capture, notify, name, session, cwd)
    if capture.hook is not None and capture.held is None:
        capture.send([], True)
    if capture.held is None:
        settle_spool(capture, name, session)
        if name in SWEEPS:
            sweep(capture, {key for key, _ in files}, started)
    report(capture, name, session, started)
    if capture.unfinished or capture.lagging:
        return lambda: go_on(capture, files, name, session, cwd)
    return None


def notify_event(argv: Tuple[str, ...]) -> Optional[Dict[str, Any]]:
    """Codex's `notify` gives its event as the last argument; None where there is none. Its fields get the names the
    hooks use."""
    if not argv or not argv[-1].startswith("{"):
        return None
    try:
        given = json.loads(argv[-1])
    except (ValueError, RecursionError):
        return {"hook_event_name": "Notify"}
    event: Dict[str, Any] = dict(given)
    event.update(hook_event_name="Notify", session_id=given.get("thread-id"), turn_id=given.get("turn-id"))
    return event


def guess_target(event: Mapping[str, Any]) -> str:
    """Which program sent the event, where the command line does not say."""
    path = text_of(event, "transcript_path")
    codex = "turn_id" in event or os.path.basename(path).startswith("rollout-") or "/.codex/" in path
    return "codex" if codex else "claude-code"


def transcripts_of(capture: Capture, session: str) -> List[Tuple[str, str]]:
    """(offset key, path) of what to read. The path given may not exist, may have moved, or may be another
    session's: then the session's own file is looked for, and both are read."""
    given = os.path.expanduser(text_of(capture.event, "transcript_path"))
    known = load_offset(capture.config, session).get("path") if session else None
    files: List[Tuple[str, str]] = []
    if is_file(given):
        files.append((session_key(given, session), given))
    elif isinstance(known, str) and is_file(known):
        files.append((session_key(known, session), known))
    if not any(key == session for key, _ in files):
        found = (
            find_codex(capture.environment, session)
            if capture.target == "codex"
            else find_claude(capture.environment, session, given)
        )
        if found and all(path != found for _, path in files):
            files.append((session_key(found, session), found))
    return files


def read_transcripts(capture: Capture, files: List[Tuple[str, str]], name: str, session: str, cwd: str) -> None:
    words = "" if name != "Stop" or capture.is_excluded(cwd) else text_of(capture.event, "last_assistant_message")
    for index, (key, path) in enumerate(files):
        last = index == len(files) - 1
        capture_file(
            capture, key, path, capture.target, cwd, words if last else "", name in ENDS, last,
            wait_s=max(0.0, min(1.0, capture.left() - 0.2)),
        )
        if capture.held is not None:
            return


def keep_words(capture: Capture, notify: Optional[Dict[str, Any]], name: str, session: str, cwd: str) -> None:
    """Words of an event whose transcript is nowhere: it may be late (the first prompt of a session), or there is
    none. Only what can be told apart later is ever sent: see spool.py."""
    if capture.environment.get("CLAUDE_CODE_SKIP_PROMPT_HISTORY"):
        return  # the person wants no record
    said: List[Tuple[str, str]] = []
    if notify is not None:
        prompts = notify.get("input-messages")
        said = [("user", text) for text in prompts if isinstance(text, str)] if isinstance(prompts, list) else []
        said.append(("assistant", text_of(notify, "last-assistant-message")))
    elif name == "UserPromptSubmit":
        said = [("user", text_of(capture.event, "prompt"))]
    elif name == "Stop":
        said = [("assistant", text_of(capture.event, "last_assistant_message"))]
    items = [item for role, text in said if text for item in words_to_items(capture, role, text, session, cwd)]
    if items:
        spool_add(capture.config, session, items, 0.0 if notify is not None else time.time() + SPOOL_PATIENCE_S)


def words_to_items(capture: Capture, role: str, text: str, session: str, cwd: str) -> List[Dict[str, Any]]:
    """The words as the transcript would have had them: one made-up record, read by the same parser."""
    mark = text_of(capture.event, "turn_id") or text_of(capture.event, "prompt_id") or "%x" % int(time.time())
    record = {
        "type": role, "sessionId": session, "cwd": cwd, "timestamp": utc_stamp(time.time()),
        "uuid": "hook:%s:%s:%s:%08x" % (session, mark, role, checksum(text.encode("utf-8", "replace"))),
        "message": {"role": role, "content": [{"type": "text", "text": text}]},
    }
    turns = new_parser("claude-code", None, 0).feed(json.dumps(record).encode("ascii") + b"\n")
    for turn in turns:
        turn.meta["from"] = "hook-event"
    return [capture.item(turn, capture.target, session) for turn in turns]


def settle_spool(capture: Capture, name: str, session: str) -> None:
    def has_transcript(of: str) -> bool:
        return bool(find_claude(capture.environment, of, "") or find_codex(capture.environment, of))

    spool_settle(
        capture.config, session, name in ENDS, time.time(), has_transcript, lambda items: capture.send(items, False)
    )


def sweep(capture: Capture, done: Any, started: float) -> None:
    """Other sessions' unread tails, newest first, for at most SWEEP_S."""
    until = min(time.monotonic() + SWEEP_S, started + EVENT_S + 0.3)
    unfinished, capture.deadline = capture.unfinished, until
    for target, path in recent_transcripts(capture.environment, time.time(), until):
        if time.monotonic() >= until or capture.held is not None:
            break
        key = session_key(path, "")
        if key not in done and not is_own(capture.config, key) and has_unread(capture, key, path):
            capture_file(capture, key, path, target, at_rest=is_at_rest(path, time.time()))
    else:
        forget_old_offsets(capture.config, time.time())
    capture.unfinished = unfinished  # what the sweep left is taken up by the next one


def has_unread(capture: Capture, key: str, path: str) -> bool:
    """Whether the file goes on behind its offset, without opening it."""
    saved = load_offset(capture.config, key)
    try:
        return os.stat(path).st_size not in (saved.get("offset"), saved.get("rest"))
    except OSError:
        return False


def report(capture: Capture, name: str, session: str, started: float) -> None:
    total = capture.total
    words = "%d new, %d known, %d not kept, %d rejected" % (
        total.new, total.duplicates, total.skipped, len(total.rejected),
    )
    if capture.excluded_turns:
        words += ", %d excluded" % capture.excluded_turns
    if capture.held is not None:
        words += "; " + capture.held.reason()
    leave_heartbeat(capture.config, "capture", capture.target, name, session, words)
    took = int((time.monotonic() - started) * 1000)
    log_event(capture.config, "capture %s %s: %s; %d ms" % (name or "(no event)", session or "-", words, took))


def detach(work: Any) -> bool:
    """Run `work` in a process of its own session that outlives this one and holds none of its pipes."""
    if not hasattr(os, "fork"):
        return False
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return True
    try:
        os.setsid()
        if os.fork():
            os._exit(0)
        null = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null, fd)
        work()
    finally:
        os._exit(0)


def go_on(capture: Capture, files: List[Tuple[str, str]], name: str, session: str, cwd: str) -> None:
    """The detached part: wait for a transcript that lags, or send what did not fit the event's time."""
    started = time.monotonic()
    capture.deadline = started + DETACHED_S
    if capture.lagging and not capture.unfinished and files:
        key, path = files[-1]
        while time.monotonic() < started + LAG_DETACHED_S:
            if os.stat(path).st_size != load_offset(capture.config, key).get("offset"):
                break
            time.sleep(0.05)
        else:
            return
    capture.held, capture.detached = None, True
    capture.unfinished = capture.lagging = False
    read_transcripts(capture, files, name, session, cwd)
    if capture.hook is not None and capture.held is None:
        capture.send([], True)
    report(capture, name + " (detached)", session, started)
